package reports

// TraceSchema identifies the document of `trace --json`.
const TraceSchema = "decodegap/trace/1"

// TraceDocument is what `trace --json` prints.
type TraceDocument struct {
	Schema            string         `json:"schema"`
	Files             []TraceFile    `json:"files"`
	Ranks             []TraceRank    `json:"ranks"`
	Step              *TraceStep     `json:"step,omitempty"` // of the rank that waits longest; absent where no steps were found
	Kernels           []TraceKernel  `json:"kernels,omitempty"`
	Counters          []TraceCounter `json:"counters,omitempty"`           // of files that hold hardware counters
	UnclassifiedShare *float64       `json:"unclassified_share,omitempty"` // of the kernel time, 0 to 1
	Warnings          []Warning      `json:"warnings"`
}

// TraceFile is what was read of one file.
type TraceFile struct {
	Path      string `json:"path"`
	Format    string `json:"format"`    // kineto, nsys, nsys-stats, ncu
	Bytes     int64  `json:"bytes"`     // on disk
	Events    int64  `json:"events"`    // read whole, of every phase or table
	Skipped   int64  `json:"skipped"`   // of those, with times that cannot be used
	Truncated bool   `json:"truncated"` // the file ends before it should
}

// TraceRank is one device of one rank. GPU operations are kernels, copies and
// fills.
type TraceRank struct {
	Rank         int                `json:"rank"`
	Device       int                `json:"device"`
	Name         string             `json:"name,omitempty"` // of the device
	GPUOps       int64              `json:"gpu_ops"`
	Kernels      int64              `json:"kernels"`
	Streams      int                `json:"streams"`
	SpanMs       float64            `json:"span_ms"`        // first start to last end
	BusyMs       float64            `json:"busy_ms"`        // union of all GPU operations
	KernelTimeMs float64            `json:"kernel_time_ms"` // plain sum: overlap counts twice
	Steps        []TraceStepSummary `json:"steps,omitempty"`
	Step         *TraceStep         `json:"step,omitempty"` // the median step
}

// TraceStepSummary is one step.
type TraceStepSummary struct {
	Index   int     `json:"index"`
	StartMs float64 `json:"start_ms"` // after the device's first operation
	WallMs  float64 `json:"wall_ms"`
	BusyMs  float64 `json:"busy_ms"`
	IdleMs  float64 `json:"idle_ms"`
	GPUOps  int     `json:"gpu_ops"`
	Aside   string  `json:"aside,omitempty"` // why it does not count towards the median
}

// TraceStep is where the time of the median step goes. The components and the
// idle times add up to the median.
type TraceStep struct {
	Rank             int                `json:"rank"`
	Device           int                `json:"device"`
	Count            int                `json:"count"`               // steps that count: those that are not set aside
	MedianOf         int                `json:"median_of,omitempty"` // of them, those whose end is known: the median is taken of these
	FoundBy          string             `json:"found_by"`            // annotation, graph, repetition, given
	MedianMs         float64            `json:"median_ms"`           // length of the step in the middle, the lower of two where their number is even
	ByComponentMs    map[string]float64 `json:"by_component_ms"`     // exclusive
	IdleMs           map[string]float64 `json:"idle_ms"`
	CommWaitMs       *float64           `json:"comm_wait_ms,omitempty"` // absent with one rank
	CommOverlappedMs float64            `json:"comm_overlapped_ms"`
	AttentionKernels int                `json:"attention_kernels,omitempty"` // that are attention itself: one or a few a layer
}

// TraceKernel sums one kernel over the whole trace.
type TraceKernel struct {
	Name      string   `json:"name"`
	Component string   `json:"component,omitempty"`
	Library   string   `json:"library,omitempty"`
	Count     int64    `json:"count"`
	TotalMs   float64  `json:"total_ms"`
	MedianUs  *float64 `json:"median_us,omitempty"`
}

// TraceCounter is what hardware counters say of the profiled launches of one
// kernel and grid: means of one launch. What was not counted is absent.
type TraceCounter struct {
	Name       string   `json:"name"`
	Grid       string   `json:"grid,omitempty"` // "3584×1×1"
	Component  string   `json:"component,omitempty"`
	Library    string   `json:"library,omitempty"`
	Launches   int      `json:"launches"`
	ReadBytes  *float64 `json:"read_bytes,omitempty"`  // from DRAM
	WriteBytes *float64 `json:"write_bytes,omitempty"` // to DRAM
	DurationUs *float64 `json:"duration_us,omitempty"` // of the kernel alone, as the counting tool runs it
	GBs        *float64 `json:"gbs,omitempty"`         // both over the duration, 10^9 bytes/s
}
