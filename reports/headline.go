package reports

import (
	"cmp"
	"fmt"
	"slices"
)

// Headline is the report's answer: one ratio, one sentence, and the times it
// compares.
type Headline struct {
	Number   string // "5.4 %"; without a measurement the floor, "2.471 ms"
	Of       string // "efficient against the layout floor at sheet ceilings"
	Sentence string
	Rows     []HeadRow
	Warn     bool // the ratio is above 1: one of the inputs is wrong
}

// HeadRow is one time of the headline.
type HeadRow struct {
	Name  string // "measured", "floor, layout", "attainable", "best known"
	Ms    string // "95.14"
	TokS  string // "10.51"; the whole deployment's rate
	Ratio string // "5.4 %"; "" where none makes sense
	Claim string // "you are 4.9× behind"
	Text  string
	Kind  string  // RowTotal measured, RowFloor, RowStrong the headline's floor, "" others
	Value float64 // ms, to draw; 0: none
}

func headline(run *Run, primary int) Headline {
	if primary < 0 {
		return Headline{Number: absent, Sentence: "The record holds no operating point: nothing was measured and no floor was computed."}
	}
	pt := &run.Points[primary]
	h := Headline{Number: absent, Rows: headRows(run, pt)}
	main, ok := headFloor(&pt.Operating)
	if !ok {
		h.Sentence = "The record holds no floor for this point: a measured time alone says nothing about what is possible."
		return h
	}
	f := pt.Floor(main)
	switch e := efficiency(pt, main); {
	case pt.Measured == nil:
		h.Number, h.Of = millis(f.MsPerToken)+" ms", "per token at best: the "+floorName(main)
		h.Sentence = "Nothing was measured: this is what the hardware allows, not what happens." + attained(pt) + first(run)
	case e == nil:
		h.Sentence = fmt.Sprintf("A token takes %s ms; the record holds no ratio against the %s of %s ms.",
			millis(pt.Measured.ValueMs), floorName(main), millis(f.MsPerToken))
	default:
		h.Number, h.Warn = percent(e.Ratio), e.Ratio > 1
		h.Of = "efficient against the " + floorName(main)
		h.Sentence = fmt.Sprintf("A token takes %s ms where %s allows %s ms.%s%s", millis(pt.Measured.ValueMs),
			allows(main), millis(f.MsPerToken), largest(pt), first(run))
		if h.Warn {
			h.Sentence = fmt.Sprintf("A token takes %s ms, less than the floor of %s ms: measurement and floor do not describe the same step.",
				millis(pt.Measured.ValueMs), millis(f.MsPerToken))
		}
	}
	return h
}

// allows names who sets the limit.
func allows(n FloorName) string {
	switch n.Kind {
	case "ideal":
		return "the hardware, with its work split evenly,"
	case "latency":
		return "this engine's layout, with its latencies,"
	}
	return "this engine's layout"
}

// largest says where most of the time between floor and measurement goes.
func largest(pt *RunPoint) string {
	l := pt.Ledger
	if l == nil || len(l.Rungs) == 0 {
		return ""
	}
	r := slices.MaxFunc(netOfProfiler(l.Rungs), func(a, b Rung) int { return cmp.Compare(a.Ms, b.Ms) })
	share := percent(r.Ms / l.MeasuredMs)
	if r.Cause == "unattributed" {
		return fmt.Sprintf(" %s ms of it, %s, is unattributed: no evidence in this record says where it goes.", millis(r.Ms), share)
	}
	return fmt.Sprintf(" The largest cause is %s: %s ms of it, %s.", rungName(&r), millis(r.Ms), share)
}

// first repeats the most useful next step.
func first(run *Run) string {
	if len(run.Levers) == 0 {
		return ""
	}
	return " Next: " + sentence(OneLine(run.Levers[0].Change, 200))
}

// headFloor is the floor the headline ratio is measured against: layout at the
// sheet, or the nearest to it that the point has.
func headFloor(o *Operating) (FloorName, bool) {
	for _, basis := range Bases {
		for _, kind := range []string{"layout", "ideal", "latency"} {
			if n := (FloorName{kind, basis}); o.Floor(n) != nil {
				return n, true
			}
		}
	}
	return FloorName{}, false
}

// floorName is "layout floor at sheet ceilings".
func floorName(n FloorName) string {
	return n.Kind + " floor at " + n.Basis + " ceilings"
}

func efficiency(pt *RunPoint, n FloorName) *Efficiency {
	for i := range pt.Efficiency {
		if pt.Efficiency[i].Floor == n {
			return &pt.Efficiency[i]
		}
	}
	return nil
}

// ratio prints an efficiency with its interval.
func ratio(e *Efficiency) string {
	if e == nil {
		return absent
	}
	s := percent(e.Ratio)
	if e.Lo != nil && e.Hi != nil {
		s += " (" + percent(*e.Lo) + " to " + percent(*e.Hi) + ")"
	}
	return s
}

func headRows(run *Run, pt *RunPoint) []HeadRow {
	var rows []HeadRow
	if m := pt.Measured; m != nil {
		rows = append(rows, HeadRow{Name: "measured", Ms: millis(m.ValueMs), TokS: rate(tokens(pt.Batch, m.ValueMs)),
			Text: measuredText(m), Kind: RowTotal, Value: m.ValueMs})
	} else {
		rows = append(rows, HeadRow{Name: "measured", Ms: absent, TokS: absent, Text: "no measurement in this record", Kind: RowTotal})
	}
	main, _ := headFloor(&pt.Operating)
	for _, kind := range FloorKinds {
		if row, ok := floorRow(pt, FloorName{kind, main.Basis}); ok {
			if kind == main.Kind {
				row.Kind = RowStrong
			}
			rows = append(rows, row)
		}
	}
	if n, ok := attainable(&pt.Operating); ok && n.Basis != main.Basis {
		row, _ := floorRow(pt, n)
		row.Name, row.Text = "attainable", floorName(n)+": what this machine's own kernels reach"
		rows = append(rows, row)
	}
	if s := pt.Step; s != nil {
		rows = append(rows, HeadRow{Name: "attainable step", Ms: millis(s.Ms / pt.AcceptedTokens), TokS: rate(tokens(pt.Batch, s.Ms/pt.AcceptedTokens)),
			Ratio: stepRatio(pt), Text: fmt.Sprintf("a whole step from our own kernels, run here: %.2f× the layout floor at the read ceiling beside it%s", s.OverFloor, unlessGood(s.Verdict)),
			Kind: RowFloor, Value: s.Ms / pt.AcceptedTokens})
	}
	return append(rows, bestRow(run, pt))
}

// attained says what a whole step of our own kernels took, if one ran.
func attained(pt *RunPoint) string {
	if pt.Step == nil {
		return ""
	}
	return fmt.Sprintf(" A whole step of our own kernels takes %s ms here%s.", millis(pt.Step.Ms), unlessGood(pt.Step.Verdict))
}

// stepRatio is how much of the measured time the attainable step takes.
func stepRatio(pt *RunPoint) string {
	if pt.Measured == nil {
		return absent
	}
	return percent(pt.Step.Ms / pt.AcceptedTokens / pt.Measured.ValueMs)
}

func unlessGood(verdict string) string {
	if verdict == "good" {
		return ""
	}
	return ", " + OneLine(verdict, longName)
}

// attainable is the highest floor at probed ceilings.
func attainable(o *Operating) (FloorName, bool) {
	for i := len(FloorKinds) - 1; i >= 0; i-- {
		if n := (FloorName{FloorKinds[i], "probed"}); o.Floor(n) != nil {
			return n, true
		}
	}
	return FloorName{}, false
}

func floorRow(pt *RunPoint, n FloorName) (HeadRow, bool) {
	f := pt.Floor(n)
	if f == nil {
		return HeadRow{}, false
	}
	row := HeadRow{Name: n.Kind + " floor", Ms: millis(f.MsPerToken), TokS: rate(f.TokPerS),
		Ratio: absent, Text: floorText(pt, n, f), Kind: RowFloor, Value: f.MsPerToken}
	if e := efficiency(pt, n); e != nil {
		row.Ratio = percent(e.Ratio)
	}
	return row, true
}

// floorText says what a floor counts.
func floorText(pt *RunPoint, n FloorName, f *Floor) string {
	switch n.Kind {
	case "ideal":
		return "every byte read once, split evenly" + perGPU(pt.WeightBytesIdeal)
	case "layout":
		return "what this engine's sharding reads" + perGPU(pt.WeightBytesLayout)
	}
	text := "layout"
	if f.CommMs > 0 {
		text += " + " + millis(f.CommMs) + " ms communication"
	}
	if f.LaunchMs > 0 {
		text += " + " + millis(f.LaunchMs) + " ms launches"
	}
	return text
}

func perGPU(bytes float64) string {
	if bytes <= 0 {
		return ""
	}
	return ": " + scaled(bytes, "B") + " of weights a GPU"
}

func measuredText(m *Measured) string {
	s := orAbsent(OneLine(m.Source, longName))
	if m.Requests != nil && *m.Requests > 0 {
		s += ", " + count(*m.Requests, "request")
	}
	s += ", TPOT " + name(m.Statistic)
	if m.Derived {
		s += ", computed from other fields"
	}
	if m.LoMs != nil && m.HiMs != nil {
		s += ", interval " + millis(*m.LoMs) + " to " + millis(*m.HiMs) + " ms"
	}
	return s
}

// tokens is the whole deployment's rate at a time per token and sequence.
func tokens(batch int, ms float64) float64 { return 1000 * float64(batch) / ms }
