// Package internal holds no code: its tests check the whole tree, who imports
// whom, what is linked, that lists are complete and that no file names a
// machine.
package internal

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const (
	root   = "../.."
	module = "decodegap"
)

// source is one Go file, whatever its build constraints.
type source struct {
	Path    string // from the root, with slashes
	Folder  string // package folder from the root
	Package string // the package clause's name
	Imports []string
	File    *ast.File
	Fset    *token.FileSet
}

// Test says whether only tests see the file: by its name, or as part of a
// package that exists for tests, named something with "test" at its end.
func (s source) Test() bool {
	return strings.HasSuffix(s.Path, "_test.go") || strings.HasSuffix(s.Package, "test")
}

var loadSources = sync.OnceValues(func() ([]source, error) {
	var all []source
	fset := token.NewFileSet()
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			// What the go command passes over.
			if base := d.Name(); name != root && (base == "testdata" || base == "vendor" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		file, err := parser.ParseFile(fset, rel, text, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		s := source{Path: rel, Folder: path.Dir(rel), Package: file.Name.Name, File: file, Fset: fset}
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			s.Imports = append(s.Imports, imported)
		}
		all = append(all, s)
		return nil
	})
	return all, err
})

// sources are all Go files of the tree, parsed once for all tests.
func sources(t *testing.T) []source {
	t.Helper()
	all, err := loadSources()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// below says whether a package path is one of folders or inside one.
func below(pkg string, folders ...string) bool {
	for _, f := range folders {
		if pkg == f || strings.HasPrefix(pkg, f+"/") {
			return true
		}
	}
	return false
}
