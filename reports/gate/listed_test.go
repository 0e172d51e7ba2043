package gate

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestListed holds All to list every Rule variable of the package: a rule that
// is not listed would silently go unjudged.
func TestListed(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var declared, listed []string
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 {
				return true
			}
			lit, ok := spec.Values[0].(*ast.CompositeLit)
			if !ok {
				return true
			}
			if id, ok := lit.Type.(*ast.Ident); ok && id.Name == "Rule" {
				declared = append(declared, spec.Names[0].Name)
			}
			if spec.Names[0].Name == "All" {
				for _, e := range lit.Elts {
					listed = append(listed, e.(*ast.Ident).Name)
				}
			}
			return true
		})
	}
	for _, name := range declared {
		if !slices.Contains(listed, name) {
			t.Errorf("%s is not in All", name)
		}
	}
	if len(declared) != len(All) {
		t.Errorf("%d rules declared, %d listed", len(declared), len(All))
	}
	for _, r := range All {
		if r.Name == "" || r.Doc == "" || r.Judge == nil {
			t.Errorf("rule %q is incomplete", r.Name)
		}
	}
}
