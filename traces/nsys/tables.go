package nsys

import (
	"math"

	"decodegap/traces"
)

// use says what becomes of a row.
type use uint8

const (
	keep    use = iota
	badTime     // no times, or times that cannot be
	noEvent     // nothing that takes time
)

// eventTable is a table of events and how its rows are read.
type eventTable struct {
	name    string
	columns []string
	event   func(*reader, row) (traces.Event, use)
}

// wanted says whether anything of a table is read.
func wanted(table string) bool {
	for _, t := range eventTables {
		if t.name == table {
			return true
		}
	}
	for _, t := range metaTables {
		if t == table {
			return true
		}
	}
	return false
}

var (
	kernelColumns   = []string{"start", "end", "deviceId", "streamId", "correlationId", "globalPid", "graphId", "graphNodeId", "demangledName", "shortName", "mangledName", "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ"}
	copyColumns     = []string{"start", "end", "deviceId", "streamId", "correlationId", "globalPid", "graphId", "graphNodeId", "bytes", "copyKind", "srcKind", "dstKind"}
	fillColumns     = []string{"start", "end", "deviceId", "streamId", "correlationId", "globalPid", "graphId", "graphNodeId", "bytes", "memKind"}
	graphColumns    = []string{"start", "end", "deviceId", "streamId", "correlationId", "globalPid", "graphId", "graphExecId"}
	callColumns     = []string{"start", "end", "globalTid", "correlationId", "nameId"}
	syncColumns     = []string{"start", "end", "deviceId", "streamId", "correlationId", "globalPid", "syncType", "deprecatedSyncType"}
	overheadColumns = []string{"start", "end", "globalTid", "correlationId", "nameId", "overheadType"}
	nodeColumns     = []string{"start", "end", "globalTid", "nameId", "graphId", "graphNodeId"}
	nvtxColumns     = []string{"start", "end", "globalTid", "eventType", "textId", textColumn}
)

// eventTables are read in this order.
var eventTables = []eventTable{
	{"CUPTI_ACTIVITY_KIND_KERNEL", kernelColumns, (*reader).kernel},
	{"CUPTI_ACTIVITY_KIND_MEMCPY", copyColumns, (*reader).memcpy},
	{"CUPTI_ACTIVITY_KIND_MEMSET", fillColumns, (*reader).memset},
	{"CUPTI_ACTIVITY_KIND_GRAPH_TRACE", graphColumns, (*reader).graph},
	{"CUPTI_ACTIVITY_KIND_RUNTIME", callColumns, (*reader).call},
	{"CUPTI_ACTIVITY_KIND_DRIVER", callColumns, (*reader).call},
	{"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", syncColumns, (*reader).sync},
	{"CUDA_GRAPH_NODE_EVENTS", nodeColumns, (*reader).node},
	{"NVTX_EVENTS", nvtxColumns, (*reader).nvtx},
	{"NVTX_EVENTS_V2", nvtxColumns, (*reader).nvtx},
	{"NVTX_EVENTS_V3", nvtxColumns, (*reader).nvtx},
	{"CUPTI_ACTIVITY_KIND_OVERHEAD", overheadColumns, (*reader).cudaOverhead},
	{"PROFILER_OVERHEAD", overheadColumns, (*reader).overhead},
}

// metaTables are looked at for what meta.go takes from them.
var metaTables = []string{"StringIds", "META_DATA_EXPORT", "EXPORT_META_DATA", "META_DATA_CAPTURE",
	"TARGET_INFO_GPU", "TARGET_INFO_CUDA_DEVICE", "TARGET_INFO_SESSION_START_TIME"}

// times fills Start and Dur from columns 0 and 1.
func times(e *traces.Event, w row) use {
	const far = math.MaxInt64 / 2
	if !w.known[0] || !w.known[1] {
		return badTime
	}
	start, end := w.ints[0], w.ints[1]
	// CUPTI writes 0 and 0 where it has no time.
	if start == 0 && end == 0 || end < start || start < -far || end > far {
		return badTime
	}
	e.Start, e.Dur = start, end-start
	return keep
}

const (
	onHost    = math.MaxInt32 // as deviceId: the graph starts on the host
	maxDevice = 1 << 16
	maskTid   = 1<<24 - 1 // of a globalTid: the thread
)

// gpu fills what the tables of GPU operations share, columns 0 to 5.
func (r *reader) gpu(w row, kind traces.Kind) (traces.Event, use) {
	e := traces.Event{Kind: kind}
	if u := times(&e, w); u != keep {
		return e, u
	}
	device := w.int(2, 0)
	if device < 0 || device >= maxDevice {
		return e, badTime
	}
	e.Device, e.Stream = int(device), w.int(3, 0)
	e.Corr, e.Process = uint64(w.int(4, 0)), uint64(w.int(5, 0))
	e.Rank = r.ranks[e.Process]
	e.Graph = uint64(w.int(6, 0))
	r.gpuRows++
	return e, keep
}

// host fills what the tables of host events share, columns 0 to 2.
func (r *reader) host(w row, kind traces.Kind) (traces.Event, use) {
	e := traces.Event{Kind: kind, Device: -1}
	if u := times(&e, w); u != keep {
		return e, u
	}
	thread := uint64(w.int(2, 0))
	e.Stream, e.Process = int64(thread&maskTid), thread&^maskTid
	e.Rank = r.ranks[e.Process]
	return e, keep
}

func (r *reader) kernel(w row) (traces.Event, use) {
	e, u := r.gpu(w, traces.Kernel)
	if u != keep {
		return e, u
	}
	if e.Node = uint64(w.int(7, 0)); e.Node != 0 {
		r.graphNodes++
	}
	e.Name = r.strings.kernel(w.int(8, 0), w.int(9, 0), w.int(10, 0))
	var d traces.Detail
	for i := range d.Grid {
		d.Grid[i], d.Block[i] = int32(w.int(11+i, 0)), int32(w.int(14+i, 0))
	}
	e.Detail = r.intern.detail(d)
	return e, u
}

func (r *reader) memcpy(w row) (traces.Event, use) {
	e, u := r.gpu(w, traces.Memcpy)
	if u != keep {
		return e, u
	}
	e.Node, e.Bytes = uint64(w.int(7, 0)), max(w.int(8, 0), 0)
	e.Name = r.intern.name("Memcpy " + pick(copyKinds, w.int(9, 0)) + " (" + pick(memoryKinds, w.int(10, -1)) + " -> " + pick(memoryKinds, w.int(11, -1)) + ")")
	return e, u
}

func (r *reader) memset(w row) (traces.Event, use) {
	e, u := r.gpu(w, traces.Memset)
	if u != keep {
		return e, u
	}
	e.Node, e.Bytes = uint64(w.int(7, 0)), max(w.int(8, 0), 0)
	e.Name = r.intern.name("Memset (" + pick(memoryKinds, w.int(9, -1)) + ")")
	return e, u
}

// HiddenKernels is the name of a graph launch whose kernels the capture does
// not hold: the interval is the GPU's, what ran in it is not known.
const HiddenKernels = "CUDA graph launch (kernels not captured)"

func (r *reader) graph(w row) (traces.Event, use) {
	if w.int(2, 0) == onHost {
		e := traces.Event{Kind: traces.Other, Device: -1, Name: "CUDA graph launch that starts on the host"}
		if u := times(&e, w); u != keep {
			return e, u
		}
		e.Corr, e.Process, e.Graph = uint64(w.int(4, 0)), uint64(w.int(5, 0)), uint64(w.int(6, 0))
		e.Rank = r.ranks[e.Process]
		r.onHost++
		return e, keep
	}
	e, u := r.gpu(w, traces.Kernel)
	if u != keep {
		return e, u
	}
	e.Name = HiddenKernels
	r.hidden++
	if r.hiddenNs+e.Dur > r.hiddenNs {
		r.hiddenNs += e.Dur
	}
	return e, u
}

func (r *reader) sync(w row) (traces.Event, use) {
	e := traces.Event{Kind: traces.Sync, Device: -1}
	if u := times(&e, w); u != keep {
		return e, u
	}
	e.Corr, e.Process = uint64(w.int(4, 0)), uint64(w.int(5, 0))
	e.Rank = r.ranks[e.Process]
	e.Name = pick(syncKinds, w.int(6, w.int(7, 0)))
	e.Detail = r.intern.detail(traces.Detail{SyncKind: e.Name})
	return e, keep
}

// node is the making of a graph's node; kernels name it by Node.
func (r *reader) node(w row) (traces.Event, use) {
	e, u := r.host(w, traces.Other)
	if u == keep {
		e.Name = r.strings.get(w.int(3, 0))
		e.Graph, e.Node = uint64(w.int(4, 0)), uint64(w.int(5, 0))
	}
	return e, u
}
