// Package jsonout prints the run record itself, indented. It refuses to add,
// drop or round anything: what it writes reads back as the same record.
package jsonout

import (
	"fmt"
	"io"

	"decodegap/reports"
)

// Renderer is the JSON format.
var Renderer = reports.Renderer{
	Name: "json", Ext: ".json",
	Doc:    "the run record itself (decodegap schema run)",
	Render: Render,
}

// Render writes the record. It fails on figures that JSON does not have, NaN
// and infinities, and with w.
func Render(w io.Writer, run *reports.Run) error {
	if err := reports.WriteJSON(w, run); err != nil {
		return fmt.Errorf("cannot print the run record as JSON: %w", err)
	}
	return nil
}
