package gap

import (
	"fmt"
	"strings"

	"decodegap/roofline"
	"decodegap/roofline/unit"
)

// Traced is where one traced decode step's time went, exactly: the components
// and the idle times add up to Step.
type Traced struct {
	Step        Nanoseconds
	ByComponent map[roofline.Component]Nanoseconds // exclusive GPU time

	LaunchBound  Nanoseconds // the host's launch came late
	SyncBound    Nanoseconds // the host was waiting for the GPU
	GraphGap     Nanoseconds // between nodes of one graph replay
	BetweenSteps Nanoseconds
	Unknown      Nanoseconds // idle for a cause that the trace does not show

	CommWait *Nanoseconds // part of the comm.* times spent waiting for the slowest rank; nil: unknown
	Source   string

	// AttentionKernels counts the kernels in the step that are attention itself,
	// one or a few a layer; 0: none, or not counted.
	AttentionKernels int
}

// LaunchBound is the text of the rung of late launches.
const LaunchBound = "LAUNCH-BOUND: the GPU waits for the CPU's next launch"

// graphGaps is the text of the rung of gaps between a graph's kernels.
const graphGaps = "gaps between kernels inside a graph replay"

// ReplaysGraphs says whether a rung shows that the traced step replays graphs.
func ReplaysGraphs(text string) bool { return text == graphGaps }

// idle is all time the device did nothing.
func (t Traced) idle() Nanoseconds {
	return t.LaunchBound + t.SyncBound + t.GraphGap + t.BetweenSteps + t.Unknown
}

// traced turns a trace into rungs: per component what its kernels took beyond
// the layout floor, what communication took beyond its own, and each kind of
// idle time beyond the kernel boundaries that the latency floor counts. The
// rungs and the layout floor add up to the traced step; a measurement without
// the profiler then takes the profiler's cost out again.
func (e Evidence) traced(latency []Rung) []Rung {
	t := e.Traced
	var boundaries, exchanges Nanoseconds
	for _, r := range latency {
		if r.Component.IsComm() {
			exchanges += r.Time
		} else {
			boundaries += r.Time
		}
	}
	floors := byComponent(e.attainable())
	against := "layout floor"
	if e.Probed != nil {
		against += " at probed ceilings"
	}
	var rungs []Rung
	var little Nanoseconds
	var names []string
	for _, c := range roofline.Components {
		actual, ran := t.ByComponent[c.Name]
		floor := e.perToken(floors[c.Name])
		if c.Name.IsComm() || !ran && floor == 0 {
			continue
		}
		took := e.traceToken(actual)
		if d := took - floor; d < small && d > -small {
			little += d
			if took != 0 {
				names = append(names, string(c.Name))
			}
			continue
		}
		rungs = append(rungs, Rung{Cause: Kernel, Component: c.Name, Text: kernelText(c.Name, took, floor),
			Time: took - floor, Lo: took - floor, Hi: took - floor, Evidence: t.Source + ": exclusive GPU time − " + against})
	}
	if little != 0 {
		rungs = append(rungs, Rung{Cause: Kernel, Component: roofline.Other, Text: "under 20 µs beyond its floor each: " + strings.Join(names, ", "),
			Time: little, Lo: little, Hi: little, Evidence: t.Source + ": exclusive GPU time − " + against})
	}
	rungs = append(rungs, e.communication(exchanges)...)
	return append(rungs, e.idleRungs(boundaries)...)
}

func kernelText(c roofline.Component, took, floor Nanoseconds) string {
	switch {
	case floor < small/20:
		return fmt.Sprintf("%.3f ms in kernels that read next to no weights or cache", took.Millis())
	case took == 0:
		return "no kernel of it was seen: it runs inside another component's"
	case took < floor:
		return fmt.Sprintf("%.3f ms where the floor is %.3f: part of it ran inside another component's kernels, or moved fewer bytes", took.Millis(), floor.Millis())
	}
	return fmt.Sprintf("%.3f ms where the floor is %.3f (%.0f %% of it)", took.Millis(), floor.Millis(), 100*float64(floor)/float64(took))
}

// traceToken is traced time per emitted token.
func (e Evidence) traceToken(n Nanoseconds) Nanoseconds {
	return nanos(unit.FromNanos(int64(n)) / unit.Seconds(max(e.Workload.AcceptedTokens, 1)))
}

// communication is the exposed time of the exchanges beyond their floor, with
// the waiting for the slowest rank apart where it is known.
func (e Evidence) communication(floor Nanoseconds) []Rung {
	var actual Nanoseconds
	for c, t := range e.Traced.ByComponent {
		if c.IsComm() {
			actual += t
		}
	}
	if actual == 0 && floor == 0 {
		return nil
	}
	beyond := e.traceToken(actual) - floor
	var rungs []Rung
	if w := e.Traced.CommWait; w != nil && *w > 0 {
		wait := e.traceToken(*w)
		beyond -= wait
		rungs = append(rungs, Rung{Cause: Interference, Component: roofline.AllReduce, Text: "waiting for the slowest rank inside collectives",
			Time: wait, Lo: wait, Hi: wait, Evidence: e.Traced.Source + ": duration − the shortest over the ranks"})
	}
	return append(rungs, Rung{Cause: Communication, Component: roofline.AllReduce,
		Text: fmt.Sprintf("%.3f ms exposed in collectives where the floor is %.3f", e.traceToken(actual).Millis(), floor.Millis()),
		Time: beyond, Lo: beyond, Hi: beyond, Evidence: e.Traced.Source + ": exposed transfer − latency floor"})
}

// idleRungs are the kinds of idle time, with the kernel boundaries of the
// latency floor taken out of the gaps inside graphs first.
func (e Evidence) idleRungs(boundaries Nanoseconds) []Rung {
	t := e.Traced
	var rungs []Rung
	for _, k := range []struct {
		time  Nanoseconds
		cause Cause
		text  string
	}{
		{t.GraphGap, DeviceIdle, graphGaps},
		{t.LaunchBound, Host, LaunchBound},
		{t.SyncBound, Host, "the host waits for the GPU before it launches on"},
		{t.BetweenSteps, Host, "between steps: scheduling, sampling, detokenising"},
		{t.Unknown, DeviceIdle, "idle for a cause the trace does not show"},
	} {
		took := e.traceToken(k.time)
		part := min(boundaries, took)
		boundaries -= part
		if took -= part; took == 0 {
			continue
		}
		rungs = append(rungs, Rung{Cause: k.cause, Component: roofline.Other, Text: k.text, Time: took, Lo: took, Hi: took, Evidence: t.Source + ": gaps on the device"})
	}
	if boundaries > 0 { // fewer or shorter gaps than the floor counts
		rungs = append(rungs, Rung{Cause: DeviceIdle, Component: roofline.Other, Text: "kernels follow each other faster than the boundary the latency floor takes",
			Time: -boundaries, Lo: -boundaries, Hi: -boundaries, Evidence: t.Source + ": gaps on the device"})
	}
	return rungs
}

// profiler is the profiler's own cost, taken out where the measurement was
// made without it. A measurement above the traced step has none: what the trace
// did not see of it is unattributed.
func (e Evidence) profiler() []Rung {
	cost := nanos(e.Measured) - e.traceToken(e.Traced.Step)
	if cost >= 0 {
		return nil
	}
	text := fmt.Sprintf("the traced step took %.3f ms, %.2f × the measured one: the profiler's cost, taken out",
		e.traceToken(e.Traced.Step).Millis(), float64(e.traceToken(e.Traced.Step))/float64(max(nanos(e.Measured), 1)))
	return []Rung{{Cause: Profiler, Component: roofline.Other, Text: text, Time: cost, Lo: cost, Hi: cost, Evidence: "measured without the profiler − traced step"}}
}
