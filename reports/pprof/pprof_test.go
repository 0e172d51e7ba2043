package pprof

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/google/pprof/profile"

	"decodegap/reports"
	"decodegap/roofline"
)

// column is the index of a value in the samples of a profile, -1 without it.
func column(p *profile.Profile, name string) int {
	return slices.IndexFunc(p.SampleType, func(v *profile.ValueType) bool { return v.Type == name })
}

// frames are the names of a stack from the root.
func frames(s *profile.Sample) []string {
	var out []string
	for _, l := range s.Location {
		out = append(out, l.Line[0].Function.Name)
	}
	slices.Reverse(out)
	return out
}

func read(t *testing.T, b *bytes.Buffer) *profile.Profile {
	t.Helper()
	p, err := profile.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestRecord: of a captured step, the times add up to it, the floors to the
// components' and time − floor = gap, sample by sample.
func TestRecord(t *testing.T) {
	run, err := reports.ReadRun("../../testdata/runs/traced.json")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := Render(&b, run); err != nil {
		t.Fatal(err)
	}
	p := read(t, &b)
	time, floor, gap, count := column(p, "time"), column(p, "floor"), column(p, "gap"), column(p, "count")
	if time != 0 || floor < 0 || gap < 0 || count < 0 || p.DefaultSampleType != "time" {
		t.Fatalf("values %v, %s first", p.SampleType, p.DefaultSampleType)
	}
	step := run.Points[0].Traced.Steps[0]
	var times, floors, idle, operations int64
	for _, s := range p.Sample {
		if s.Value[time]-s.Value[floor] != s.Value[gap] {
			t.Errorf("%v: %d − %d ≠ %d", frames(s), s.Value[time], s.Value[floor], s.Value[gap])
		}
		times += s.Value[time]
		floors += s.Value[floor]
		stack := frames(s)
		if stack[0] != "rank 0" || !slices.Equal(s.Label["rank"], []string{"0"}) {
			t.Errorf("%v with labels %v is not of rank 0", stack, s.Label)
		}
		if stack[1] == "idle" {
			idle += s.Value[time]
			if len(stack) != 3 || s.Value[floor] != 0 || s.Value[count] <= 0 {
				t.Errorf("idle %v %v", stack, s.Value)
			}
			continue
		}
		operations += s.Value[count]
		if len(stack) != 4 || phaseOf(roofline.Component(stack[2])) != stack[1] {
			t.Errorf("%v, expected rank, phase, component, kernel", stack)
		}
	}
	var wantFloor, wantIdle float64
	for _, c := range run.Points[0].Components {
		wantFloor += c.Ms
	}
	for _, ms := range step.IdleMs {
		wantIdle += ms
	}
	var wantOperations int64
	for _, o := range step.Operations {
		wantOperations += o.Count
	}
	for name, v := range map[string][2]float64{
		"time": {float64(times) / 1e6, step.MedianMs}, "floor": {float64(floors) / 1e6, wantFloor}, "idle": {float64(idle) / 1e6, wantIdle},
	} {
		if v[1] <= 0 || math.Abs(v[0]-v[1]) > 1e-5 {
			t.Errorf("%s: %v ms, want %v", name, v[0], v[1])
		}
	}
	if operations != wantOperations || operations == 0 {
		t.Errorf("%d operations, want %d", operations, wantOperations)
	}
}

// TestFloors: a floor is shared by time, whole nanoseconds and none lost; what
// has no kernel keeps its floor; without floors there is no floor to read.
func TestFloors(t *testing.T) {
	step := reports.TracedStep{Rank: 2, Device: 1, MedianMs: 0.0001, IdleMs: map[string]float64{"graph_gap": 0.000003}, IdleGaps: map[string]int{"graph_gap": 2},
		Operations: []reports.TracedOperation{
			{Component: "moe.experts", Name: "a", Count: 1, Ms: 0.00005}, {Component: "moe.experts", Name: "b", Count: 2, Ms: 0.00003},
			{Component: "moe.experts", Name: "c", Count: 3, Ms: 0.000016}, {Component: "norm", Name: "norm", Count: 1, Ms: 0.000001},
			{Component: "lm_head", Name: "hidden", Count: 1, Ms: 0},
		}}
	var b bytes.Buffer
	err := Profile{Steps: []reports.TracedStep{step, {Rank: 2, Device: 3}}, Floors: map[roofline.Component]float64{"moe.experts": 0.00001, "lm_head": 0.000004, "ssm": 0.000007}}.Write(&b)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]int64{}
	for _, s := range read(t, &b).Sample {
		f := frames(s)
		if f[0] == "rank 2, device 1" {
			got[f[len(f)-2]+"/"+f[len(f)-1]] = s.Value
		}
	}
	for name, want := range map[string][]int64{
		"moe.experts/a": {50, 5, 45, 1}, "moe.experts/b": {30, 3, 27, 2}, "moe.experts/c": {16, 2, 14, 3}, "norm/norm": {1, 0, 1, 1},
		"lm_head/hidden": {0, 0, 0, 1}, "lm_head/" + notSeen: {0, 4, -4, 0}, "ssm/" + notSeen: {0, 7, -7, 0}, "idle/idle: gaps inside a graph": {3, 0, 3, 2},
	} {
		if !slices.Equal(got[name], want) {
			t.Errorf("%s: %v, want %v", name, got[name], want)
		}
		delete(got, name)
	}
	if len(got) > 0 {
		t.Errorf("and also %v", got)
	}
	b.Reset()
	if err := (Profile{Steps: []reports.TracedStep{step}}).Write(&b); err != nil {
		t.Fatal(err)
	}
	if p := read(t, &b); column(p, "floor") >= 0 || column(p, "gap") >= 0 || len(p.SampleType) != 2 {
		t.Errorf("values %v where no floor is known", p.SampleType)
	}
}

// TestPhases gives every component a phase.
func TestPhases(t *testing.T) {
	for _, c := range roofline.Components {
		if got := phaseOf(c.Name); got == "not classified" && c.Name != roofline.Other {
			t.Errorf("%s has no phase", c.Name)
		}
	}
}

func TestNoTrace(t *testing.T) {
	if err := Render(&bytes.Buffer{}, &reports.Run{Points: []reports.RunPoint{{}}}); !errors.Is(err, ErrNoTrace) {
		t.Errorf("%v, expected that there is no trace", err)
	}
}
