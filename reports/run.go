// Package reports holds the run record: the one document that every report,
// gate and comparison prints from. It refuses to compute: floors, ledgers and
// samples come in finished, with their sources, and leave unchanged.
package reports

// RunSchema identifies the run record.
const RunSchema = "decodegap/run/1"

// Run is the record of one diagnosis. Numbers are in the unit their name
// says; a value that is not known is absent.
type Run struct {
	Schema      string      `json:"schema"`
	Fingerprint Fingerprint `json:"fingerprint"`
	Inputs      []Input     `json:"inputs"`
	Model       Model       `json:"model"`
	Hardware    Hardware    `json:"hardware"`
	Points      []RunPoint  `json:"points"`
	Assumptions []Assumed   `json:"assumptions,omitempty"`
	Series      []Series    `json:"series,omitempty"`
	Comparison  *Comparison `json:"comparison,omitempty"`
	Findings    []Finding   `json:"findings"`
	Levers      []Lever     `json:"levers"`
	Records     []Best      `json:"records"`
	Warnings    []Warning   `json:"warnings"`
}

// Fingerprint is what must agree for two runs to be comparable. Each value is
// keyed by a dotted name ("host.kernel", "gpu.driver", "engine.version",
// "flag.moe-runner-backend", "env.NCCL_P2P_LEVEL"); what is not known is absent.
type Fingerprint struct {
	ToolVersion string            `json:"tool_version"`
	Facts       map[string]string `json:"facts"`
}

// Input is a file the run was made from.
type Input struct {
	Path   string `json:"path"` // as given, or "catalogue:NAME"
	SHA256 string `json:"sha256,omitempty"`
	Role   string `json:"role"` // model, side-file, tensors, experts, bench, launch, trace, ceilings, policy
}

// Model says which model was counted and from what.
type Model struct {
	Name             string   `json:"name"`
	Architecture     string   `json:"architecture"`
	Layers           int      `json:"layers"`
	ParamsTotal      int64    `json:"params_total"`
	ParamsActiveRead int64    `json:"params_active_read"`
	ParamsPublished  int64    `json:"params_published,omitempty"`
	PublishedSource  string   `json:"published_source,omitempty"`
	BytesSource      string   `json:"bytes_source"` // headers, side-file, config
	Formats          string   `json:"formats"`      // "NVFP4: moe.experts, …; BF16: …"
	Hidden           int      `json:"hidden_size"`
	Experts          int      `json:"experts,omitempty"`
	ExpertsPerToken  int      `json:"experts_per_token,omitempty"`
	Notes            []string `json:"notes,omitempty"`
}

// Hardware is the machine the floor divides by.
type Hardware struct {
	Name     string    `json:"name"`
	Count    int       `json:"count"`
	Facts    []Fact    `json:"facts,omitempty"` // memory kind, links, … each with a source
	Ceilings []Ceiling `json:"ceilings"`
	Topology string    `json:"topology,omitempty"`
}

// Fact is a sheet fact for people, with its source.
type Fact struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Source string `json:"source"`
}

// Ceiling is one resource's rate in base units (B/s, FLOP/s, s).
type Ceiling struct {
	Resource string  `json:"resource"`
	Value    float64 `json:"value"`
	Unit     string  `json:"unit"`
	Basis    string  `json:"basis"` // sheet, probed, given
	Source   string  `json:"source"`
}

// Operating is the operating point of a step and what the step must move, per
// GPU on the busiest rank, shared by the floor document and the run record.
type Operating struct {
	Batch              int      `json:"batch"`
	Context            int      `json:"context"`
	TP                 int      `json:"tp"`
	EP                 int      `json:"ep"`
	DP                 int      `json:"dp"`
	PP                 int      `json:"pp"`
	KVType             string   `json:"kv_dtype"`
	StateType          string   `json:"state_dtype,omitempty"`
	Attention          string   `json:"attention,omitempty"` // sparse, dense: models with an index
	Engine             string   `json:"engine"`
	DraftTokens        int      `json:"draft_tokens"`
	AcceptedTokens     float64  `json:"accepted_tokens"`
	DistinctExperts    *float64 `json:"distinct_experts,omitempty"`
	ExpertsBusiestRank *float64 `json:"experts_busiest_rank,omitempty"`
	AllReduceCount     int      `json:"allreduce_count"`
	AllReduceBytesEach float64  `json:"allreduce_bytes_each"`
	WeightBytesIdeal   float64  `json:"weight_bytes_ideal_per_gpu"`
	WeightBytesLayout  float64  `json:"weight_bytes_layout_per_gpu"`
	KVReadBytes        float64  `json:"kv_read_bytes_per_gpu"`
	KVWriteBytes       float64  `json:"kv_write_bytes_per_gpu"`
	KVReadBytesIdeal   float64  `json:"kv_read_bytes_ideal_per_gpu"`
	KVWriteBytesIdeal  float64  `json:"kv_write_bytes_ideal_per_gpu"`
	FLOPs              float64  `json:"flops_per_gpu"`
	Floors             []Floor  `json:"floors"`
}

// Floor is one bound on the time per emitted token. MemoryMs, ComputeMs,
// CommMs and LaunchMs are per step; MsPerToken is per emitted token and
// sequence and is the sum of the dependent stages' binding terms.
type Floor struct {
	Kind       string   `json:"kind"`  // ideal, layout, latency
	Basis      string   `json:"basis"` // sheet, probed, given
	MsPerToken float64  `json:"ms_per_token"`
	TokPerS    float64  `json:"tok_s"` // whole deployment: 1000·batch/ms_per_token
	MemoryMs   float64  `json:"memory_ms"`
	ComputeMs  *float64 `json:"compute_ms,omitempty"` // absent: no compute ceiling known
	CommMs     float64  `json:"comm_ms"`
	LaunchMs   float64  `json:"launch_ms"`
	PipelineMs *float64 `json:"pipeline_ms,omitempty"` // in the other pipeline stages, but for exchanges and launches; absent with one stage
}

// ComponentRow is one component of the busiest rank's step under the engine's
// layout.
type ComponentRow struct {
	Component   string  `json:"component"`
	Repeat      int     `json:"repeat"` // layers that have it
	WeightBytes float64 `json:"weight_bytes"`
	KVBytes     float64 `json:"kv_bytes"` // cache or state, read and written
	FLOPs       float64 `json:"flops"`
	CommBytes   float64 `json:"comm_bytes"`
	Launches    int     `json:"launches"`
	Ms          float64 `json:"ms"`       // per step, at the layout (comm rows: latency) floor, without launches
	IdealMs     float64 `json:"ideal_ms"` // the same work split evenly over all GPUs
	Bound       string  `json:"bound"`    // memory, compute, network, latency
	Evidence    string  `json:"evidence"` // headers, side-file, config, assumption
	Format      string  `json:"format,omitempty"`

	// AttainableMs is Ms at the ceilings that this machine was probed to reach,
	// absent without probes.
	AttainableMs *float64 `json:"attainable_ms,omitempty"`

	// Of a traced step, absent without a trace: exclusive time, the rate at
	// which the bytes above were then moved, and its share of the bandwidth.
	ActualMs     *float64 `json:"actual_ms,omitempty"`
	AchievedGBs  *float64 `json:"achieved_gbs,omitempty"`
	CeilingShare *float64 `json:"ceiling_share,omitempty"`
}

// RunPoint is one operating point with its floors, its measurement and the
// ledger between them.
type RunPoint struct {
	Label string `json:"label,omitempty"` // the benchmark series it belongs to
	Operating
	Components []ComponentRow  `json:"components"`
	Step       *AttainableStep `json:"attainable_step,omitempty"` // as it was run on this machine
	Measured   *Measured       `json:"measured,omitempty"`
	Efficiency []Efficiency    `json:"efficiency,omitempty"`
	Ledger     *Ledger         `json:"ledger,omitempty"`
	Traced     *Traced         `json:"traced,omitempty"` // of the trace that explains the ledger
	Worth      []Worth         `json:"worth,omitempty"`
	Target     *Target         `json:"target,omitempty"`
}

// Measured is a time per output token and where it was measured.
type Measured struct {
	TPOT      Summary   `json:"tpot_ms"`
	ValueMs   float64   `json:"value_ms"`        // the figure the ledger uses
	Statistic string    `json:"statistic"`       // mean, median, given
	LoMs      *float64  `json:"lo_ms,omitempty"` // interval of value_ms, where repeats allow one
	HiMs      *float64  `json:"hi_ms,omitempty"`
	SamplesMs []float64 `json:"samples_ms,omitempty"`
	Requests  *int      `json:"requests,omitempty"`
	TokPerS   float64   `json:"tok_s"` // one sequence: 1000/value_ms
	Source    string    `json:"source"`
	Derived   bool      `json:"derived,omitempty"` // computed from other fields of the source
}

// Summary holds the statistics a source states; the others are absent.
type Summary struct {
	Mean   *float64 `json:"mean,omitempty"`
	Median *float64 `json:"median,omitempty"`
	P90    *float64 `json:"p90,omitempty"`
	P95    *float64 `json:"p95,omitempty"`
	P99    *float64 `json:"p99,omitempty"`
	Std    *float64 `json:"std,omitempty"`
}

// Efficiency is one floor divided by the measured time per output token.
type Efficiency struct {
	Floor FloorName `json:"floor"`
	Ratio float64   `json:"ratio"`
	Lo    *float64  `json:"lo,omitempty"`
	Hi    *float64  `json:"hi,omitempty"`
}

// FloorName says which floor, at whose ceilings.
type FloorName struct {
	Kind  string `json:"kind"`
	Basis string `json:"basis"`
}

// Ledger explains the measured time: FloorMs + Σ Rungs.Ms = MeasuredMs.
type Ledger struct {
	MeasuredMs float64   `json:"measured_ms"`
	Floor      FloorName `json:"floor"`
	FloorMs    float64   `json:"floor_ms"`
	Rungs      []Rung    `json:"rungs"`
	Closes     bool      `json:"closes"`
}

// Rung is one cause of lost time with what shows it. Cause is one of
// replication, ceiling, latency, kernel, communication, device-idle, host,
// interference, speculation, profiler, unattributed.
type Rung struct {
	Cause     string  `json:"cause"`
	Component string  `json:"component"`
	Text      string  `json:"text"` // one line for people
	Ms        float64 `json:"ms"`
	LoMs      float64 `json:"lo_ms"`
	HiMs      float64 `json:"hi_ms"`
	Evidence  string  `json:"evidence"`
}

// Worth is a change and what it saves per emitted token.
type Worth struct {
	Change string  `json:"change"`
	Ms     float64 `json:"ms"`
	Of     string  `json:"of"` // what it is taken off: "layout floor", "a step that …"
}

// Target is a wished-for time per token and the changes that reach it.
type Target struct {
	TargetMs float64   `json:"target_ms"`
	Floor    FloorName `json:"floor"` // the floor that must come down to it
	NowMs    float64   `json:"now_ms"`
	Reached  bool      `json:"reached"`
	Ways     []Way     `json:"ways"` // none if the floor is low enough already, or nothing helps
}

// Way is a set of changes and the floor they lead to.
type Way struct {
	Changes []string `json:"changes"`
	Ms      float64  `json:"ms"`
}

// Ridge is the batch from which a component is compute-bound.
type Ridge struct {
	Context   int    `json:"context"`
	TP        int    `json:"tp"`
	Component string `json:"component,omitempty"` // absent: the step as a whole
	Batch     int    `json:"batch"`
}

// Assumed is the floor under an assumption somebody made, kept beside the
// honest ones so that the two can be compared. Weights only, batch 1 … as the
// text says.
type Assumed struct {
	Name       string  `json:"name"` // "every linear in NVFP4, evenly sharded"
	Text       string  `json:"text"`
	WeightGB   float64 `json:"weight_gb_per_gpu"`
	Bandwidth  float64 `json:"bandwidth_gbs"`
	MsPerToken float64 `json:"ms_per_token"`
	TokPerS    float64 `json:"tok_s"`
	Honest     bool    `json:"honest"` // true: what the checkpoint and layout really ask
}

// Series is one benchmark series: the points of one configuration.
type Series struct {
	Name   string            `json:"name"`
	Source string            `json:"source"`
	Tool   string            `json:"tool"`
	Points []SeriesPoint     `json:"points"`
	Facts  map[string]string `json:"facts,omitempty"` // settings the file states
}

// SeriesPoint is one benchmark result.
type SeriesPoint struct {
	Concurrency   float64  `json:"concurrency"` // the cap the client was given
	Achieved      *float64 `json:"achieved,omitempty"`
	OutputTokPerS *float64 `json:"output_tok_s,omitempty"`
	TPOT          Summary  `json:"tpot_ms"`
	InputTokens   *float64 `json:"input_tokens,omitempty"`  // mean per request
	OutputTokens  *float64 `json:"output_tokens,omitempty"` // mean per request
	Requests      *int     `json:"requests,omitempty"`
}

// Comparison sets series side by side.
type Comparison struct {
	Comparable bool          `json:"comparable"`
	Reasons    []string      `json:"reasons"` // why not, one a line
	Rows       []CompareRow  `json:"rows"`
	Crossovers []Crossover   `json:"crossovers"`
	Probes     []ProbeChange `json:"probes,omitempty"` // of ceilings documents
}

// CompareRow is one operating point over all series; a missing value is null.
type CompareRow struct {
	Concurrency   float64         `json:"concurrency"`     // of run records: the batch
	Point         string          `json:"point,omitempty"` // the whole operating point, of run records
	OutputTokPerS []*float64      `json:"output_tok_s"`
	TPOTMs        []*float64      `json:"tpot_ms,omitempty"`    // mean, else median; absent: no series states any
	ChangePct     []*float64      `json:"change_pct"`           // of the rate, against the first series: above 0 is faster
	Efficiency    []RowEfficiency `json:"efficiency,omitempty"` // of run records
	Causes        []CauseChange   `json:"causes,omitempty"`     // of run records with ledgers
	Verdict       string          `json:"verdict"`              // faster, slower, same, ambiguous, not_comparable
	Verdicts      []string        `json:"verdicts,omitempty"`   // of each later series, where there are several
}

// RowEfficiency is the efficiency against one floor on each side.
type RowEfficiency struct {
	Floor FloorName  `json:"floor"`
	Ratio []*float64 `json:"ratio"`
}

// Crossover is where two series change places.
type Crossover struct {
	A       string     `json:"a"`
	B       string     `json:"b"`
	Between [2]float64 `json:"between"` // concurrencies around it
	At      float64    `json:"at"`      // log-interpolated
	Text    string     `json:"text"`
}

// Finding is a fact about the host, the engine's flags or the environment that
// can cost decode time.
type Finding struct {
	Check    string `json:"check"`
	Severity string `json:"severity"` // high, medium, low, note
	Text     string `json:"text"`
	Advice   string `json:"advice,omitempty"`
	Where    string `json:"where"`          // file and position, or the fact's source
	Cost     string `json:"cost,omitempty"` // what others measured, with source; absent: no public number
}

// Lever is a change and the most it can win back, bounded by the ledger.
type Lever struct {
	Change   string   `json:"change"`
	Ms       *float64 `json:"ms,omitempty"` // at most; absent: not bounded by any evidence yet
	LoMs     *float64 `json:"lo_ms,omitempty"`
	Evidence string   `json:"evidence"`
}

// Best is a publicly known result for the same model class and hardware.
type Best struct {
	Model         string   `json:"model"`
	Hardware      string   `json:"hardware"`
	GPUs          int      `json:"gpus"`
	Engine        string   `json:"engine"`
	Speculation   string   `json:"speculation"`
	Concurrency   int      `json:"concurrency"`
	OutputTokPerS float64  `json:"output_tok_s"`
	MsPerToken    *float64 `json:"ms_per_token,omitempty"` // 1000·concurrency/output_tok_s, includes prefill share
	Source        string   `json:"source"`
	Note          string   `json:"note,omitempty"`
}

// Warning is something that changes how the numbers must be read.
type Warning struct {
	Code string `json:"code"`
	Text string `json:"text"`
}
