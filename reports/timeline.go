package reports

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Timeline is a step as it is drawn: time runs over Bins columns of equal
// width, so that a step of any number of operations takes the same room.
type Timeline struct {
	LengthMs float64       `json:"length_ms"`
	Bins     int           `json:"bins"`
	Rows     []TimelineRow `json:"rows"`           // from the top
	Gaps     []TimelineGap `json:"gaps,omitempty"` // the longest, by start
}

// TimelineRow is a stream of a device, its idle time, or the host's calls.
type TimelineRow struct {
	Rank   int            `json:"rank"`
	Device int            `json:"device"`
	Kind   string         `json:"kind"` // stream, idle, host
	Name   string         `json:"name"` // "stream 7"
	Parts  []TimelinePart `json:"parts"`
}

// The kinds of rows.
const (
	RowStream = "stream"
	RowIdle   = "idle"
	RowHost   = "host"
)

// The kinds of calls in a row of the host.
const (
	CallLaunches = "launch calls"
	CallWaits    = "waiting for the GPU"
)

// TimelinePart is what one component, kind of gap or kind of call takes of a
// row.
type TimelinePart struct {
	Of    string  `json:"of"`
	Count int64   `json:"count"`
	Ms    float64 `json:"ms"` // in this row, overlap counted twice
	// Cells are the columns of time it has a share of, in order and one space
	// apart: FIRST[xCOLUMNS][=PERMILLE]. Without PERMILLE they are full.
	Cells string `json:"cells"`
}

// TimelineGap is a gap without any operation on its device.
type TimelineGap struct {
	Rank    int     `json:"rank"`
	Device  int     `json:"device"`
	StartMs float64 `json:"start_ms"` // after the step's start
	Ms      float64 `json:"ms"`
	Of      string  `json:"of"`               // the kind of gap
	Before  string  `json:"before,omitempty"` // the operation that ended it
}

// Bounds of a timeline.
const (
	MaxTimelineBins = 4096
	MaxTimelineRows = 64
)

// Permille is a part's share of each of bins columns, 0 to 1000.
func (p *TimelinePart) Permille(bins int) ([]int, error) {
	if bins < 1 || bins > MaxTimelineBins {
		return nil, fmt.Errorf("%d columns, expected 1 to %d", bins, MaxTimelineBins)
	}
	out := make([]int, bins)
	next := 0
	for cell := range strings.FieldsSeq(p.Cells) {
		place, share, some := strings.Cut(cell, "=")
		first, columns, several := strings.Cut(place, "x")
		full, n := 1000, 1
		var err error
		at, err := strconv.Atoi(first)
		if some && err == nil {
			full, err = strconv.Atoi(share)
		}
		if several && err == nil {
			n, err = strconv.Atoi(columns)
		}
		if err != nil || at < next || n < 1 || n > bins || at > bins-n || full < 0 || full > 1000 {
			return nil, fmt.Errorf("cell %q, expected FIRST[xCOLUMNS][=PERMILLE] of %d columns, in order", OneLine(cell, 40), bins)
		}
		for i := range n {
			out[at+i] = full
		}
		next = at + n
	}
	return out, nil
}

// Cells spells shares of columns, 0 to 1000, as TimelinePart keeps them.
func Cells(permille []int) string {
	var b strings.Builder
	for i := 0; i < len(permille); {
		n := 1
		for i+n < len(permille) && permille[i+n] == permille[i] {
			n++
		}
		if permille[i] > 0 {
			if b.Len() > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(strconv.Itoa(i))
			if n > 1 {
				b.WriteString("x" + strconv.Itoa(n))
			}
			if permille[i] < 1000 {
				b.WriteString("=" + strconv.Itoa(permille[i]))
			}
		}
		i += n
	}
	return b.String()
}

func (t *Timeline) check(at string) error {
	if t.LengthMs <= 0 {
		return fmt.Errorf("%s.length_ms: %g, expected a time above 0", at, t.LengthMs)
	}
	if len(t.Rows) > MaxTimelineRows {
		return fmt.Errorf("%s.rows: %d, expected at most %d", at, len(t.Rows), MaxTimelineRows)
	}
	for i := range t.Rows {
		for k := range t.Rows[i].Parts {
			if _, err := t.Rows[i].Parts[k].Permille(t.Bins); err != nil {
				return fmt.Errorf("%s.rows[%d].parts[%d].cells: %w", at, i, k, err)
			}
		}
	}
	for i, g := range t.Gaps {
		if g.StartMs < 0 || g.Ms < 0 {
			return errors.New(at + ".gaps[" + strconv.Itoa(i) + "]: a time below 0")
		}
	}
	return nil
}
