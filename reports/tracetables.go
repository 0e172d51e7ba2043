package reports

import "slices"

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
	return append(blocks, accountTable(&run.Points[point], &t.Steps[0]), operationsTable(t), countersTable(t))
}

// accountTable is where the traced step's time went beside its floor: the rows
// add up to the step.
func accountTable(pt *RunPoint, s *TracedStep) *Table {
	t := &Table{ID: "account", Title: "Where the traced step's time went, beside its floor", Ordered: true, Columns: []Column{
		{Title: "component"}, {Title: "ms in the trace", Right: true}, {Title: "share", Right: true}, {Title: "ms at floor", Right: true}, {Title: "gap ms", Right: true},
		{Title: "GB/s reached", Right: true}, {Title: "of its ceiling", Right: true},
	}, Note: "ms in the trace: exclusive GPU time of one step under the profiler; the rows add up to it. GB/s reached: the bytes that the floor counts over that time."}
	probed := slices.ContainsFunc(pt.Components, func(c ComponentRow) bool { return c.AttainableMs != nil })
	if probed {
		t.Columns = slices.Insert(t.Columns, 4, Column{Title: "attainable", Right: true})
		t.Note += " Attainable: the floor at the ceilings that this machine was probed to reach."
	}
	row := func(attainable *float64, kind string, cells ...string) {
		if probed {
			cells = slices.Insert(cells, 4, optional(attainable, millis))
		}
		t.Rows = append(t.Rows, Row{Kind: kind, Cells: cells})
	}
	var floor, attainable float64
	for _, c := range pt.Components {
		if c.ActualMs == nil && c.Ms == 0 {
			continue
		}
		cells := []string{name(c.Component), absent, absent, absent, absent, optional(c.AchievedGBs, rate), optional(c.CeilingShare, percent)}
		if c.ActualMs != nil {
			cells[1], cells[2] = millis(*c.ActualMs), percent(*c.ActualMs/s.MedianMs)
		}
		if !onlyTraced(&c) {
			floor += c.Ms
			cells[3] = millis(c.Ms)
		}
		if c.ActualMs != nil {
			cells[4] = signed(*c.ActualMs - c.Ms)
		}
		if c.AttainableMs != nil {
			attainable += *c.AttainableMs
		}
		row(c.AttainableMs, "", cells...)
	}
	for _, k := range IdleKinds {
		if ms := s.IdleMs[k.Kind]; ms > 0 {
			row(nil, "", "idle: "+k.Name, millis(ms), percent(ms/s.MedianMs), absent, signed(ms), absent, absent)
		}
	}
	row(&attainable, RowTotal, "step", millis(s.MedianMs), percent(1), millis(floor), signed(s.MedianMs-floor), "", "")
	return t
}

// onlyTraced says whether a component is one that the floor does not know:
// work between the matrices, which reads next to nothing.
func onlyTraced(c *ComponentRow) bool {
	return c.ActualMs != nil && c.Repeat == 0 && c.Ms == 0 && c.WeightBytes+c.KVBytes+c.FLOPs+c.CommBytes == 0 && c.Launches == 0
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
	out.Note = "Exclusive time in the median of " + count(s.Count, "step") + ", found by " + name(s.FoundBy)
	if s.Count == 1 {
		out.Note = "Exclusive time in the one step, found by " + name(s.FoundBy)
	}
	if more := len(s.Operations) - len(out.Rows); more > 0 {
		out.Note += "; " + whole(int64(more)) + " more are in the record"
	}
	out.Note += "."
	return out
}
