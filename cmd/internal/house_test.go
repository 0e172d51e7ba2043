package internal

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// TestHouseRules: no init functions, which would hide what is listed; no
// os.Exit but in main packages, so that errors keep their exit code; no file
// named after nothing in particular; none too long to read in one go.
func TestHouseRules(t *testing.T) {
	for _, s := range sources(t) {
		name := s.Path[strings.LastIndexByte(s.Path, '/')+1:]
		if slices.Contains([]string{"utils.go", "util.go", "types.go", "helpers.go", "common.go", "misc.go"}, name) {
			t.Errorf("%s: name the file after its concept", s.Path)
		}
		if lines := s.Fset.File(s.File.FileStart).LineCount(); lines > 450 {
			t.Errorf("%s has %d lines: which two concepts does it hold?", s.Path, lines)
		}
		for _, d := range s.File.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && f.Name.Name == "init" {
				t.Errorf("%s: an init function", s.Path)
			}
		}
		if s.Package == "main" {
			continue
		}
		ast.Inspect(s.File, func(n ast.Node) bool {
			if call, ok := n.(*ast.SelectorExpr); ok && call.Sel.Name == "Exit" {
				if pkg, ok := call.X.(*ast.Ident); ok && pkg.Name == "os" {
					t.Errorf("%s:%d: os.Exit outside main", s.Path, s.Fset.Position(call.Pos()).Line)
				}
			}
			return true
		})
	}
}
