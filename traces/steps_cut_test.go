package traces

import (
	"slices"
	"testing"
)

// TestTruncatedSteps: of a file that was cut, steps at its end that lack work do
// not count; in one that was not, they do.
func TestTruncatedSteps(t *testing.T) {
	for _, c := range []struct {
		what      string
		kernels   []int // of each step
		truncated bool
		aside     []int
		median    int64 // µs
		note      string
	}{
		{"last step cut", []int{100, 30}, true, []int{1}, 1000, "step-cut-off"},
		{"the same in a whole file", []int{100, 30}, false, nil, 299, "last-step-open"},
		{"cut behind the last step", []int{100, 100}, true, nil, 999, "last-step-open"},
		{"one operation is missing", []int{100, 100, 99}, true, []int{2}, 1000, "step-cut-off"},
		{"two steps are cut", []int{100, 100, 100, 70, 3}, true, []int{3, 4}, 1000, "step-cut-off"},
		{"an eager step of few more", []int{100, 97, 100, 100}, true, nil, 1000, "last-step-open"},
		{"only step", []int{100}, true, nil, 999, "step-cut-off"},
	} {
		w, at := newWorld(0), int64(0)
		w.Truncated = c.truncated
		for k, n := range c.kernels {
			for i := range n {
				w.kernel("k", at+int64(i)*10*us, 9*us, 0)
			}
			w.mark(GPURange, "decode_step", at, at+1000*us, uint64(k+1))
			at += 1000 * us
		}
		s, err := FindSteps(w.Device)
		if err != nil {
			t.Fatal(c.what, err)
		}
		var aside []int
		for i, st := range s.All {
			if st.Aside == "cut off" {
				aside = append(aside, i)
			}
		}
		if !slices.Equal(aside, c.aside) || s.Step().Wall() != c.median*us {
			t.Errorf("%s: steps %v aside, median %d ns; want %v, %d µs", c.what, aside, s.Step().Wall(), c.aside, c.median)
		}
		if !slices.ContainsFunc(s.Notes, func(n Warning) bool { return n.Code == c.note }) {
			t.Errorf("%s: notes %v, want %s", c.what, s.Notes, c.note)
		}
	}
}

// TestOverlappingMarks: shadows without an id that overlap are one step on
// several streams, or inside each other, and several on one stream.
func TestOverlappingMarks(t *testing.T) {
	type shadow struct{ stream, start, end int64 } // µs
	for _, c := range []struct {
		what    string
		shadows []shadow
		starts  []int64
	}{
		{"one mark on two streams", []shadow{{7, 0, 500}, {8, 100, 600}, {7, 1000, 1500}, {8, 1100, 1600}}, []int64{0, 1000}},
		{"on one stream", []shadow{{7, 0, 800}, {7, 500, 1300}, {7, 1000, 1800}}, []int64{0, 500, 1000}},
		{"inside itself", []shadow{{7, 0, 800}, {7, 100, 300}, {7, 1000, 1800}}, []int64{0, 1000}},
		{"the same again", []shadow{{7, 0, 800}, {7, 0, 800}, {7, 1000, 1800}}, []int64{0, 1000}},
	} {
		w := newWorld(0)
		for at := int64(0); at < 1900; at += 10 {
			w.kernel("k", at*us, 9*us, 0)
		}
		for _, s := range c.shadows {
			w.Ranges = append(w.Ranges, Event{Start: s.start * us, Dur: (s.end - s.start) * us, Kind: GPURange, Name: "decode_step", Stream: s.stream})
		}
		s, err := FindSteps(w.Device)
		if err != nil {
			t.Fatal(c.what, err)
		}
		var starts []int64
		for _, st := range s.All {
			starts = append(starts, st.Start/us)
		}
		if !slices.Equal(starts, c.starts) {
			t.Errorf("%s: steps start at %v µs, want %v", c.what, starts, c.starts)
		}
	}
}
