package reports

import (
	"fmt"
	"slices"
)

// ofStep heads the columns that are parts of a step, not of a token.
const ofStep = "ms per step"

func floorTable(pt *RunPoint) *Table {
	t := &Table{ID: "floors", Title: "Every floor of this point: what no step can be faster than", Columns: []Column{
		{Title: "floor"}, {Title: "at"}, {Title: "ms/token", Right: true}, {Title: "tok/s", Right: true}, {Title: "efficiency", Right: true},
		{Title: "memory", Group: ofStep, Right: true}, {Title: "compute", Group: ofStep, Right: true},
		{Title: "comm.", Group: ofStep, Right: true}, {Title: "launch", Group: ofStep, Right: true},
	}, Note: "At: whose ceilings. Memory, compute, communication and launch are ms per step; ms/token is per emitted token and sequence, tok/s the whole deployment's."}
	main, _ := headFloor(&pt.Operating)
	for _, basis := range Bases {
		for _, kind := range FloorKinds {
			n := FloorName{kind, basis}
			f := pt.Floor(n)
			if f == nil {
				continue
			}
			row := Row{Cells: []string{kind, basis, millis(f.MsPerToken), rate(f.TokPerS), ratio(efficiency(pt, n)),
				millis(f.MemoryMs), optional(f.ComputeMs, millis), millis(f.CommMs), millis(f.LaunchMs)}}
			if n == main {
				row.Kind = RowStrong
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

func components(pt *RunPoint, point int) []Block {
	if len(pt.Components) == 0 {
		return []Block{bytesTable(pt)}
	}
	t := &Table{ID: "components", Title: "One step of the busiest GPU under this engine's layout", Columns: []Column{
		{Title: "component"}, {Title: "layers", Right: true}, {Title: "weights", Right: true}, {Title: "cache", Right: true},
		{Title: "FLOP", Right: true}, {Title: "ms at floor", Right: true}, {Title: "share", Right: true}, {Title: "even split", Right: true},
		{Title: "bound"}, {Title: "format"}, {Title: "evidence"},
	}, Note: "ms at floor: this layout at the ledger's ceilings, latency included for communication; even split: the same work spread over all GPUs."}
	var total ComponentRow
	rows := slices.DeleteFunc(slices.Clone(pt.Components), func(c ComponentRow) bool { return onlyTraced(&c) })
	for _, c := range rows {
		total.Ms += c.Ms
	}
	for _, c := range rows {
		share := absent
		if total.Ms > 0 {
			share = percent(c.Ms / total.Ms)
		}
		cells := []string{name(c.Component), whole(int64(c.Repeat)), scaled(c.WeightBytes, "B"), scaled(c.KVBytes, "B"),
			scaled(c.FLOPs, ""), millis(c.Ms), share, millis(c.IdealMs), orAbsent(name(c.Bound)), orAbsent(name(c.Format)), orAbsent(name(c.Evidence))}
		t.Rows = append(t.Rows, Row{Cells: cells})
		total.WeightBytes += c.WeightBytes
		total.KVBytes += c.KVBytes
		total.FLOPs += c.FLOPs
		total.IdealMs += c.IdealMs
	}
	sum := []string{"sum", "", scaled(total.WeightBytes, "B"), scaled(total.KVBytes, "B"),
		scaled(total.FLOPs, ""), millis(total.Ms), "", millis(total.IdealMs), "", "", ""}
	t.Rows = append(t.Rows, Row{Kind: RowTotal, Cells: sum})
	return []Block{Figure{FigureRoofline, point}, t, Figure{FigureComponents, point}, bytesTable(pt)}
}

// bytesTable sets what must be moved against what this layout moves.
func bytesTable(pt *RunPoint) *Table {
	t := &Table{ID: "bytes", Title: "Bytes a GPU moves in a step: evenly split, and under this layout", Columns: []Column{
		{Title: "what"}, {Title: "ideal", Right: true}, {Title: "layout", Right: true}, {Title: "layout ÷ ideal", Right: true},
	}}
	for _, r := range []struct {
		name          string
		ideal, layout float64
	}{
		{"weights read", pt.WeightBytesIdeal, pt.WeightBytesLayout},
		{"cache read", pt.KVReadBytesIdeal, pt.KVReadBytes},
		{"cache written", pt.KVWriteBytesIdeal, pt.KVWriteBytes},
	} {
		if r.ideal == 0 && r.layout == 0 {
			continue
		}
		quotient := absent
		if r.ideal > 0 {
			quotient = times(r.layout / r.ideal)
		}
		t.Rows = append(t.Rows, Row{Cells: []string{r.name, exactly(r.ideal), exactly(r.layout), quotient}})
	}
	if len(t.Rows) > 0 && pt.AllReduceCount > 0 {
		t.Note = fmt.Sprintf("Also %s a step of %s each; %s.", count(pt.AllReduceCount, "all-reduce"), exactly(pt.AllReduceBytesEach), cacheText(&pt.Operating))
	}
	return t
}

func cacheText(o *Operating) string {
	s := "cache in " + orAbsent(name(o.KVType))
	if o.Attention != "" {
		s += ", " + name(o.Attention) + " attention"
	}
	if o.StateType != "" {
		s += ", recurrent state in " + name(o.StateType)
	}
	if o.DistinctExperts != nil {
		s += ", " + plain(*o.DistinctExperts) + " distinct experts a layer"
	}
	return s
}

func worthTable(pt *RunPoint) *Table {
	t := &Table{ID: "worth", Title: "What each change takes off the layout floor", Columns: []Column{{Title: "change"}, {Title: "ms off the floor", Right: true}}}
	for _, w := range pt.Worth {
		t.Rows = append(t.Rows, Row{Cells: []string{orAbsent(w.Change), millis(w.Ms)}})
	}
	return t
}

// firstMeasured is the first point's measurement, nil without one.
func firstMeasured(run *Run) *Measured {
	if len(run.Points) == 0 {
		return nil
	}
	return run.Points[0].Measured
}

func assumptions(run *Run) []Block {
	t := &Table{ID: "assumptions", Columns: []Column{
		{Title: "assumption"}, {Title: "GB a GPU", Right: true}, {Title: "GB/s", Right: true}, {Title: "ms/token", Right: true},
		{Title: "tok/s", Right: true}, {Title: "η", Right: true}, {Title: "holds here"}, {Title: "note"},
	}, Title: "The same weights under assumptions that people make", Note: "Weights only: no cache, no communication, no launches. η: this row's time ÷ the measured time of the first point."}
	for _, a := range run.Assumptions {
		row := Row{Cells: []string{orAbsent(name(a.Name)), decimals(a.WeightGB, 4), plain(a.Bandwidth), decimals(a.MsPerToken, 3), rate(a.TokPerS), absent, "yes", orAbsent(a.Text)}}
		if m := firstMeasured(run); m != nil {
			row.Cells[5] = percent(a.MsPerToken / m.ValueMs)
		}
		if !a.Honest {
			row.Kind, row.Cells[6] = RowWarn, "no"
		}
		t.Rows = append(t.Rows, row)
	}
	return []Block{t}
}

// points is every operating point in a row, then the ladder of each that the
// first page is not about.
func points(run *Run, primary int) []Block {
	if len(run.Points) < 2 {
		return nil
	}
	t := &Table{ID: "points", Title: "One row a point", Columns: []Column{
		{Title: "batch", Right: true}, {Title: "context", Right: true}, {Title: "measured", Right: true},
		{Title: "ideal", Right: true}, {Title: "layout", Right: true}, {Title: "latency", Right: true}, {Title: "η", Right: true},
		{Title: "unattributed", Right: true}, {Title: "series"},
	}, Note: "Times in ms per token, floors at the headline's ceilings; η is the efficiency against the layout floor."}
	blocks := []Block{t}
	for i := range run.Points {
		pt := &run.Points[i]
		main, _ := headFloor(&pt.Operating)
		row := Row{Cells: []string{whole(int64(pt.Batch)), whole(int64(pt.Context)), absent}}
		if pt.Measured != nil {
			row.Cells[2] = millis(pt.Measured.ValueMs)
		}
		for _, kind := range FloorKinds {
			cell := absent
			if f := pt.Floor(FloorName{kind, main.Basis}); f != nil {
				cell = millis(f.MsPerToken)
			}
			row.Cells = append(row.Cells, cell)
		}
		eff := absent
		if e := efficiency(pt, main); e != nil {
			eff = percent(e.Ratio)
		}
		row.Cells = append(row.Cells, eff, unattributed(pt), orAbsent(name(pt.Label)))
		if i == primary {
			row.Kind = RowStrong
		}
		t.Rows = append(t.Rows, row)
	}
	shown, more := 0, 0
	for i := range run.Points {
		pt := &run.Points[i]
		if i == primary || pt.Ledger == nil {
			continue
		}
		if shown++; shown > maxLedgers {
			more++
			continue
		}
		table := ledgerTable(pt.Ledger)
		table.ID = fmt.Sprintf("ledger-%d", i)
		blocks = append(blocks, Heading{fmt.Sprintf("point-%d", i), joined(" · ", upper(pointName(pt)), name(pt.Label))}, ladder(pt, i), table)
	}
	if more > 0 {
		blocks = append(blocks, Paragraph(fmt.Sprintf("The ledgers of %d more points are in the record and its CSV.", more)))
	}
	return blocks
}

// maxLedgers bounds the ladders after the first; a sweep may have thousands.
const maxLedgers = 24

func upper(s string) string {
	if s == "" {
		return s
	}
	return string(s[0]-'a'+'A') + s[1:]
}

// unattributed is what no evidence explains, with its share.
func unattributed(pt *RunPoint) string {
	if pt.Ledger == nil {
		return absent
	}
	var ms float64
	for _, r := range pt.Ledger.Rungs {
		if r.Cause == "unattributed" {
			ms += r.Ms
		}
	}
	return millis(ms) + " (" + percent(ms/pt.Ledger.MeasuredMs) + ")"
}
