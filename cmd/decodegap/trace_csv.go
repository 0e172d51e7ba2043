package main

import (
	"encoding/csv"
	"io"
	"maps"
	"slices"
	"strconv"

	"decodegap/reports"
)

// traceCSVHeader names the columns of trace --csv. table says what a row is:
// the median step of a device ("step"), a part of it ("component", "idle":
// these add up to the step; "comm": times inside those of comm.*), a kernel
// over the whole of all files ("kernel"), or a warning. step_ms is within the
// median step, total_ms over the whole trace.
var traceCSVHeader = []string{"table", "rank", "device", "name", "component", "library", "count", "step_ms", "total_ms", "median_us", "text"}

// traceRow is one row; what is not known is an empty cell.
type traceRow struct {
	table, rank, device, name, component, library string
	count                                         *int64
	step, total, median                           *float64
	text                                          string
}

// writeTraceCSV prints the components of each device's median step and the
// kernels, unrounded.
func writeTraceCSV(w io.Writer, doc *reports.TraceDocument) error {
	out := csv.NewWriter(w)
	out.UseCRLF = true // RFC 4180
	if err := out.Write(traceCSVHeader); err != nil {
		return err
	}
	var rows []traceRow
	for i := range doc.Ranks {
		if s := doc.Ranks[i].Step; s != nil {
			rows = append(rows, stepRows(s)...)
		}
	}
	for i := range doc.Kernels {
		k := &doc.Kernels[i]
		rows = append(rows, traceRow{table: "kernel", name: k.Name, component: k.Component, library: k.Library,
			count: &k.Count, total: &k.TotalMs, median: k.MedianUs})
	}
	for _, warning := range doc.Warnings {
		rows = append(rows, traceRow{table: "warning", name: warning.Code, text: warning.Text})
	}
	for _, r := range rows {
		if err := out.Write(r.cells()); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// stepRows are a median step and its parts.
func stepRows(s *reports.TraceStep) []traceRow {
	rank, device, count := strconv.Itoa(s.Rank), strconv.Itoa(s.Device), int64(s.Count)
	rows := []traceRow{{table: "step", name: "median", count: &count, step: &s.MedianMs, text: "found by " + s.FoundBy}}
	for _, c := range slices.Sorted(maps.Keys(s.ByComponentMs)) {
		ms := s.ByComponentMs[c]
		rows = append(rows, traceRow{table: "component", name: c, component: c, step: &ms})
	}
	for _, cause := range slices.Sorted(maps.Keys(s.IdleMs)) {
		ms := s.IdleMs[cause]
		rows = append(rows, traceRow{table: "idle", name: cause, step: &ms})
	}
	rows = append(rows, traceRow{table: "comm", name: "overlapped", step: &s.CommOverlappedMs})
	if s.CommWaitMs != nil {
		rows = append(rows, traceRow{table: "comm", name: "wait", step: s.CommWaitMs})
	}
	for i := range rows {
		rows[i].rank, rows[i].device = rank, device
	}
	return rows
}

// cells spells a row; names come from files, and no spreadsheet may take them
// for formulas.
func (r traceRow) cells() []string {
	number := func(v *float64) string {
		if v == nil {
			return ""
		}
		return strconv.FormatFloat(*v, 'g', -1, 64)
	}
	count := ""
	if r.count != nil {
		count = strconv.FormatInt(*r.count, 10)
	}
	return []string{r.table, r.rank, r.device, reports.CSVText(r.name), reports.CSVText(r.component), reports.CSVText(r.library),
		count, number(r.step), number(r.total), number(r.median), reports.CSVText(r.text)}
}
