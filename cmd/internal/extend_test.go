package internal

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestExtendExamples compiles and tests the files that pages of docs/extend
// show in full: ```go PATH blocks. They are laid over the tree, each descriptor
// value added to its package's list All, as the page tells the reader to.
func TestExtendExamples(t *testing.T) {
	for _, page := range []string{"model.md", "layout.md"} {
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(filepath.Join(root, "docs/extend", page))
			if err != nil {
				t.Fatal(err)
			}
			files := shownFiles(string(text))
			folders := map[string]bool{}
			replace := map[string]string{}
			lay := func(path, content string) {
				laid := filepath.Join(t.TempDir(), filepath.Base(path))
				if err := os.WriteFile(laid, []byte(content), 0o644); err != nil {
					t.Fatal(err)
				}
				at, err := filepath.Abs(filepath.Join(root, path))
				if err != nil {
					t.Fatal(err)
				}
				replace[at] = laid
			}
			var tests []string
			for path, content := range files {
				lay(path, content)
				folders["./"+filepath.ToSlash(filepath.Dir(path))] = true
				if strings.HasSuffix(path, "_test.go") {
					for _, f := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllStringSubmatch(content, -1) {
						tests = append(tests, f[1])
					}
				} else if name := regexp.MustCompile(`(?m)^var (\w+) = [A-Z]`).FindStringSubmatch(content); name != nil {
					list, extended := listWith(t, filepath.Dir(path), name[1])
					lay(list, extended)
				}
			}
			if len(tests) == 0 || len(replace) <= len(files) {
				t.Fatalf("%s shows files %v and tests %v: the check sees nothing, or no value for a list", page, slices.Collect(maps.Keys(files)), tests)
			}
			overlay := filepath.Join(t.TempDir(), "overlay.json")
			data, err := json.Marshal(map[string]any{"Replace": replace})
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(overlay, data, 0o644); err != nil {
				t.Fatal(err)
			}
			for folder := range folders {
				cmd := exec.CommandContext(t.Context(), "go", "test", "-tags", "minimal", "-overlay", overlay, "-v", "-run", "^("+strings.Join(tests, "|")+")$", folder)
				cmd.Dir = root
				out, err := cmd.CombinedOutput()
				if passed := strings.Count(string(out), "--- PASS: "); err != nil || passed < len(tests) {
					t.Errorf("%s with the files of %s: %v, %d of %d tests passed\n%s", folder, page, err, passed, len(tests), out)
				}
			}
		})
	}
}

// shownFiles are the ```go PATH blocks of a page by their path.
func shownFiles(page string) map[string]string {
	files := map[string]string{}
	path := ""
	for line := range strings.Lines(page) {
		switch {
		case path != "" && strings.HasPrefix(line, "```"):
			path = ""
		case path != "":
			files[path] += line
		default:
			if p, ok := strings.CutPrefix(strings.TrimSpace(line), "```go "); ok && strings.HasSuffix(p, ".go") {
				path = p
			}
		}
	}
	return files
}

// listWith is the file of a folder that declares its list All, and its text
// with one more element.
func listWith(t *testing.T, folder, element string) (path, text string) {
	t.Helper()
	declared := regexp.MustCompile(`(?m)^var All = \[\]\w+\{`)
	found, err := filepath.Glob(filepath.Join(root, folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range found {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if at := declared.FindIndex(data); at != nil {
			return filepath.Join(folder, filepath.Base(name)), string(data[:at[1]]) + element + ", " + string(data[at[1]:])
		}
	}
	t.Fatalf("%s declares no list All", folder)
	return "", ""
}
