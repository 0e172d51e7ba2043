// Package traces holds what every profiler format has in common: events in
// nanoseconds, the timeline of each device, decode steps, and where a step's
// time goes.
//
// It refuses to convert time through floating point, to count a nanosecond
// twice, and to pass on metadata that is not on its allow-list: the
// environment of the profiled process never leaves a reader.
package traces

// Kind is what an event stands for.
type Kind uint8

// The kinds of events. Kernel, Memcpy and Memset are GPU operations.
const (
	Other    Kind = iota
	Kernel        // a kernel on a device
	Memcpy        // a copy on a device
	Memset        // a fill on a device
	Launch        // a runtime or driver call that launches work (a graph launch too)
	Sync          // a call that waits for the device
	Runtime       // any other runtime or driver call
	Op            // a framework operator on the CPU
	Range         // an annotation on the CPU
	GPURange      // an annotation's shadow on a device
	Overhead      // the profiler's own work
)

// IsGPU says whether k is a GPU operation.
func (k Kind) IsGPU() bool { return k == Kernel || k == Memcpy || k == Memset }

// Event is one interval of a trace.
type Event struct {
	Start, Dur int64 // ns; Start counts from Meta.Base
	Kind       Kind
	Name       string // interned: equal names share memory

	Rank   int   // of the process in its group, 0 where the trace does not say
	Device int   // -1 for host events
	Stream int64 // GPU operations: stream; host events: thread

	// Corr links a GPU operation to the call that launched it; all kernels of
	// a graph replay share that of the graph launch. 0: not known. Process
	// tells equal ids of several processes apart.
	Corr    uint64
	Process uint64
	// External links a GPU operation or a call to the operator above it.
	External uint64
	// Graph and Node identify a replayed graph's node, 0 where unknown.
	Graph, Node uint64

	Bytes int64 // of a copy or a collective's message, 0 where unknown

	// Detail is what only some events have; nil otherwise.
	Detail *Detail
}

// End is the first nanosecond after the event.
func (e Event) End() int64 { return e.Start + e.Dur }

// Detail holds what classification may need beyond the name.
type Detail struct {
	Grid, Block [3]int32
	Dims        string // "[[1,4096],[4096,4096]]" of an operator's inputs, as the trace writes them, bounded
	Types       string // of an operator's inputs
	Collective  string // "all_reduce", as the profiler names it
	Group       string // process group, "" where unknown
	GroupSize   int
	Seq         int64 // of the collective in its group, 0 where unknown
	SyncKind    string
}
