package internal

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// foreign are texts that only make sense on one machine: its folders, its
// package registries. They are put together here so that this file does not
// hold them.
var foreign = []string{
	"/" + "work/", "/" + "farm/", "/" + "root/", "../" + "shared",
	"proxy." + "golang", "registry." + "npmjs", "files." + "pythonhosted", "deb." + "debian",
}

// TestNoMachinePaths: a clone elsewhere has none of these. go.sum and .ci are
// where the go command and the test runner need theirs.
func TestNoMachinePaths(t *testing.T) {
	files := tracked(t)
	if len(files) == 0 {
		t.Fatal("no files: the check sees nothing")
	}
	for _, name := range files {
		if name == "go.sum" || strings.HasPrefix(name, ".ci/") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, name))
		if os.IsNotExist(err) {
			continue // removed, and not yet committed
		} else if err != nil {
			t.Fatal(err)
		}
		if bytes.IndexByte(text, 0) >= 0 {
			continue // a font, a picture, a database
		}
		number := 0
		for line := range bytes.Lines(text) {
			number++
			for _, f := range foreign {
				if bytes.Contains(line, []byte(f)) {
					t.Errorf("%s:%d holds %q", name, number, f)
				}
			}
		}
	}
}

// tracked are the files git knows, or, in a copy without git, all but those
// that .gitignore keeps for builds.
func tracked(t *testing.T) []string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", "ls-files", "-z")
	cmd.Dir = root
	if out, err := cmd.Output(); err == nil && len(out) > 0 {
		return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	}
	var names []string
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		switch rel {
		case ".git", "out", "build", "decodegap":
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if !d.IsDir() && !strings.HasPrefix(rel, "decodegap-") {
			names = append(names, rel)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
