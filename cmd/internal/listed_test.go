package internal

import (
	"go/ast"
	"strings"
	"testing"
)

// lists are the kinds of descriptor values: each package-level variable of the
// type must be an element of the package's All, so that none is forgotten.
var lists = []struct{ folder, kind string }{
	{"roofline/model", "Arch"},
	{"roofline/layout", "Engine"},
	{"traces/bench", "Importer"},
	{"reports/gate", "Rule"},
	{"probes/audit", "Check"},
}

func TestListed(t *testing.T) {
	for _, l := range lists {
		t.Run(l.folder, func(t *testing.T) {
			var files []*ast.File
			for _, s := range sources(t) {
				if s.Folder == l.folder && !s.Test() {
					files = append(files, s.File)
				}
			}
			if len(files) == 0 {
				t.Skipf("there is no package %s yet", l.folder)
			}
			values, listed := descriptors(files, l.kind)
			if len(values) == 0 || len(listed) == 0 {
				t.Fatalf("%d variables of type %s, %d in All: the check sees nothing", len(values), l.kind, len(listed))
			}
			for name := range values {
				if !listed[name] {
					t.Errorf("%s is a %s but not in %s's All", name, l.kind, l.folder)
				}
			}
		})
	}
}

// descriptors finds the package-level variables of type kind, and the names in
// the slice literal All of that type.
func descriptors(files []*ast.File, kind string) (values, listed map[string]bool) {
	values, listed = map[string]bool{}, map[string]bool{}
	for _, f := range files {
		for _, d := range f.Decls {
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
					switch declared := typeOf(v.Type, value); {
					case declared == kind:
						values[name.Name] = true
					case declared == "[]"+kind && name.Name == "All":
						for element := range elements(value) {
							listed[element] = true
						}
					}
				}
			}
		}
	}
	return values, listed
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

// elements are the variables a slice literal names: X, &X or pkg.X.
func elements(value ast.Expr) map[string]bool {
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
			names[e.Name] = true
		case *ast.SelectorExpr:
			names[e.Sel.Name] = true
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
