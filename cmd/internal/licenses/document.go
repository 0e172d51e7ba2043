package main

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// reasonTable is a line for each module: path, tab, why we take it.
//
//go:embed reasons.tsv
var reasonTable string

func reasons() (map[string]string, error) {
	table := map[string]string{}
	for i, line := range strings.Split(strings.TrimSpace(reasonTable), "\n") {
		path, why, ok := strings.Cut(line, "\t")
		if !ok || strings.TrimSpace(why) == "" {
			return nil, fmt.Errorf("reasons.tsv:%d: expected a module path, a tab and a reason", i+1)
		}
		table[path] = strings.TrimSpace(why)
	}
	return table, nil
}

const head = `Third-party software in decodegap

Made by "make licenses" from the modules that are linked into ./cmd/decodegap
with -tags minimal, on linux, darwin and windows. Not to be edited by hand.
`

// standard stands for what every Go program links; its version is the
// toolchain's.
const standard = `
Go standard library and runtime
    BSD-3-Clause, the text of golang.org/x below
    the language's own
`

// generate is the text of THIRD_PARTY, or every reason there cannot be one.
func generate(root string) ([]byte, error) {
	linked, tests, err := modules(root)
	if err != nil {
		return nil, err
	}
	why, err := reasons()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	var texts textList
	var problems []error
	section := func(title string, list []module, intro string, print bool) {
		fmt.Fprintf(&b, "\n\n%s\n%s\n%s", title, strings.Repeat("=", len(title)), intro)
		for _, m := range list {
			reason, ok := why[m.Path]
			if !ok {
				problems = append(problems, fmt.Errorf("module %s: no reason in cmd/internal/licenses/reasons.tsv", m.Path))
			}
			found, err := licenses(m)
			if err != nil {
				problems = append(problems, err)
				continue
			}
			fmt.Fprintf(&b, "\n%s %s\n    %s\n    %s\n", m.Path, m.Version, names(found), reason)
			if print {
				texts.add(m, found)
			}
		}
	}
	b.WriteString(head)
	section("Linked into the program", linked, standard, true)
	section("Needed by tests only, part of no build", tests, "", false)
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	texts.print(&b)
	return b.Bytes(), nil
}

// names joins the licences of one module; notices belong to one of them.
func names(found []license) string {
	var s []string
	for _, l := range found {
		if l.Name != "NOTICE" && !slices.Contains(s, label(l)) {
			s = append(s, label(l))
		}
	}
	return strings.Join(s, "; ")
}

func label(l license) string {
	if l.Name == "OFL-1.1" {
		return "OFL-1.1 (the fonts; embedding them in documents is free)"
	}
	return l.Name
}

// shared is a licence text and the modules that come under it.
type shared struct {
	license
	modules []string
}

// textList collects licence texts, equal ones once.
type textList []shared

func (t *textList) add(m module, found []license) {
	for _, l := range found {
		i := slices.IndexFunc(*t, func(have shared) bool { return have.Text == l.Text })
		if i < 0 {
			i = len(*t)
			*t = append(*t, shared{license: l})
		}
		(*t)[i].modules = append((*t)[i].modules, m.Path)
	}
}

// print writes the texts of what is linked: their licences ask for that.
func (t textList) print(b *bytes.Buffer) {
	const title = "Licence texts of what is linked"
	fmt.Fprintf(b, "\n\n%s\n%s\n", title, strings.Repeat("=", len(title)))
	for _, e := range t {
		fmt.Fprintf(b, "\n---- %s: %s\n\n%s", e.Name, strings.Join(e.modules, ", "), e.Text)
	}
}
