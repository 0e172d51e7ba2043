package assemble

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"decodegap/roofline/model"
)

// TestMisreadFileIsWarnedOf changes where a file's experts sit, so that its
// total is far from what was published under its name.
func TestMisreadFileIsWarnedOf(t *testing.T) {
	e, ok := model.Entry("llama-4-scout")
	if !ok {
		t.Fatal("no catalogue entry llama-4-scout")
	}
	const step = `"interleave_moe_layer_step": 1`
	if !bytes.Contains(e.Config, []byte(step)) {
		t.Fatalf("the entry has no %s to change", step)
	}
	half := bytes.Replace(e.Config, []byte(step), []byte(`"interleave_moe_layer_step": 2`), 1)
	for _, c := range []struct {
		name, file string
		config     []byte
		want       bool
	}{
		{"as published", "llama-4-scout.json", e.Config, false},
		{"misread", "llama-4-scout.json", half, true},
		{"misread in its folder", "Llama-4-Scout-17B-16E-Instruct/config.json", half, true},
		{"under a name of its own", "half.json", half, false},
	} {
		path := filepath.Join(t.TempDir(), filepath.FromSlash(c.file))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, c.config, 0o644); err != nil {
			t.Fatal(err)
		}
		l, err := model.Load(path, "", model.Options{})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		var text string
		for _, w := range ModelWarnings(l, model.Options{}) {
			if w.Code == "params-differ" {
				text = w.Text
			}
		}
		if (text != "") != c.want {
			t.Errorf("%s: warning %q, want one: %v", c.name, text, c.want)
		}
		if c.want && !strings.Contains(text, "published 109.00 B") {
			t.Errorf("%s: the warning %q does not name the published total", c.name, text)
		}
	}
}
