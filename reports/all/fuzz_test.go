package all

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"decodegap/reports"
	"decodegap/reports/pprof"
)

// FuzzRender prints whatever reads as a run record in every format but PDF:
// embedding fonts takes too long to try many, and its words and rows come from
// the same page.
func FuzzRender(f *testing.F) {
	files, err := filepath.Glob(filepath.Join(runsFolder, "*.json"))
	if err != nil || len(files) < 3 {
		f.Fatalf("%d records: %v", len(files), err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		run, err := reports.ReadRunFrom(bytes.NewReader(data), "fuzz")
		if err != nil {
			return
		}
		for _, r := range All {
			if r.Name == "pdf" {
				continue
			}
			if err := r.Render(io.Discard, run); err != nil && !errors.Is(err, pprof.ErrNoTrace) {
				t.Errorf("%s: %v", r.Name, err)
			}
		}
	})
}
