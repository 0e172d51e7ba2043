package reports

import (
	"fmt"
	"maps"
	"slices"
)

// seriesPerTable is how many series stand side by side before the table goes
// on below.
const seriesPerTable = 3

// maxSeries bounds what a page shows of a hostile or huge record; the JSON and
// CSV formats have the rest.
const maxSeries = 60

// series is the benchmark series side by side, with what may be concluded.
func series(run *Run) []Block {
	if len(run.Series) == 0 && run.Comparison == nil {
		return nil
	}
	blocks := []Block{verdict(run.Comparison), legend(run.Series), Figure{Kind: FigureThroughput}}
	if len(run.Series) == 0 {
		blocks = blocks[:1]
	}
	for start := 0; start < min(len(run.Series), maxSeries); start += seriesPerTable {
		blocks = append(blocks, seriesTable(run, start, min(start+seriesPerTable, len(run.Series))))
	}
	if len(run.Series) > maxSeries {
		blocks = append(blocks, Paragraph(fmt.Sprintf("%d more series are in the record.", len(run.Series)-maxSeries)))
	}
	return append(blocks, crossovers(run.Comparison))
}

func verdict(c *Comparison) Block {
	if c == nil {
		return Paragraph("")
	}
	if c.Comparable {
		return Paragraph("The series are comparable: nothing that the record knows of differs beside what was compared.")
	}
	out := List{Items: []Item{{Tag: "not comparable", Warn: true,
		Text: "The series were not taken under the same conditions: a difference between them may come from these, not from what was meant to be compared."}}}
	for _, r := range c.Reasons {
		out.Items = append(out.Items, Item{Text: text(r)})
	}
	return out
}

// letter stands for a series where its name is too long: A … Z, then S27 on.
func letter(i int) string {
	if i < 26 {
		return string(rune('A' + i))
	}
	return fmt.Sprintf("S%d", i+1)
}

func legend(all []Series) Block {
	var out List
	for i, s := range all[:min(len(all), maxSeries)] {
		item := Item{Tag: letter(i), Text: orAbsent(name(s.Name)), Notes: []string{joined(" · ", text(s.Source), name(s.Tool), count(len(s.Points), "point"))}}
		var facts []string
		for _, key := range slices.Sorted(maps.Keys(s.Facts)) {
			facts = append(facts, name(key)+"="+name(s.Facts[key]))
		}
		if len(facts) > 0 {
			item.Notes = append(item.Notes, OneLine(joined(", ", facts...), longText))
		}
		out.Items = append(out.Items, item)
	}
	return out
}

// seriesTable has one row a concurrency and, for each series, its rate, its
// change against the first and its mean TPOT.
func seriesTable(run *Run, from, to int) *Table {
	t := &Table{ID: fmt.Sprintf("series-%d", from), Title: "Output tok/s and TPOT over concurrency", Columns: []Column{{Title: "concurrency", Right: true}}}
	for i := from; i < to; i++ {
		group, short := letter(i)+" · "+OneLine(run.Series[i].Name, 40), letter(i)
		t.Columns = append(t.Columns, Column{Title: "tok/s", Group: group, Short: short, Right: true})
		if i > 0 {
			t.Columns = append(t.Columns, Column{Title: "change", Group: group, Short: short, Right: true})
		}
		t.Columns = append(t.Columns, Column{Title: "TPOT ms", Group: group, Short: short, Right: true})
	}
	if run.Comparison != nil {
		t.Columns = append(t.Columns, Column{Title: "verdict"})
	}
	for _, at := range concurrencies(run.Series) {
		row := Row{Cells: []string{plain(at)}}
		compared := comparedAt(run.Comparison, at)
		for i := from; i < to; i++ {
			p := pointAt(&run.Series[i], at)
			var tok, tpot *float64
			if p != nil {
				tok, tpot = p.OutputTokPerS, p.TPOT.Mean
				if tpot == nil {
					tpot = p.TPOT.Median
				}
			}
			row.Cells = append(row.Cells, optional(tok, plain))
			if i > 0 {
				var pct *float64
				if compared != nil && i < len(compared.ChangePct) {
					pct = compared.ChangePct[i]
				}
				row.Cells = append(row.Cells, optional(pct, change))
			}
			row.Cells = append(row.Cells, optional(tpot, plain))
		}
		if run.Comparison != nil {
			verdict := absent
			if compared != nil {
				verdict = orAbsent(verdictText(compared.Verdict))
			}
			row.Cells = append(row.Cells, verdict)
		}
		t.Rows = append(t.Rows, row)
	}
	t.Note = "Change is against " + letter(0) + ". TPOT is the source's mean, its median where it states no mean. Output tok/s of a benchmark counts prefill and waiting too: it is not 1000 · concurrency ÷ TPOT."
	return t
}

func verdictText(v string) string {
	if v == "not_comparable" {
		return "not comparable"
	}
	return name(v)
}

// concurrencies of all series, ascending, each once.
func concurrencies(all []Series) []float64 {
	var out []float64
	for _, s := range all {
		for _, p := range s.Points {
			out = append(out, p.Concurrency)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func pointAt(s *Series, concurrency float64) *SeriesPoint {
	for i := range s.Points {
		if s.Points[i].Concurrency == concurrency {
			return &s.Points[i]
		}
	}
	return nil
}

func comparedAt(c *Comparison, concurrency float64) *CompareRow {
	if c == nil {
		return nil
	}
	for i := range c.Rows {
		if c.Rows[i].Concurrency == concurrency {
			return &c.Rows[i]
		}
	}
	return nil
}

func crossovers(c *Comparison) Block {
	var out List
	if c == nil {
		return out
	}
	for _, x := range c.Crossovers {
		s := text(x.Text)
		if s == "" {
			s = fmt.Sprintf("%s and %s change places near concurrency %s", name(x.A), name(x.B), plain(x.At))
		}
		out.Items = append(out.Items, Item{Tag: "crossover", Text: s,
			Notes: []string{fmt.Sprintf("between measured concurrencies %s and %s; log-interpolated at %s", plain(x.Between[0]), plain(x.Between[1]), roughly(x.At))}})
	}
	return out
}
