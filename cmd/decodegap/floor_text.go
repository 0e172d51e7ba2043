package main

import (
	"fmt"
	"io"
	"strings"

	"decodegap/cmd/internal/term"
	"decodegap/reports"
	"decodegap/roofline/unit"
)

// writeFloorText prints a floor document for people: one point in full, a
// sweep as a table of points.
func writeFloorText(w io.Writer, doc *reports.FloorDocument, width int) error {
	m, h := doc.Model, doc.Hardware
	fmt.Fprintf(w, "%s · %d × %s\n", term.Clean(m.Name), h.Count, h.Name)
	fmt.Fprintf(w, "%s, %d layers, %s parameters, %s read a token (bytes from %s)\n", term.Clean(m.Architecture), m.Layers,
		billions(m.ParamsTotal), billions(m.ParamsActiveRead), m.BytesSource)
	writeWrapped(w, m.Formats, width, "  ")
	fmt.Fprintln(w)
	if len(doc.Points) == 1 {
		if err := writeFloorPoint(w, doc.Points[0], width); err != nil {
			return err
		}
	} else if err := writeSweep(w, doc.Points, width); err != nil {
		return err
	}
	writeRidges(w, doc.Ridges, width)
	for _, c := range h.Ceilings {
		if c.Resource == "dram.read" {
			fmt.Fprintln(w)
			source := c.Basis + ": " + c.Source
			if c.Basis == "probed" { // the source says so
				source = c.Source
			}
			writeWrapped(w, "bandwidth "+unit.Significant(c.Value/1e9, 4)+" GB/s ("+source+")", width, "")
		}
	}
	for _, warn := range doc.Warnings {
		writeWrapped(w, "warning: "+warn.Text, width, "")
	}
	return nil
}

func billions(n int64) string {
	if n < 1e9 {
		return fmt.Sprintf("%.0f M", float64(n)/1e6)
	}
	return fmt.Sprintf("%.2f B", float64(n)/1e9)
}

func writeFloorPoint(w io.Writer, p reports.FloorPoint, width int) error {
	fmt.Fprintf(w, "batch %d, context %d, tp %d, ep %d, KV %s, %s layout\n", p.Batch, p.Context, p.TP, p.EP, p.KVType, p.Engine)
	t := term.Table{Columns: []term.Column{{Title: "floor"}, {Title: "ms/token", Align: term.Right}, {Title: "tok/s", Align: term.Right},
		{Title: "memory", Align: term.Right}, {Title: "comm", Align: term.Right}, {Title: "launch", Align: term.Right}}}
	for _, f := range p.Floors {
		t.Rows = append(t.Rows, []string{f.Kind + ", " + f.Basis, ms(f.MsPerToken), fmt.Sprintf("%.1f", f.TokPerS),
			ms(f.MemoryMs), orDash(f.CommMs), orDash(f.LaunchMs)})
	}
	if err := t.Write(w, width); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nper GPU: weights %s ideal, %s layout; cache read %s, written %s\n\n", gigabytes(p.WeightBytesIdeal),
		gigabytes(p.WeightBytesLayout), gigabytes(p.KVReadBytes), gigabytes(p.KVWriteBytes))
	l := term.Table{Columns: []term.Column{{Title: "component"}, {Title: "weights", Align: term.Right}, {Title: "cache", Align: term.Right},
		{Title: "ms", Align: term.Right}, {Title: "ideal", Align: term.Right}, {Title: "bound"}, {Title: "format", Shrink: true}}}
	for _, r := range p.Ledger {
		l.Rows = append(l.Rows, []string{r.Component, gigabytes(r.WeightBytes), gigabytes(r.KVBytes), ms(r.Ms), ms(r.IdealMs), r.Bound, r.Format})
	}
	if err := l.Write(w, width); err != nil {
		return err
	}
	if len(p.Worth) > 0 {
		fmt.Fprintln(w, "\nwhat changes are worth, per token:")
		t := term.Table{Columns: []term.Column{{Title: "ms", Align: term.Right}, {Title: "change", Shrink: true}, {Title: "off"}}}
		for _, c := range p.Worth {
			t.Rows = append(t.Rows, []string{ms(c.Ms), c.Change, c.Of})
		}
		if err := t.Write(w, width); err != nil {
			return err
		}
	}
	writeTarget(w, p.Target, width)
	return nil
}

// writeTarget says which changes bring the floor to a wished-for time.
func writeTarget(w io.Writer, t *reports.Target, width int) {
	if t == nil {
		return
	}
	fmt.Fprintf(w, "\ntarget %s ms, against the %s floor of now %s ms:\n", ms(t.TargetMs), t.Floor.Kind, ms(t.NowMs))
	switch {
	case t.NowMs <= t.TargetMs:
		fmt.Fprintln(w, "  the floor allows it as things are")
	case len(t.Ways) == 0:
		fmt.Fprintln(w, "  no known change lowers this floor")
	case !t.Reached:
		fmt.Fprintln(w, "  not reached by any known change; the lowest floor found:")
	}
	for _, way := range t.Ways {
		writeWrapped(w, ms(way.Ms)+" ms  "+strings.Join(way.Changes, " + "), width, "  ")
	}
}

// writeSweep prints one line a point.
func writeSweep(w io.Writer, points []reports.FloorPoint, width int) error {
	t := term.Table{Columns: []term.Column{{Title: "batch", Align: term.Right}, {Title: "context", Align: term.Right}, {Title: "tp", Align: term.Right},
		{Title: "ideal ms", Align: term.Right}, {Title: "layout ms", Align: term.Right}, {Title: "latency ms", Align: term.Right},
		{Title: "tok/s at layout", Align: term.Right}, {Title: "bound"}, {Title: "layout, probed", Align: term.Right}}}
	probed := false
	for _, p := range points {
		row := []string{fmt.Sprint(p.Batch), fmt.Sprint(p.Context), fmt.Sprint(p.TP), "–", "–", "–", "–", dominant(p.Ledger), "–"}
		for _, f := range p.Floors {
			switch {
			case f.Basis != p.Floors[0].Basis: // at probed ceilings, beside the sheet's
				probed = true
				if f.Kind == "layout" {
					row[8] = ms(f.MsPerToken)
				}
			case f.Kind == "ideal":
				row[3] = ms(f.MsPerToken)
			case f.Kind == "layout":
				row[4], row[6] = ms(f.MsPerToken), fmt.Sprintf("%.1f", f.TokPerS)
			case f.Kind == "latency":
				row[5] = ms(f.MsPerToken)
			}
		}
		t.Rows = append(t.Rows, row)
	}
	if !probed {
		t.Columns = t.Columns[:8]
	}
	return t.Write(w, width)
}

// dominant is the bound of the component that takes longest.
func dominant(rows []reports.ComponentRow) string {
	best := reports.ComponentRow{}
	for _, r := range rows {
		if r.Ms > best.Ms {
			best = r
		}
	}
	return best.Bound
}

func ms(v float64) string { return fmt.Sprintf("%.3f", v) }

func orDash(v float64) string {
	if v == 0 {
		return "–"
	}
	return ms(v)
}

func gigabytes(b float64) string {
	switch {
	case b == 0:
		return "–"
	case b < 1e6:
		return fmt.Sprintf("%.1f kB", b/1e3)
	case b < 1e9:
		return fmt.Sprintf("%.1f MB", b/1e6)
	}
	return fmt.Sprintf("%.3f GB", b/1e9)
}

// writeWrapped prints text in lines of at most width columns.
func writeWrapped(w io.Writer, text string, width int, indent string) {
	width = min(width, 100)
	line := indent
	for _, word := range strings.Fields(term.Clean(text)) {
		if len(line) > len(indent) && term.Width(line)+1+term.Width(word) > width {
			fmt.Fprintln(w, line)
			line = indent + "  "
		}
		if strings.TrimSpace(line) != "" {
			line += " "
		}
		line += word
	}
	if strings.TrimSpace(line) != "" {
		fmt.Fprintln(w, line)
	}
}

// writeRidges says from which batch on components are compute-bound.
func writeRidges(w io.Writer, ridges []reports.Ridge, width int) {
	type point struct{ context, tp int }
	var order []point
	parts := map[point][]string{}
	for _, r := range ridges {
		at := point{r.Context, r.TP}
		if parts[at] == nil {
			order = append(order, at)
		}
		name := r.Component
		if name == "" {
			name = "the step"
		}
		parts[at] = append(parts[at], fmt.Sprintf("%s %d", name, r.Batch))
	}
	for _, at := range order {
		writeWrapped(w, fmt.Sprintf("compute-bound from batch (context %d, tp %d): %s", at.context, at.tp, strings.Join(parts[at], ", ")), width, "")
	}
}
