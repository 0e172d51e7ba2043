package kineto

import (
	"bytes"
	"maps"
	"slices"
)

// Bounds of the tables of labels; what comes after them is not told apart.
const (
	maxLabels  = 1 << 12
	firstNamed = 1 << 20 // numbers given to devices, streams and threads with names
)

// ranks tells processes apart: a file holds one rank, or several whose pids
// begin with a label such as [TP01-DP00].
type ranks struct {
	rank   int            // of the file, from distributedInfo
	labels map[string]int // label → rank
	taken  map[int]bool
	over   int64 // events whose label the table had no room for
	named  map[string]int64
	last   []byte // label looked up last, and its rank
	lastTo int
}

// of is the rank and number of a pid.
func (r *ranks) of(pid value) (rank int, number int64) {
	if pid.quoted && len(pid.raw) > 0 && pid.raw[0] == '[' {
		if end := bytes.IndexByte(pid.raw[:min(len(pid.raw), 64)], ']'); end > 0 {
			return r.label(pid.raw[1:end]), r.number(value{bytes.TrimSpace(pid.raw[end+1:]), true})
		}
	}
	return r.rank, r.number(pid)
}

// label is the rank of a label: its number where it has but one, else the next
// free one in order of appearance.
func (r *ranks) label(label []byte) int {
	if bytes.Equal(label, r.last) && r.last != nil {
		return r.lastTo
	}
	rank, ok := r.labels[string(label)]
	if !ok {
		if r.labels == nil {
			r.labels, r.taken = map[string]int{}, map[int]bool{}
		}
		if len(r.labels) >= maxLabels {
			r.over++
			return maxLabels
		}
		letters := bytes.TrimRight(label, "0123456789")
		n, one := value{raw: label[len(letters):]}.integer()
		if !one || n >= maxLabels || bytes.IndexByte(label, '-') >= 0 || r.taken[int(n)] {
			for n = 0; r.taken[int(n)]; n++ {
			}
		}
		rank = int(n)
		r.labels[string(label)] = rank
		r.taken[rank] = true
	}
	r.last, r.lastTo = append(r.last[:0], label...), rank
	return rank
}

// list is every rank the labels name, nil without labels.
func (r *ranks) list() []int { return slices.Sorted(maps.Keys(r.taken)) }

// number is the number of a device, stream or thread; one with a name instead
// gets a number of its own.
func (r *ranks) number(v value) int64 {
	if x, ok := v.integer(); ok {
		return x
	}
	if len(v.raw) == 0 {
		return 0
	}
	raw := v.raw[:min(len(v.raw), 64)]
	if n, ok := r.named[string(raw)]; ok {
		return n
	}
	n := int64(firstNamed + len(r.named))
	if len(r.named) < maxLabels {
		if r.named == nil {
			r.named = map[string]int64{}
		}
		r.named[string(raw)] = n
	}
	return n
}
