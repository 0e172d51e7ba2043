package assemble

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"decodegap/traces/all"
)

// TestFileTwice: the same work does not count twice, whatever names it has.
func TestFileTwice(t *testing.T) {
	first := writeTrace(t, 20, func(i int) (string, int, int, string) { return "k", 0, 7, "1" })
	content, err := os.ReadFile(first)
	if err != nil {
		t.Fatal(err)
	}
	copied, link := filepath.Join(t.TempDir(), "copy.json"), filepath.Join(t.TempDir(), "link.json")
	if err := os.WriteFile(copied, content, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(first, link); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "other.json") // of the same length
	if err := os.WriteFile(other, []byte(strings.Replace(string(content), `"ts":10,`, `"ts":11,`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	doc := documentOf(t, first, first, copied, link, other)
	if len(doc.Files) != 2 || len(doc.Ranks) != 2 || doc.Kernels[0].Count != 40 {
		t.Errorf("%d files, %d ranks, %d launches; want the first and the last alone", len(doc.Files), len(doc.Ranks), doc.Kernels[0].Count)
	}
	said := 0
	for _, w := range doc.Warnings {
		if w.Code == "same-file" {
			said++
		}
	}
	if said != 3 {
		t.Errorf("warnings %v, want one for each of the 3", doc.Warnings)
	}
}

// TestMissingFileTwice: what cannot be read is an error for each mention.
func TestMissingFileTwice(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none.json")
	run := Trace{Formats: all.All}
	for i, err := range run.ReadAll(t.Context(), []string{none, none}) {
		if err == nil {
			t.Errorf("mention %d: no error", i)
		}
	}
}

// TestZeroDurations: kernels that last no time are counted and said.
func TestZeroDurations(t *testing.T) {
	path := filepath.Join(t.TempDir(), "zero.json")
	text := `{"traceEvents":[{"ph":"X","cat":"kernel","name":"a","pid":0,"tid":7,"ts":10,"dur":5},{"ph":"X","cat":"kernel","name":"a","pid":0,"tid":7,"ts":20,"dur":0}]}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	doc := documentOf(t, path)
	if got := warned(doc, "zero-duration"); !strings.HasPrefix(got, "1 of 2 kernels") || doc.Ranks[0].Kernels != 2 {
		t.Errorf("warned %q of %d kernels", got, doc.Ranks[0].Kernels)
	}
}
