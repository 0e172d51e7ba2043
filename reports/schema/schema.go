// Package schema holds the JSON Schemas (draft 2020-12) of the documents the
// commands print, as files in the binary.
//
// It refuses to be a second opinion: the Go structs in reports are the
// contract, and tests hold each schema to exactly their fields.
package schema

import (
	"embed"
	"fmt"
	"slices"

	"decodegap/roofline/nearest"
)

//go:embed *.json
var files embed.FS

// Kind is a document kind with a schema.
type Kind struct {
	Name string // as in "decodegap/NAME/1" and `decodegap schema NAME`
	Doc  string // one line for people
}

// All lists every kind.
var All = []Kind{
	{"run", "the run record that diagnose -o writes"},
	{"floor", "floor --json"},
	{"bench", "bench --json"},
	{"trace", "trace --json"},
	{"ceilings", "probe -o, and probe --json"},
	{"merge", "merge --json"},
	{"gate", "gate --json"},
	{"compare", "compare --json"},
	{"list", "list --json"},
	{"policy", "the policy that gate reads, as YAML or JSON"},
}

// Names lists the names of every kind.
func Names() []string {
	var names []string
	for _, k := range All {
		names = append(names, k.Name)
	}
	return names
}

// Get is the schema of a document kind; an unknown kind is an error that names
// the nearest ones or all.
func Get(kind string) ([]byte, error) {
	if !slices.Contains(Names(), kind) {
		return nil, fmt.Errorf("no schema for %q; %s", kind, nearest.Hint(kind, Names()))
	}
	data, err := files.ReadFile(kind + ".json")
	if err != nil {
		return nil, fmt.Errorf("schema of %s: %w", kind, err)
	}
	return data, nil
}
