package internal

import (
	"bytes"
	"os"
	"testing"
)

// TestArchitectureNamesPackages: the map in docs/architecture.md has a line for
// every package folder.
func TestArchitectureNamesPackages(t *testing.T) {
	page, err := os.ReadFile(root + "/docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	missing := map[string]bool{}
	for _, s := range sources(t) {
		if !bytes.Contains(page, []byte("`"+s.Folder+"`")) {
			missing[s.Folder] = true
		}
	}
	for folder := range missing {
		t.Errorf("docs/architecture.md has no line for `%s`", folder)
	}
}
