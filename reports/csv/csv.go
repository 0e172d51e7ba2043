// Package csv prints a run record as one long table, a figure a row, for
// spreadsheets and data frames. It refuses to round, and to let a text of the
// record be taken for a formula.
package csv

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"

	"decodegap/reports"
)

// Renderer is the CSV format.
var Renderer = reports.Renderer{
	Name: "csv", Ext: ".csv",
	Doc:    "every figure of the record, one a row, unrounded",
	Render: Render,
}

// header names the columns. table says what kind of figure the row holds, name
// which one; point counts from 0 and is empty for figures of the whole run.
var header = []string{"table", "point", "batch", "context", "series", "name", "component", "value", "lo", "hi", "unit", "basis", "evidence", "text"}

// row is one figure.
type row struct {
	table, name, component string
	point                  *reports.RunPoint
	index                  int
	series                 string
	value                  *float64
	lo, hi                 *float64
	unit, basis            string
	evidence, text         string
}

// Render writes the table. The error is w's.
func Render(w io.Writer, run *reports.Run) error {
	out := csv.NewWriter(w)
	out.UseCRLF = true // RFC 4180
	if err := out.Write(header); err != nil {
		return err
	}
	for _, r := range rows(run) {
		if err := out.Write(r.cells()); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

func (r row) cells() []string {
	point, batch, context, series := "", "", "", r.series
	if r.point != nil {
		point, batch, context = strconv.Itoa(r.index), strconv.Itoa(r.point.Batch), strconv.Itoa(r.point.Context)
		series = r.point.Label
	}
	return []string{r.table, point, batch, context, reports.CSVText(series), reports.CSVText(r.name), reports.CSVText(r.component),
		number(r.value), number(r.lo), number(r.hi), reports.CSVText(r.unit), reports.CSVText(r.basis), reports.CSVText(r.evidence), reports.CSVText(r.text)}
}

// number prints a figure whole; one the record does not hold is an empty cell.
func number(v *float64) string {
	if v == nil {
		return ""
	}
	return strconv.FormatFloat(*v, 'g', -1, 64)
}

func at(v float64) *float64 { return &v }

// whole is a count.
func whole[T int | int64](n T) *float64 { return at(float64(n)) }

// positive is a count that is 0 where the record does not know it.
func positive[T int | int64](n T) *float64 {
	if n <= 0 {
		return nil
	}
	return whole(n)
}

func indexed(name string, i int) string { return fmt.Sprintf("%s[%d]", name, i) }
