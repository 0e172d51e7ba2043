package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"decodegap/cmd/internal/assemble"
	"decodegap/reports"
	"decodegap/roofline"
)

// chromeEvent is one line of the Chrome trace event format, which Perfetto
// reads. Times are µs with three decimals: whole nanoseconds.
type chromeEvent struct {
	Ph    string         `json:"ph"`
	Pid   int            `json:"pid"`
	Tid   int64          `json:"tid"`
	Ts    json.Number    `json:"ts,omitempty"`
	Dur   json.Number    `json:"dur,omitempty"`
	Cat   string         `json:"cat,omitempty"`
	Name  string         `json:"name"`
	CName string         `json:"cname,omitempty"`
	Args  map[string]any `json:"args,omitempty"`
}

// writeTracePerfetto writes the median step for ui.perfetto.dev and
// chrome://tracing: a process a rank, a thread a stream, and one for the gaps.
// Both colour a slice by what it is called, so it is called as its component,
// and the kernel is among its arguments. A trace without steps is an error.
func writeTracePerfetto(w io.Writer, made tracedRun) error {
	views := made.trace.StepViews()
	if len(views) == 0 {
		return errors.New("no decode step was found that could be drawn; name the annotation of a step with --step")
	}
	out := bufio.NewWriter(w)
	shown := views[0]
	other, err := json.Marshal(map[string]any{
		"step": shown.Index, "steps": shown.Of, "found_by": shown.FoundBy, "rank": shown.Rank, "device": shown.Device,
		"step_us": microseconds(shown.Length),
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "{\"displayTimeUnit\":\"ns\",\"otherData\":%s,\"traceEvents\":[", other)
	separator := "\n"
	threads := newThreadIDs()
	for _, v := range views {
		for _, e := range viewEvents(v, threads) {
			line, err := json.Marshal(e)
			if err != nil {
				return err
			}
			out.WriteString(separator)
			out.Write(line)
			separator = ",\n"
		}
	}
	out.WriteString("\n]}\n")
	return out.Flush()
}

// viewEvents are a device's slices, the names of their threads first.
func viewEvents(v assemble.StepView, threads *threadIDs) []chromeEvent {
	device := fmt.Sprintf("device %d", v.Device)
	if v.Name != "" {
		device += " (" + reports.OneLine(v.Name, 100) + ")"
	}
	meta := []chromeEvent{{Ph: "M", Pid: v.Rank, Name: "process_name", Args: map[string]any{"name": fmt.Sprintf("rank %d", v.Rank)}}}
	var drawn []chromeEvent
	lanes := map[int64][]int64{} // by stream: where each lane's last slice ends
	thread := func(stream int64, lane int, name string) int64 {
		id, fresh := threads.of(threadKey{v.Rank, v.Device, stream, lane})
		if fresh {
			meta = append(meta, chromeEvent{Ph: "M", Pid: v.Rank, Tid: id, Name: "thread_name", Args: map[string]any{"name": name}})
		}
		return id
	}
	for _, op := range v.Operations {
		// Slices of one thread must not overlap: they would be taken for nested.
		lane := 0
		for lane < len(lanes[op.Stream]) && lane < maxLanes-1 && lanes[op.Stream][lane] > op.Start {
			lane++
		}
		if lane == len(lanes[op.Stream]) {
			lanes[op.Stream] = append(lanes[op.Stream], 0)
		}
		name := fmt.Sprintf("%s stream %d", device, op.Stream)
		if lane > 0 {
			name += fmt.Sprintf(", overlapping (%d)", lane+1)
		}
		lanes[op.Stream][lane] = max(op.End, lanes[op.Stream][lane])
		args := map[string]any{"kernel": reports.OneLine(op.Name, 0), "exclusive_us": microseconds(op.Own)}
		if op.Library != "" {
			args["library"] = op.Library
		}
		if op.Whole != op.End-op.Start {
			args["uncut_us"] = microseconds(op.Whole)
		}
		drawn = append(drawn, chromeEvent{Ph: "X", Pid: v.Rank, Tid: thread(op.Stream, lane, name), Ts: microseconds(op.Start),
			Dur: microseconds(op.End - op.Start), Cat: "gpu", Name: string(op.Component), CName: componentColour(op.Component), Args: args})
	}
	for _, g := range v.Gaps {
		drawn = append(drawn, chromeEvent{Ph: "X", Pid: v.Rank, Tid: thread(0, gapLane, device+" idle"), Ts: microseconds(g.Start),
			Dur: microseconds(g.End - g.Start), Cat: "idle", Name: "idle: " + string(g.Cause), CName: "grey"})
	}
	return append(meta, drawn...)
}

// microseconds spells whole nanoseconds as µs.
func microseconds(ns int64) json.Number {
	return json.Number(fmt.Sprintf("%d.%03d", ns/1000, ns%1000))
}

// gapLane is the lane of a device's idle time.
const gapLane = -1

type threadKey struct {
	rank, device int
	stream       int64
	lane         int
}

// maxLanes bounds the threads of one stream: a device runs at most 128 kernels
// at once. What overlaps more is drawn on the last one.
const maxLanes = 128

// threadIDs gives each lane a thread of its own within its rank: the stream's
// number where that is free and small enough for every viewer.
type threadIDs struct {
	ids  map[threadKey]int64
	used map[[2]int64]bool // by rank and thread
	next int64             // of those beyond the streams' numbers
}

func newThreadIDs() *threadIDs {
	return &threadIDs{ids: map[threadKey]int64{}, used: map[[2]int64]bool{}, next: firstExtra}
}

// firstExtra is the first thread that is no stream's number.
const firstExtra = 1 << 30

func (t *threadIDs) of(key threadKey) (id int64, fresh bool) {
	if id, ok := t.ids[key]; ok {
		return id, false
	}
	rank := int64(key.rank)
	if id = key.stream; key.lane != 0 || id < 0 || id >= firstExtra || t.used[[2]int64{rank, id}] {
		id = t.next
		t.next++
	}
	t.ids[key], t.used[[2]int64{rank, id}] = id, true
	return id, true
}

// componentColours are names of chrome://tracing's palette by the beginning of
// a component; Perfetto has colours of its own.
var componentColours = []struct{ prefix, colour string }{
	{"attention.", "rail_response"},
	{"kv.", "rail_load"},
	{"ssm", "rail_animation"},
	{"mlp.", "thread_state_running"},
	{"moe.", "thread_state_runnable"},
	{"comm.", "terrible"},
	{"mem", "yellow"},
	{"lm_head", "olive"},
	{"sampling", "startup"},
	{"norm", "cq_build_passed"},
	{"other", "black"},
}

func componentColour(c roofline.Component) string {
	for _, known := range componentColours {
		if strings.HasPrefix(string(c), known.prefix) {
			return known.colour
		}
	}
	return "generic_work"
}
