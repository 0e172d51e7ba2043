package internal

import (
	"go/ast"
	"maps"
	"strings"
	"testing"
)

// lists are the kinds of descriptor values: each package-level variable of the
// type, in the folder or (deep) below it, must be an element of the slice All
// in the folder in, so that none is forgotten.
var lists = []struct {
	folder string
	deep   bool
	kind   string
	in     string
}{
	{"roofline/model", false, "Arch", "roofline/model"},
	{"roofline/layout", false, "Engine", "roofline/layout"},
	{"traces/bench", false, "Importer", "traces/bench"},
	{"traces", true, "Format", "traces/all"},
	{"probes/cpu", false, "Probe", "probes/all"},
	{"probes/cuda", false, "Probe", "probes/cuda"},
	{"probes/audit", false, "Check", "probes/audit"},
	{"reports/gate", false, "Rule", "reports/gate"},
	{"reports", true, "Renderer", "reports/all"},
}

func TestListed(t *testing.T) {
	for _, l := range lists {
		t.Run(l.folder, func(t *testing.T) {
			values, listed := map[string]string{}, map[string]bool{}
			for _, s := range sources(t) {
				if s.Test() {
					continue
				}
				if s.Folder == l.folder || l.deep && below(s.Folder, l.folder) {
					for _, v := range variables(s) {
						if v.kind == l.kind {
							values[v.name] = s.Path
						}
					}
				}
				if s.Folder == l.in {
					for _, v := range variables(s) {
						if v.kind == "[]"+l.kind && v.name == s.Package+".All" {
							maps.Copy(listed, elements(s.Package, v.value))
						}
					}
				}
			}
			if len(values) == 0 || len(listed) == 0 {
				t.Fatalf("%d variables of type %s, %d in %s.All: the check sees nothing", len(values), l.kind, len(listed), l.in)
			}
			for name, file := range values {
				if !listed[name] {
					t.Errorf("%s: %s is not in All of %s", file, name, l.in)
				}
			}
		})
	}
}

// variable is a package-level variable: "html.Renderer", of type "Renderer".
type variable struct {
	name, kind string
	value      ast.Expr // nil if it has none
}

func variables(s source) []variable {
	var all []variable
	for _, d := range s.File.Decls {
		gen, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range gen.Specs {
			v, ok := spec.(*ast.ValueSpec)
			if !ok {
				continue
			}
			for i, name := range v.Names {
				var value ast.Expr
				if i < len(v.Values) {
					value = v.Values[i]
				}
				all = append(all, variable{s.Package + "." + name.Name, typeOf(v.Type, value), value})
			}
		}
	}
	return all
}

// typeOf spells a variable's type where it can be read off the declaration:
// "T" for T, pkg.T and pointers to them, "[]T" for slices; else "".
func typeOf(declared, value ast.Expr) string {
	if declared == nil {
		if address, ok := value.(*ast.UnaryExpr); ok {
			value = address.X
		}
		literal, ok := value.(*ast.CompositeLit)
		if !ok {
			return ""
		}
		declared = literal.Type
	}
	switch d := declared.(type) {
	case *ast.Ident:
		return d.Name
	case *ast.SelectorExpr:
		return d.Sel.Name
	case *ast.StarExpr:
		return typeOf(d.X, nil)
	case *ast.ArrayType:
		if name := typeOf(d.Elt, nil); name != "" {
			return "[]" + name
		}
	}
	return ""
}

// elements are the variables a slice literal of a package names: X, &X, p.X.
func elements(pkg string, value ast.Expr) map[string]bool {
	names := map[string]bool{}
	literal, ok := value.(*ast.CompositeLit)
	if !ok {
		return names
	}
	for _, e := range literal.Elts {
		if address, ok := e.(*ast.UnaryExpr); ok {
			e = address.X
		}
		switch e := e.(type) {
		case *ast.Ident:
			names[pkg+"."+e.Name] = true
		case *ast.SelectorExpr:
			if from, ok := e.X.(*ast.Ident); ok {
				names[from.Name+"."+e.Sel.Name] = true
			}
		}
	}
	return names
}

// TestCommandsListed: every newXCommand is handed to somebody, the root's list
// or a command above it.
func TestCommandsListed(t *testing.T) {
	defined, used := map[string]string{}, map[string]bool{}
	for _, s := range sources(t) {
		if s.Folder != "cmd/decodegap" || s.Test() {
			continue
		}
		own := map[*ast.Ident]bool{}
		for _, d := range s.File.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "new") && strings.HasSuffix(f.Name.Name, "Command") {
				defined[f.Name.Name] = s.Path
				own[f.Name] = true
			}
		}
		ast.Inspect(s.File, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && !own[id] {
				used[id.Name] = true
			}
			return true
		})
	}
	if len(defined) == 0 {
		t.Fatal("no newXCommand in cmd/decodegap: the check sees nothing")
	}
	for name, file := range defined {
		if !used[name] {
			t.Errorf("%s: %s is in no list of commands (root.go)", file, name)
		}
	}
}
