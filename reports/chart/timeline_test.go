package chart

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"decodegap/reports"
)

// step is a small timeline with all that one may have.
func step() *reports.Timeline {
	return &reports.Timeline{LengthMs: 2, Bins: 40, Rows: []reports.TimelineRow{
		{Kind: reports.RowHost, Name: "host", Parts: []reports.TimelinePart{
			{Of: reports.CallWaits, Count: 1, Ms: 1, Cells: "20x20"}, {Of: reports.CallLaunches, Count: 3, Ms: 0.4, Cells: "0x6 7=500"}}},
		{Kind: reports.RowStream, Name: "stream 7", Parts: []reports.TimelinePart{
			{Of: "moe.experts", Count: 90, Ms: 0.7, Cells: "8x10 20=700 21=300"}, {Of: "norm", Count: 90, Ms: 0.1, Cells: "20=300 21x3=700"},
			{Of: "ssm", Count: 1, Ms: 0.1, Cells: "30x2"}}},
		{Kind: reports.RowStream, Name: "stream 13", Parts: []reports.TimelinePart{{Of: "comm.allreduce", Count: 2, Ms: 0.2, Cells: "12x4"}}},
		{Kind: reports.RowIdle, Name: "idle", Parts: []reports.TimelinePart{
			{Of: "launch_bound", Count: 1, Ms: 0.4, Cells: "0x8"}, {Of: "graph_gap", Count: 40, Ms: 0.3, Cells: "18x2 22x3=300"}, {Of: "unknown", Count: 1, Ms: 0.2, Cells: "34x4"}}},
	}, Gaps: []reports.TimelineGap{{StartMs: 0, Ms: 0.4, Of: "launch_bound", Before: "fused_moe_kernel<64>"}, {StartMs: 1.7, Ms: 0.2, Of: "unknown"}}}
}

func TestTimelineGolden(t *testing.T) {
	run := traced()
	run.Points[0].Traced = &reports.Traced{Timeline: step()}
	f, err := Timeline(run, 0)
	if err != nil || f == nil {
		t.Fatal(f, err)
	}
	svg, err := f.SVG()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"stream 7 · moe.experts: 0.700 ms in 90 operations", "idle for 0.400 ms from 0.000 ms: launched late by the host; before fused_moe_kernel&lt;64&gt;",
		"host · waiting for the GPU: 1.000 ms in 1 call", "idle: gaps inside a graph: 0.300 ms",
	} {
		if !strings.Contains(svg, want) {
			t.Errorf("the drawing does not say %q", want)
		}
	}
	path := filepath.Join("testdata", "traced-timeline.svg")
	if *update {
		if err := os.WriteFile(path, []byte(svg), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	golden, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (run the test with -update to write it)", err)
	}
	if diff := cmp.Diff(strings.Split(string(golden), "\n"), strings.Split(svg, "\n")); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", path, diff)
	}
}

// TestTimelineColours: a component has the colour here that it has in the
// figure of the floor.
func TestTimelineColours(t *testing.T) {
	run := traced()
	parts := partsOf(run.Points[0].Components)
	inks := componentInks(step(), parts)
	if len(inks) != 4 {
		t.Errorf("%d colours of four components", len(inks))
	}
	for _, p := range parts {
		if ink, ok := inks[p.name]; ok && !p.rest && ink != p.ink {
			t.Errorf("%s is %v here and %v there", p.name, ink, p.ink)
		}
	}
}

// TestTimelineSize: a drawing of the most crowded step has a bound, whatever
// the number of its operations.
func TestTimelineSize(t *testing.T) {
	crowded := &reports.Timeline{LengthMs: 300, Bins: 1120}
	for r := range 4 {
		row := reports.TimelineRow{Kind: reports.RowStream, Name: fmt.Sprintf("stream %d", r)}
		for part := range 10 {
			shares := make([]int, 1120)
			for i := range shares {
				shares[i] = (i*37 + part*13) % 100
			}
			row.Parts = append(row.Parts, reports.TimelinePart{Of: fmt.Sprintf("c%d", part), Count: 2500, Ms: 15, Cells: reports.Cells(shares)})
		}
		crowded.Rows = append(crowded.Rows, row)
	}
	f, err := TimelineOf(crowded)
	if err != nil {
		t.Fatal(err)
	}
	svg, err := f.SVG()
	if err != nil {
		t.Fatal(err)
	}
	if len(svg) > 3<<20 {
		t.Errorf("%d bytes of SVG", len(svg))
	}
	crowded.Bins = 0
	if _, err := TimelineOf(crowded); err == nil {
		t.Error("no columns, and drawn all the same")
	}
	if f, err := TimelineOf(nil); f != nil || err != nil {
		t.Error("a drawing of nothing")
	}
}
