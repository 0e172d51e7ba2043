package assemble

import (
	"cmp"
	"fmt"
	"slices"

	"decodegap/reports"
)

// timelineBins is the columns of a drawn step: two for each point of a chart's
// width.
const timelineBins = 1120

// Bounds of what is drawn: beyond them there is nothing to be seen.
const (
	maxTimelineDevices = 4
	maxTimelineStreams = 4 // of a device, the busiest
	maxTimelineGaps    = 40
)

// Timeline bins the operations, gaps and calls of a step for drawing; nil
// without any.
func Timeline(views []StepView) *reports.Timeline {
	if len(views) == 0 || views[0].Length <= 0 {
		return nil
	}
	t := &reports.Timeline{LengthMs: inMs(views[0].Length), Bins: timelineBins}
	for _, v := range views[:min(len(views), maxTimelineDevices)] {
		row := func(kind, name string, b *binned) {
			if len(b.parts) > 0 {
				t.Rows = append(t.Rows, reports.TimelineRow{Rank: v.Rank, Device: v.Device, Kind: kind, Name: name, Parts: b.list()})
			}
		}
		host := newBinned(views[0].Length)
		for _, c := range v.Calls {
			of := reports.CallLaunches
			if c.Waits {
				of = reports.CallWaits
			}
			host.add(of, c.Start, c.End)
		}
		row(reports.RowHost, "host", host)
		streams, rest, more := v.streams()
		for _, s := range streams {
			row(reports.RowStream, fmt.Sprintf("stream %d", s.stream), s.binned)
		}
		if more > 0 {
			row(reports.RowStream, fmt.Sprintf("%d more", more), rest)
		}
		idle := newBinned(views[0].Length)
		for _, g := range v.Gaps {
			idle.add(string(g.Cause), g.Start, g.End)
		}
		row(reports.RowIdle, "idle", idle)
		t.Gaps = append(t.Gaps, v.longestGaps()...)
	}
	return t
}

// streamBins is one stream's row.
type streamBins struct {
	stream int64
	busy   int64
	*binned
}

// streams are the busiest streams by number, and the others in one row.
func (v *StepView) streams() (kept []streamBins, rest *binned, more int) {
	busy := map[int64]int64{}
	for _, op := range v.Operations {
		busy[op.Stream] += op.End - op.Start
	}
	for s, ns := range busy {
		kept = append(kept, streamBins{s, ns, newBinned(v.Length)})
	}
	slices.SortFunc(kept, func(a, b streamBins) int { return cmp.Or(cmp.Compare(b.busy, a.busy), cmp.Compare(a.stream, b.stream)) })
	if len(kept) > maxTimelineStreams {
		more = len(kept) - maxTimelineStreams
		kept = kept[:maxTimelineStreams]
	}
	slices.SortFunc(kept, func(a, b streamBins) int { return cmp.Compare(a.stream, b.stream) })
	rest = newBinned(v.Length)
	of := map[int64]*binned{}
	for _, s := range kept {
		of[s.stream] = s.binned
	}
	for _, op := range v.Operations {
		row := of[op.Stream]
		if row == nil {
			row = rest
		}
		row.add(string(op.Component), op.Start, op.End)
	}
	return kept, rest, more
}

// longestGaps are worth a word of their own each.
func (v *StepView) longestGaps() []reports.TimelineGap {
	gaps := slices.Clone(v.Gaps)
	slices.SortFunc(gaps, func(a, b ViewedGap) int {
		return cmp.Or(cmp.Compare(b.End-b.Start, a.End-a.Start), cmp.Compare(a.Start, b.Start))
	})
	gaps = gaps[:min(len(gaps), maxTimelineGaps)]
	slices.SortFunc(gaps, func(a, b ViewedGap) int { return cmp.Compare(a.Start, b.Start) })
	var out []reports.TimelineGap
	for _, g := range gaps {
		out = append(out, reports.TimelineGap{Rank: v.Rank, Device: v.Device, StartMs: inMs(g.Start), Ms: inMs(g.End - g.Start),
			Of: string(g.Cause), Before: reports.OneLine(g.Before, 200)})
	}
	return out
}

// binned adds up intervals in columns of time.
type binned struct {
	length int64
	parts  map[string]*binnedPart
}

type binnedPart struct {
	count, ns int64
	columns   []int64 // ns times the number of columns, so that edges need no rounding
}

func newBinned(length int64) *binned { return &binned{length, map[string]*binnedPart{}} }

func (b *binned) add(of string, start, end int64) {
	end = min(end, b.length)
	if start >= end || start < 0 {
		return
	}
	p := b.parts[of]
	if p == nil {
		p = &binnedPart{columns: make([]int64, timelineBins)}
		b.parts[of] = p
	}
	p.count++
	p.ns += end - start
	from, to := start*timelineBins, end*timelineBins
	for i := from / b.length; i < timelineBins; i++ {
		lo, hi := max(from, i*b.length), min(to, (i+1)*b.length)
		if hi <= lo {
			break
		}
		p.columns[i] += hi - lo
	}
}

// list is the parts by time, the longest first.
func (b *binned) list() []reports.TimelinePart {
	var out []reports.TimelinePart
	for of, p := range b.parts {
		shares := make([]int, timelineBins)
		for i, ns := range p.columns {
			if ns > 0 {
				shares[i] = int(min(1000, max(1, (1000*ns+b.length/2)/b.length)))
			}
		}
		out = append(out, reports.TimelinePart{Of: of, Count: p.count, Ms: inMs(p.ns), Cells: reports.Cells(shares)})
	}
	slices.SortFunc(out, func(a, b reports.TimelinePart) int { return cmp.Or(cmp.Compare(b.Ms, a.Ms), cmp.Compare(a.Of, b.Of)) })
	return out
}
