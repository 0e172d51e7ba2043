package reports

import "decodegap/roofline/hardware"

// CeilingsSchema identifies what probes measured on one machine.
const CeilingsSchema = "decodegap/ceilings/1"

// CeilingsDocument is what `probe` prints and `floor --ceilings` reads: the
// ceilings that probes reached on one machine, and every result behind them.
type CeilingsDocument struct {
	Schema      string          `json:"schema"`
	Fingerprint Fingerprint     `json:"fingerprint"`
	When        string          `json:"when"`           // start of the run, RFC 3339, UTC
	Device      string          `json:"device"`         // cpu, cuda:0
	Hardware    string          `json:"hardware"`       // what was probed, as it names itself
	Rank        *Rank           `json:"rank,omitempty"` // of a job under a launcher
	Host        ProbedHost      `json:"host"`
	GPU         *ProbedGPU      `json:"gpu,omitempty"` // that the probes ran on, absent for the CPU
	BudgetS     float64         `json:"budget_s"`
	TookS       float64         `json:"took_s"`
	NoiseFloor  *float64        `json:"noise_floor,omitempty"` // of two copies of the read kernel against each other; a ratio of 1 ± this says nothing
	Ceilings    []ProbedCeiling `json:"ceilings"`
	Results     []ProbeResult   `json:"results"`
	Warnings    []Warning       `json:"warnings"`
}

// ProbedHost is the machine that ran the probes.
type ProbedHost struct {
	OS             string   `json:"os"`
	Arch           string   `json:"arch"`
	CPU            string   `json:"cpu,omitempty"`
	ISAs           []string `json:"isas,omitempty"` // best first
	Cores          int      `json:"cores"`
	Threads        int      `json:"threads"`
	NUMANodes      *int     `json:"numa_nodes,omitempty"`
	CPUQuota       *float64 `json:"cpu_quota,omitempty"` // CPUs' worth of time the cgroup allows
	L1DataBytes    *float64 `json:"l1_data_bytes,omitempty"`
	L2Bytes        *float64 `json:"l2_bytes,omitempty"`
	LastLevelBytes *float64 `json:"last_level_bytes,omitempty"`
	MemoryBytes    *float64 `json:"memory_bytes,omitempty"`
	AvailableBytes *float64 `json:"available_bytes,omitempty"`
}

// ProbedGPU is the graphics processor that the probes ran on, as its driver
// describes it.
type ProbedGPU struct {
	Name              string  `json:"name"`
	ComputeCapability string  `json:"compute_capability"` // 9.0
	Multiprocessors   int     `json:"multiprocessors"`
	L2Bytes           float64 `json:"l2_bytes"`
	MemoryBytes       float64 `json:"memory_bytes"`
	FreeBytes         float64 `json:"free_bytes"`  // when the run began
	DriverCUDA        string  `json:"driver_cuda"` // the CUDA version that the driver is for

	// Telemetry is who told of clocks, heat and power while the probes ran:
	// nvml, or none, and then WithoutTelemetry says why. Reported is what it
	// said of the GPU before the first probe.
	Telemetry        string        `json:"telemetry"`
	WithoutTelemetry string        `json:"without_telemetry,omitempty"`
	Reported         *hardware.GPU `json:"reported,omitempty"`
}

// MemoryBus is what the memory of a GPU can deliver at the clock it had while
// the probes ran: clock × 2 × width / 8.
type MemoryBus struct {
	MemoryClockMHz int     `json:"memory_clock_mhz"`
	BusWidthBits   int     `json:"bus_width_bits"`
	PState         *int    `json:"pstate,omitempty"`
	Peak           float64 `json:"peak"`  // B/s
	Share          float64 `json:"share"` // of it that the ceiling is
}

// ClockWindow is what a GPU did while some blocks of a case were taken, from
// looks between them: the worst that was seen of each. What the driver does not
// report is absent.
type ClockWindow struct {
	StartS        float64            `json:"start_s"` // since the run began
	EndS          float64            `json:"end_s"`
	Blocks        int                `json:"blocks"`
	InvalidBlocks int                `json:"invalid_blocks,omitempty"`
	Values        int                `json:"values"` // of the case's samples, in their order, that are of this window
	Looks         int                `json:"looks"`
	SMMHz         *int               `json:"sm_mhz,omitempty"` // lowest
	SMMostMHz     *int               `json:"sm_most_mhz,omitempty"`
	MemoryMHz     *int               `json:"memory_mhz,omitempty"` // lowest
	MemoryMostMHz *int               `json:"memory_most_mhz,omitempty"`
	PState        *int               `json:"pstate,omitempty"`         // slowest; 0 is the fastest there is
	PowerW        *float64           `json:"power_w,omitempty"`        // highest
	TemperatureC  *int               `json:"temperature_c,omitempty"`  // highest
	ClocksReasons []string           `json:"clocks_reasons"`           // why the clocks were no higher, by any look; null if not reported
	ClocksHeldMs  map[string]float64 `json:"clocks_held_ms,omitempty"` // by policy: how long the clocks were held down meanwhile
}

// ProbedCeiling is one resource's rate with the sample it is the median of.
type ProbedCeiling struct {
	Ceiling
	Verdict string `json:"verdict"` // good, noisy, unreliable
	Sample  Sample `json:"sample"`  // in the ceiling's unit

	Bus *MemoryBus `json:"bus,omitempty"` // of a GPU's dram.read: the peak at the clock in force; absent without telemetry
}

// Sample sums up the blocks of a measurement; none was left out for its value.
type Sample struct {
	Median float64   `json:"median"`
	Lo     *float64  `json:"lo,omitempty"` // 95 % interval of the median, from order statistics
	Hi     *float64  `json:"hi,omitempty"`
	P10    float64   `json:"p10"`
	P90    float64   `json:"p90"`
	MAD    float64   `json:"mad"`
	Values []float64 `json:"values"` // one a block, in their order
}

// ProbeResult is one case of one probe. Numbers are there only if it was
// measured.
type ProbeResult struct {
	Probe   string         `json:"probe"`
	Case    string         `json:"case,omitempty"` // absent: the probe as a whole cannot run
	Shape   map[string]int `json:"shape,omitempty"`
	Format  string         `json:"format,omitempty"`
	Threads int            `json:"threads,omitempty"`
	Outcome string         `json:"outcome"`          // measured, unsupported, failed
	Reason  string         `json:"reason,omitempty"` // of the other two

	Kernel  string   `json:"kernel,omitempty"`
	Verdict string   `json:"verdict,omitempty"` // good, noisy, unreliable
	Doubts  []string `json:"doubts,omitempty"`  // why the verdict is no better

	Bytes         *float64 `json:"bytes,omitempty"` // of one run, by construction
	FLOPs         *float64 `json:"flops,omitempty"`
	TimeS         *Sample  `json:"time_s,omitempty"`     // of one run
	GBs           *float64 `json:"gbs,omitempty"`        // bytes over the median time
	ReadShare     *Sample  `json:"read_share,omitempty"` // of the read ceiling measured beside it, pair by pair
	Blocks        int      `json:"blocks,omitempty"`
	InvalidBlocks int      `json:"invalid_blocks,omitempty"` // by outside evidence; not in the samples
	RunsPerBlock  int      `json:"runs_per_block,omitempty"`

	Clocks []ClockWindow `json:"clocks,omitempty"` // of a GPU, in the order of the blocks; absent without telemetry

	Checked *ProbeCheck `json:"checked,omitempty"`

	Step *AttainableStep `json:"step,omitempty"` // of a probe that ran a whole decode step
}

// AttainableStep is a whole decode step that ran on a machine: every layer
// with its own weights and cache, our own kernels, nothing left out.
type AttainableStep struct {
	Model   string   `json:"model"`
	Batch   int      `json:"batch"`
	Context int      `json:"context"` // tokens in the cache of every sequence
	KVType  string   `json:"kv_dtype"`
	Formats []string `json:"formats"` // of the weights
	Layers  int      `json:"layers"`
	Bytes   float64  `json:"bytes"` // what the layout floor counts for it

	Ms        float64    `json:"ms"` // median
	LoMs      *float64   `json:"lo_ms,omitempty"`
	HiMs      *float64   `json:"hi_ms,omitempty"`
	FloorMs   float64    `json:"floor_ms"`   // bytes over the read ceiling measured beside it
	OverFloor float64    `json:"over_floor"` // ms / floor_ms, the median of pairs
	Verdict   string     `json:"verdict"`    // good, noisy, unreliable
	Kernel    string     `json:"kernel"`
	Source    string     `json:"source"`
	Parts     []StepPart `json:"parts"` // add up to ms
}

// StepPart is one component of an attainable step.
type StepPart struct {
	Component string  `json:"component"`
	Ms        float64 `json:"ms"`
	FloorMs   float64 `json:"floor_ms"` // its bytes over the same ceiling; 0 where the floor counts none
}

// ProbeCheck is how far the output of the timed run lay from float64
// arithmetic on the same operands.
type ProbeCheck struct {
	RelativeL2 float64 `json:"relative_l2"`
	MaxAbs     float64 `json:"max_abs"`
	Bound      float64 `json:"bound"` // of relative_l2
	Values     int     `json:"values"`
	Comment    string  `json:"comment,omitempty"`
}

// ProbeChange is one case of two ceilings documents compared.
type ProbeChange struct {
	Probe   string   `json:"probe"`
	Case    string   `json:"case"`
	Of      string   `json:"of,omitempty"`    // read_share, time_s: what was compared
	Ratio   *float64 `json:"ratio,omitempty"` // above 1: the second is faster
	Lo      *float64 `json:"lo,omitempty"`
	Hi      *float64 `json:"hi,omitempty"`
	Margin  *float64 `json:"margin,omitempty"` // within which a ratio says nothing
	Verdict string   `json:"verdict"`          // same, faster, slower, ambiguous, not_comparable
	Why     string   `json:"why,omitempty"`    // it is ambiguous or not_comparable, and what else differs
}
