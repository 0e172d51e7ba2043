package reports

// traced is the traced step of a point: its drawing and what its trace says.
func traced(run *Run, point int) []Block {
	t := run.Points[point].Traced
	if t == nil || len(t.Steps) == 0 {
		return nil
	}
	var blocks []Block
	if t.Timeline != nil {
		blocks = append(blocks, Figure{FigureTimeline, point})
	}
	return append(blocks, operationsTable(t), countersTable(t))
}

// countersTable sets what hardware counters say against what the floor counts.
func countersTable(t *Traced) *Table {
	out := &Table{ID: "counters", Title: "Bytes a step by hardware counter, and as the floor counts them", Columns: []Column{
		{Title: "component"}, {Title: "read", Right: true}, {Title: "written", Right: true}, {Title: "counted", Right: true},
		{Title: "counter ÷ counted", Right: true}, {Title: "launches profiled", Right: true}, {Title: "of its time", Right: true},
	}, Note: "Read and written: each profiled kernel's mean, times its launches in the step. Of its time: the share of the component's kernel time that these kernels take; no quotient where it is under 90 %."}
	bytes := func(v float64) string { return scaled(v, "B") }
	for _, r := range t.Counters {
		row := Row{Cells: []string{orAbsent(name(r.Component)), bytes(r.ReadBytes), optional(r.WriteBytes, bytes), optional(r.CountedBytes, bytes),
			optional(r.Ratio, times), whole(int64(r.Launches)), percent(r.Coverage)}}
		if r.Ratio != nil && (*r.Ratio > 1.2 || *r.Ratio < 1/1.05) {
			row.Kind = RowWarn
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}

// topOperations is how many operations a report lists.
const topOperations = 12

// operationsTable is the operations that take most of the first step.
func operationsTable(t *Traced) *Table {
	s := &t.Steps[0]
	out := &Table{ID: "operations", Title: "The operations that take most of the traced step", Ordered: true, Columns: []Column{
		{Title: "kernel, copy or fill"}, {Title: "component"}, {Title: "times", Right: true}, {Title: "ms", Right: true}, {Title: "share", Right: true},
	}}
	for _, o := range s.Operations[:min(len(s.Operations), topOperations)] {
		out.Rows = append(out.Rows, Row{Cells: []string{orAbsent(name(o.Name)), orAbsent(name(o.Component)), whole(o.Count), millis(o.Ms), percent(o.Ms / s.MedianMs)}})
	}
	out.Note = "Exclusive time of " + count(s.Count, "step") + "' median, found by " + name(s.FoundBy)
	if s.Count == 1 {
		out.Note = "Exclusive time of the one step, found by " + name(s.FoundBy)
	}
	if more := len(s.Operations) - len(out.Rows); more > 0 {
		out.Note += "; " + whole(int64(more)) + " more are in the record"
	}
	out.Note += "."
	return out
}
