package reports

import (
	"slices"
	"strings"
	"testing"
)

func TestCells(t *testing.T) {
	for _, shares := range [][]int{{}, {0}, {1000}, {0, 0, 5, 1000, 1000, 1000, 7, 7, 0, 1000}, {1, 0, 0, 1000}} {
		p := TimelinePart{Cells: Cells(shares)}
		if len(shares) == 0 {
			if p.Cells != "" {
				t.Errorf("%q of nothing", p.Cells)
			}
			continue
		}
		got, err := p.Permille(len(shares))
		if err != nil || !slices.Equal(got, shares) {
			t.Errorf("%q reads as %v, want %v (%v)", p.Cells, got, shares, err)
		}
	}
	if got := Cells([]int{0, 0, 5, 1000, 1000, 1000, 7, 7, 0, 1000}); got != "2=5 3x3 6x2=7 9" {
		t.Error(got)
	}
	for _, cells := range []string{"x", "1x", "-1", "0 0", "3x2 4", "0=1001", "0=-1", "9x2", "0x0", "0x-1", "10", "9223372036854775807x9223372036854775807", strings.Repeat("9", 50)} {
		if v, err := (&TimelinePart{Cells: cells}).Permille(10); err == nil {
			t.Errorf("%q reads as %v", cells, v)
		}
	}
	if _, err := (&TimelinePart{}).Permille(1 << 40); err == nil {
		t.Error("any number of columns is taken")
	}
}

// TestTracedCheck refuses a step whose parts do not add up to it.
func TestTracedCheck(t *testing.T) {
	good := func() *Traced {
		return &Traced{Steps: []TracedStep{{MedianMs: 2, IdleMs: map[string]float64{"graph_gap": 0.5}, Operations: []TracedOperation{{Ms: 1.5, Count: 1}}}},
			Timeline: &Timeline{LengthMs: 2, Bins: 4, Rows: []TimelineRow{{Parts: []TimelinePart{{Cells: "0x4"}}}}}}
	}
	if err := good().check("traced"); err != nil {
		t.Fatal(err)
	}
	for what, change := range map[string]func(*Traced){
		"median": func(r *Traced) { r.Steps[0].MedianMs = 2.01 }, "operation": func(r *Traced) { r.Steps[0].Operations[0].Ms = -1 },
		"idle": func(r *Traced) { r.Steps[0].IdleMs["graph_gap"] = -0.5 }, "cells": func(r *Traced) { r.Timeline.Rows[0].Parts[0].Cells = "9" },
		"length": func(r *Traced) { r.Timeline.LengthMs = 0 }, "rows": func(r *Traced) { r.Timeline.Rows = make([]TimelineRow, MaxTimelineRows+1) },
		"bins": func(r *Traced) { r.Timeline.Bins = 0 },
	} {
		r := good()
		change(r)
		if err := r.check("traced"); err == nil {
			t.Errorf("%s changed, and nothing is said", what)
		}
	}
}
