package classify

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCorpusNames compares the rules with a table of kernel names that others
// sorted. A few names of it are cut too short, or sorted by a habit that the
// rules do not follow; they are listed with -v.
func TestCorpusNames(t *testing.T) {
	root := os.Getenv("DECODEGAP_CORPUS")
	if root == "" {
		t.Skip("DECODEGAP_CORPUS names no folder: the table of names is not part of this repository")
	}
	data, err := os.ReadFile(filepath.Join(root, "traces", "kernel_names.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	c := New()
	total, wrong := 0, 0
	for _, line := range strings.Split(string(data), "\n")[1:] {
		f := strings.Split(line, "\t")
		if len(f) < 2 {
			continue
		}
		want, _, ok := lookupWord(word(f[1]))
		if !ok {
			t.Errorf("class word %q of the table has no component", f[1])
			continue
		}
		total++
		if n := c.named(f[0]); n.component != want {
			wrong++
			t.Logf("%.110s\n    %s (%s), the table says %s (%s)", f[0], n.word, n.component, f[1], want)
		}
	}
	if wrong*20 > total {
		t.Errorf("%d of %d names differ, want under 5 %%", wrong, total)
	}
}
