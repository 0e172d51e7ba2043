package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"decodegap/cmd/internal/assemble"
	"decodegap/roofline"
)

// drawn is a Chrome trace as a viewer reads it; times in µs.
type drawn struct {
	TraceEvents []struct {
		Ph, Name, Cat string
		Pid, Tid      int64
		Ts, Dur       float64
		Args          struct {
			Name, Kernel string
			ExclusiveUs  float64 `json:"exclusive_us"`
		}
	}
	OtherData struct {
		Rank   int
		StepUs float64 `json:"step_us"`
	}
}

func draw(t *testing.T, made tracedRun) drawn {
	t.Helper()
	var b bytes.Buffer
	if err := writeTracePerfetto(&b, made); err != nil {
		t.Fatal(err)
	}
	var d drawn
	if err := json.Unmarshal(b.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// TestTracePerfetto: the slices of the step add up to its components and idle
// times, lie inside it, and no two of a thread overlap.
func TestTracePerfetto(t *testing.T) {
	made := readTraces(t, "captured/llama8b_graph_b1.json.gz")
	d, step := draw(t, made), made.doc.Step
	sum, reached, named := map[string]float64{}, map[int64]float64{}, map[int64]bool{}
	for _, e := range d.TraceEvents {
		if e.Ph == "M" {
			named[e.Tid] = named[e.Tid] || e.Name == "thread_name" && e.Args.Name != ""
			continue
		}
		if e.Ph != "X" || e.Pid != 0 || !named[e.Tid] || e.Ts < 0 || e.Dur <= 0 || e.Ts+e.Dur > d.OtherData.StepUs+1e-6 {
			t.Fatalf("%+v in a step of %v µs", e, d.OtherData.StepUs)
		}
		if e.Ts < reached[e.Tid]-1e-6 {
			t.Errorf("%+v starts before %v, the end of the one before", e, reached[e.Tid])
		}
		reached[e.Tid] = e.Ts + e.Dur
		if e.Cat == "idle" {
			sum[strings.TrimPrefix(e.Name, "idle: ")] += e.Dur / 1e3
		} else if e.Args.Kernel == "" {
			t.Errorf("%+v names no kernel", e)
		} else {
			sum[e.Name] += e.Args.ExclusiveUs / 1e3
		}
	}
	if math.Abs(d.OtherData.StepUs/1e3-step.MedianMs) > 1e-9 || len(sum) < 10 {
		t.Errorf("a step of %v µs, want %v ms; %v", d.OtherData.StepUs, step.MedianMs, sum)
	}
	for _, parts := range []map[string]float64{step.ByComponentMs, step.IdleMs} {
		for name, ms := range parts {
			if math.Abs(sum[name]-ms) > 1e-6 {
				t.Errorf("%s: %v ms drawn, %v in the report", name, sum[name], ms)
			}
		}
	}
}

// TestTracePerfettoRanks: another rank is drawn on the same clock, so that
// both leave a collective together, whatever their clocks said.
func TestTracePerfettoRanks(t *testing.T) {
	files := make([]string, 2)
	for rank := range files {
		var b strings.Builder
		fmt.Fprintf(&b, `{"schemaVersion":1,"distributedInfo":{"rank":%d,"world_size":2},"traceEvents":[{"ph":"M","name":"process_name","pid":0,"args":{"name":"x"}}`, rank)
		at := 1000 + 777_000*rank // the second clock is 777 ms ahead
		for i := range 6 * 8 {
			event := func(name string, start, dur int) {
				fmt.Fprintf(&b, ",\n"+`{"ph":"X","cat":"kernel","name":%q,"pid":%d,"tid":7,"ts":%d,"dur":%d,"args":{"device":%d,"stream":7}}`, name, rank, start, dur, rank)
			}
			if i%8 == 0 {
				fmt.Fprintf(&b, ",\n"+`{"ph":"X","cat":"gpu_user_annotation","name":"ProfilerStep#%d","pid":%d,"tid":7,"ts":%d,"dur":%d,"args":{}}`, i/8, rank, at, 8*100)
			}
			event("gemm", at, 20+20*rank) // the second rank comes later
			event("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(x)", at+20+20*rank, 60-20*rank+i%3)
			at += 100 + i%5
		}
		b.WriteString("]}")
		files[rank] = filepath.Join(t.TempDir(), fmt.Sprintf("rank%d.json", rank))
		if err := os.WriteFile(files[rank], []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	made := readFiles(t, files...)
	ends := map[int64][]float64{}
	for _, e := range draw(t, made).TraceEvents {
		if e.Ph == "X" && e.Name == string(roofline.AllReduce) {
			ends[e.Pid] = append(ends[e.Pid], e.Ts+e.Dur)
		}
	}
	if len(ends[0]) == 0 || len(ends[0]) != len(ends[1]) {
		t.Fatalf("all-reduces by rank %v", ends)
	}
	for i := range ends[0] {
		if math.Abs(ends[0][i]-ends[1][i]) > 0.01 {
			t.Errorf("all-reduce %d ends at %v and %v µs", i, ends[0][i], ends[1][i])
		}
	}
}

// TestPerfettoThreads: overlapping operations of one stream, streams of two
// devices and wild stream numbers get threads of their own; hostile names
// stay text.
func TestPerfettoThreads(t *testing.T) {
	threads := newThreadIDs()
	wild := int64(math.MinInt64)
	seen := map[int64]string{}
	for device, stream := range []int64{7, 7, wild} {
		v := assemble.StepView{Device: device, Length: 10, Gaps: []assemble.ViewedGap{{Start: 9, End: 10}}, Operations: []assemble.ViewedOperation{
			{Start: 0, End: 5, Stream: stream, Name: "\x1b[31m\"</script>", Component: roofline.Norm},
			{Start: 3, End: 9, Stream: stream, Name: "b", Component: roofline.Norm},
			{Start: 5, End: 9, Stream: stream, Name: "c", Component: roofline.Norm},
		}}
		for _, e := range viewEvents(v, threads) {
			if text, err := json.Marshal(e); err != nil || bytes.ContainsAny(text, "\x1b<") || bytes.Contains(text, []byte(`\u001b`)) {
				t.Errorf("%s, %v", text, err)
			}
			if name, _ := e.Args["name"].(string); e.Name == "thread_name" {
				if seen[e.Tid] != "" || e.Tid < 0 || e.Tid > math.MaxInt32 {
					t.Errorf("thread %d is %q and %q", e.Tid, seen[e.Tid], name)
				}
				seen[e.Tid] = name
			}
		}
	}
	if len(seen) != 9 {
		t.Errorf("%d threads, want a stream, its second lane and the gaps on 3 devices: %v", len(seen), seen)
	}
}

// TestPerfettoLanes: however much of a stream overlaps, its threads are
// bounded and every operation is drawn.
func TestPerfettoLanes(t *testing.T) {
	const n = 3 * maxLanes
	v := assemble.StepView{Length: 2 * n}
	for i := range int64(n) {
		v.Operations = append(v.Operations, assemble.ViewedOperation{Start: i, End: i + n, Stream: 7, Name: "k", Component: roofline.Norm})
	}
	slices, threads := 0, map[int64]bool{}
	for _, e := range viewEvents(v, newThreadIDs()) {
		if e.Ph == "X" {
			slices++
			threads[e.Tid] = true
		}
	}
	if slices != n || len(threads) != maxLanes {
		t.Errorf("%d slices on %d threads, want %d on %d", slices, len(threads), n, maxLanes)
	}
}
