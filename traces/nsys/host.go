package nsys

import (
	"strings"

	"decodegap/traces"
)

func (r *reader) call(w row) (traces.Event, use) {
	e, u := r.host(w, traces.Runtime)
	if u != keep {
		return e, u
	}
	e.Corr = uint64(w.int(3, 0))
	e.Name = r.strings.get(w.int(4, 0))
	e.Kind = callKind(e.Name)
	if strings.Contains(e.Name, "GraphLaunch") {
		r.graphLaunches++
	}
	return e, u
}

// callKind tells calls that bring work to the device and calls that wait for
// it from all others. A blocking copy is taken for what it brings.
func callKind(name string) traces.Kind {
	call := strings.TrimPrefix(strings.TrimPrefix(name, "cuda"), "cu")
	switch {
	case strings.HasPrefix(call, "Launch"), strings.HasPrefix(call, "GraphLaunch"),
		strings.HasPrefix(call, "Memcpy"), strings.HasPrefix(call, "Memset"):
		return traces.Launch
	case strings.Contains(call, "Synchronize"):
		return traces.Sync
	}
	return traces.Runtime
}

// Kinds of NVTX rows.
const (
	nvtxMark      = 34
	nvtxPushPop   = 59
	nvtxStartEnd  = 60
	nvtxtPushPop  = 70
	nvtxtStartEnd = 71
)

func (r *reader) nvtx(w row) (traces.Event, use) {
	kind := traces.Range
	switch w.int(3, nvtxPushPop) {
	case nvtxPushPop, nvtxStartEnd, nvtxtPushPop, nvtxtStartEnd:
		if !w.known[1] {
			return traces.Event{}, noEvent // never closed
		}
	case nvtxMark:
		kind = traces.Other
		if !w.known[1] {
			w.known[1], w.ints[1] = w.known[0], w.ints[0]
		}
	default: // names of threads, categories and domains
		return traces.Event{}, noEvent
	}
	e, u := r.host(w, kind)
	if u != keep {
		return e, u
	}
	if w.named {
		e.Name = r.intern.name(w.text)
	} else {
		e.Name = r.strings.get(w.int(4, 0))
	}
	return e, u
}

// overhead is a row of PROFILER_OVERHEAD: Nsight Systems' own work.
func (r *reader) overhead(w row) (traces.Event, use) {
	e, u := r.host(w, traces.Overhead)
	if u != keep {
		return e, u
	}
	e.Corr = uint64(w.int(3, 0))
	if e.Name = r.strings.get(w.int(4, 0)); e.Name == "" {
		e.Name = pick(overheadKinds, w.int(5, 0))
	}
	return e, u
}

// cudaOverhead is a row of what CUPTI calls overhead, of which a part is not
// the profiler's: CUDA loads modules and waits for its buffers without it too.
func (r *reader) cudaOverhead(w row) (traces.Event, use) {
	e, u := r.host(w, traces.Overhead)
	if u != keep {
		return e, u
	}
	e.Corr = uint64(w.int(3, 0))
	e.Name = pick(overheadKinds, w.int(5, 0))
	switch w.int(5, 0) {
	case 2, 6, 7, 8:
		e.Kind = traces.Other
	}
	return e, u
}

// The enumerations of CUPTI, in the words of Kineto where it has them.
var (
	copyKinds     = []string{"", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD", "DtoA", "DtoD", "HtoH", "PtoP", "unified HtoD", "unified DtoH", "unified DtoD"}
	memoryKinds   = []string{"Pageable", "Pinned", "Device", "Array", "Managed", "Device Static", "Managed Static"}
	syncKinds     = []string{"", "Event Sync", "Stream Wait Event", "Stream Sync", "Context Sync"}
	overheadKinds = []string{"", "", "driver compiler", "buffer flush", "instrumentation", "resource", "runtime module loading", "lazy function loading", "command buffer full"}
)

func pick(names []string, i int64) string {
	if i < 0 || i >= int64(len(names)) || names[i] == "" {
		return "Unknown"
	}
	return names[i]
}
