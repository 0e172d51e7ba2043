package kineto

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"decodegap/traces"
)

// TestHelperChangesNothing holds that a file read by two goroutines gives what
// one gives, event by event, also where the middle of a block is damaged.
func TestHelperChangesNothing(t *testing.T) {
	f, err := os.Open(filepath.Join("..", "..", "testdata", "traces", "captured", "qwen3moe_graph_b1.json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	damaged := bytes.Clone(content)
	for at := 100_000; at < len(damaged); at += 37_001 {
		copy(damaged[at:], `"{"`)
	}
	for name, content := range map[string][]byte{"whole": content, "damaged": damaged} {
		alone, none := all(t, content, false)
		both, adopted := all(t, content, true)
		if none != 0 || adopted == 0 {
			t.Errorf("%s: the helper read %d events when off, %d when on", name, none, adopted)
		}
		if d := cmp.Diff(alone, both); d != "" {
			t.Errorf("%s (-alone +both):\n%.2000s", name, d)
		}
	}
}

type outcome struct {
	Events []traces.Event
	Damage []string
	Meta   traces.Meta
}

func all(t *testing.T, content []byte, help bool) (out outcome, helped int64) {
	t.Helper()
	opened, err := open(bytes.NewReader(content), int64(len(content)), "file")
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	r := opened.(*reader)
	if !help {
		r.helper.misses = maxMiss + 1
	}
	for e, err := range r.Events() {
		if err != nil {
			out.Damage = append(out.Damage, err.Error())
			continue
		}
		out.Events = append(out.Events, e)
	}
	out.Meta = r.Meta()
	return out, r.helper.read
}
