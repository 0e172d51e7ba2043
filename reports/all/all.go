// Package all lists the formats a run record can be printed in. It refuses to
// know anything about them: a format is added by writing its package and
// naming it here.
package all

import (
	"strings"

	"decodegap/reports"
	"decodegap/reports/csv"
	"decodegap/reports/html"
	"decodegap/reports/jsonout"
	"decodegap/reports/junit"
	"decodegap/reports/markdown"
	"decodegap/reports/pdf"
	"decodegap/reports/pprof"
	"decodegap/reports/text"
)

// All is every format, in the order that help shows them.
var All = []reports.Renderer{
	text.Renderer,
	html.Renderer,
	pdf.Renderer,
	markdown.Renderer,
	jsonout.Renderer,
	csv.Renderer,
	pprof.Renderer,
	junit.Renderer,
}

// Names lists what --format takes.
func Names() []string {
	var names []string
	for _, r := range All {
		names = append(names, r.Name)
	}
	return names
}

// ByName finds a format by its name or its extension: "md", ".md", "markdown"
// for Markdown.
func ByName(name string) (reports.Renderer, bool) {
	name = strings.ToLower(strings.TrimPrefix(name, "."))
	switch name {
	case "markdown":
		name = "md"
	case "txt":
		name = "text"
	case "htm":
		name = "html"
	}
	for _, r := range All {
		if r.Name == name || strings.TrimPrefix(r.Ext, ".") == name {
			return r, true
		}
	}
	return reports.Renderer{}, false
}
