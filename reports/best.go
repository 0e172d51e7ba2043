package reports

import (
	"fmt"
	"slices"
	"strings"
)

// bestRow sets the measurement against the best public result at the same
// concurrency, GPU count and kind of decoding; without one it claims nothing.
func bestRow(run *Run, pt *RunPoint) HeadRow {
	row := HeadRow{Name: "best known", Ms: absent, TokS: absent}
	best := bestRecord(run, pt)
	if best == nil {
		row.Text = "no public result for this model class, hardware, batch and kind of decoding is known to this version"
		return row
	}
	ms := recordMs(best)
	row.Ms, row.TokS, row.Value = millis(ms), rate(best.OutputTokPerS), ms
	row.Text = fmt.Sprintf("public: %s on %d × %s, %s, %s", name(best.Model), best.GPUs, name(best.Hardware),
		name(best.Engine), decoding(best.Speculation))
	if at, _, _ := strings.Cut(best.Note, ";"); at != "" {
		row.Text += " (" + name(at) + ")"
	}
	if m := pt.Measured; m != nil {
		if behind := m.ValueMs / ms; behind >= 1 {
			row.Claim = "you are " + times(behind) + " behind"
		} else {
			row.Claim = "you are " + times(1/behind) + " ahead"
		}
	}
	return row
}

// BestKnownMs is the best publicly known time per token, in ms, at the point's
// batch, on as many of the same GPUs and with the same kind of decoding.
func BestKnownMs(run *Run, pt *RunPoint) (float64, bool) {
	b := bestRecord(run, pt)
	if b == nil {
		return 0, false
	}
	return recordMs(b), true
}

func bestRecord(run *Run, pt *RunPoint) *Best {
	var best *Best
	for i := range run.Records {
		b := &run.Records[i]
		same := b.Concurrency == pt.Batch && b.GPUs == run.Hardware.Count && b.OutputTokPerS > 0 &&
			unspeculated(b.Speculation) == (pt.DraftTokens == 0)
		if same && (best == nil || better(b, best, run.Model.Name)) {
			best = b
		}
	}
	return best
}

// better prefers the very model, then the faster result.
func better(a, b *Best, model string) bool {
	if ours, theirs := strings.EqualFold(a.Model, model), strings.EqualFold(b.Model, model); ours != theirs {
		return ours
	}
	return a.OutputTokPerS > b.OutputTokPerS
}

func recordMs(b *Best) float64 {
	if b.MsPerToken != nil && *b.MsPerToken > 0 {
		return *b.MsPerToken
	}
	return 1000 * float64(b.Concurrency) / b.OutputTokPerS
}

// unspeculated says whether the record states that nothing was drafted; a
// record that states nothing is not taken for one.
func unspeculated(s string) bool {
	return slices.Contains([]string{"none", "no", "off", "without"}, strings.ToLower(strings.TrimSpace(s)))
}

func decoding(s string) string {
	switch {
	case unspeculated(s):
		return "no speculation"
	case strings.TrimSpace(s) == "":
		return "speculation not stated"
	}
	return "speculation: " + name(s)
}

func records(run *Run) []Block {
	if len(run.Records) == 0 {
		return []Block{Paragraph("No public result for this model class and hardware is known to this version.")}
	}
	t := &Table{ID: "records", Title: "Public results for this model class and hardware", Columns: []Column{
		{Title: "model"}, {Title: "concurrency", Right: true}, {Title: "tok/s", Right: true}, {Title: "ms/token", Right: true},
		{Title: "speculation"}, {Title: "engine"}, {Title: "machine"}, {Title: "source"},
	}, Note: "ms/token = 1000 · concurrency ÷ output tok/s: it holds a share of prefill, so decode alone was faster."}
	for _, b := range run.Records {
		ms := absent
		if b.MsPerToken != nil || b.OutputTokPerS > 0 {
			ms = millis(recordMs(&b))
		}
		t.Rows = append(t.Rows, Row{Cells: []string{name(b.Model), whole(int64(b.Concurrency)), rate(b.OutputTokPerS), ms,
			orAbsent(name(b.Speculation)), orAbsent(name(b.Engine)), fmt.Sprintf("%d × %s", b.GPUs, name(b.Hardware)),
			joined(" · ", orAbsent(b.Source), text(b.Note))}})
	}
	t.lift(6)
	t.lift(0)
	return []Block{t}
}

// lift takes a column that says the same in every row into the title.
func (t *Table) lift(column int) {
	if len(t.Rows) < 2 {
		return
	}
	for _, r := range t.Rows[1:] {
		if r.Cells[column] != t.Rows[0].Cells[column] {
			return
		}
	}
	t.Title += ", " + t.Columns[column].Title + " " + t.Rows[0].Cells[column]
	t.Columns = slices.Delete(slices.Clone(t.Columns), column, column+1)
	for i, r := range t.Rows {
		t.Rows[i].Cells = slices.Delete(r.Cells, column, column+1)
	}
}
