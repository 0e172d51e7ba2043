package reports

import "io"

// Renderer prints a run record in one format. Render must be a pure function
// of the record: the same record gives the same bytes. It escapes every text
// of the record for its format; records come from files and are hostile until
// printed.
type Renderer struct {
	Name   string // what --format takes: "html"
	Ext    string // a file's extension, with its dot: ".html"
	Doc    string // one line for lists and help
	Render func(io.Writer, *Run) error
}
