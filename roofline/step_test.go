package roofline

import (
	"slices"
	"testing"
)

// TestWork counts each operand type once, in the order of first use: sums are
// the same bits every time.
func TestWork(t *testing.T) {
	var o Op
	o.Work.Add(FP8, 2)
	o.Work.Add(BF16, 3)
	o.Work.Add(FP8, 4)
	if want := (Work{{FP8, 6}, {BF16, 3}}); !slices.Equal(o.Work, want) || o.FLOPs() != 9 {
		t.Errorf("%v, %v in all; want %v, 9", o.Work, o.FLOPs(), want)
	}
}
