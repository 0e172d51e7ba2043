package main

import (
	"bytes"
	"flag"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"decodegap/cmd/internal/gendocs"
)

var update = flag.Bool("update", false, "rewrite docs/reference and the scripts' expected output")

const reference = "../../docs/reference"

// TestReferenceDocs compares docs/reference with what the commands say of
// themselves; with -update it rewrites the folder (make docs).
func TestReferenceDocs(t *testing.T) {
	env := &environment{stdin: new(bytes.Buffer), stdout: io.Discard, stderr: io.Discard}
	want, err := gendocs.Files(newRootCommand(env))
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		rewrite(t, want)
	}
	have := map[string]bool{}
	err = filepath.WalkDir(reference, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(reference, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		have[rel] = true
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if made, ok := want[rel]; !ok {
			t.Errorf("docs/reference/%s is about no command: run make docs", rel)
		} else if !bytes.Equal(text, made) {
			t.Errorf("docs/reference/%s is not what the help says now: run make docs", rel)
		}
		return nil
	})
	if err != nil {
		t.Fatalf("%v: run make docs", err)
	}
	for name := range want {
		if !have[name] {
			t.Errorf("docs/reference/%s is missing: run make docs", name)
		}
	}
}

func rewrite(t *testing.T, files map[string][]byte) {
	t.Helper()
	if err := os.RemoveAll(reference); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(reference, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
