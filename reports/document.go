package reports

// FloorSchema, BenchSchema, GateSchema and CompareSchema identify the other
// documents the commands print.
const (
	FloorSchema   = "decodegap/floor/1"
	BenchSchema   = "decodegap/bench/1"
	GateSchema    = "decodegap/gate/1"
	CompareSchema = "decodegap/compare/1"
	ListSchema    = "decodegap/list/1"
)

// FloorDocument is what `floor --json` prints.
type FloorDocument struct {
	Schema   string       `json:"schema"`
	Model    Model        `json:"model"`
	Hardware Hardware     `json:"hardware"`
	Points   []FloorPoint `json:"points"`
	Ridges   []Ridge      `json:"ridges"` // one set for each context and tp
	Warnings []Warning    `json:"warnings"`
}

// FloorPoint is one operating point of a floor document.
type FloorPoint struct {
	Operating
	Ledger []ComponentRow `json:"ledger"`
	Worth  []Worth        `json:"worth"`
	Target *Target        `json:"target,omitempty"`
}

// GateDocument is what `gate --json` prints.
type GateDocument struct {
	Schema     string      `json:"schema"`
	Verdict    string      `json:"verdict"` // pass, fail, not_comparable
	Floor      FloorName   `json:"floor"`
	Efficiency *float64    `json:"efficiency,omitempty"` // worst gated point's
	Interval   *[2]float64 `json:"interval,omitempty"`
	Rules      []GateRule  `json:"rules"`
}

// GateRule is one rule's verdict at one point.
type GateRule struct {
	Name    string   `json:"name"`
	Point   string   `json:"point,omitempty"` // "batch 1, context 576"
	Verdict string   `json:"verdict"`
	Limit   *float64 `json:"limit,omitempty"`
	Value   *float64 `json:"value,omitempty"`
	Unit    string   `json:"unit,omitempty"`
	Why     string   `json:"why"`
}

// BenchDocument is what `bench --json` prints.
type BenchDocument struct {
	Schema   string        `json:"schema"`
	Results  []BenchResult `json:"results"`
	Fit      *BenchFit     `json:"fit,omitempty"`
	Warnings []Warning     `json:"warnings,omitempty"`
}

// BenchResult is one benchmark result in canonical units.
type BenchResult struct {
	Path             string            `json:"path"`
	Tool             string            `json:"tool"`
	Model            string            `json:"model,omitempty"`
	Concurrency      *float64          `json:"concurrency,omitempty"`           // achieved (Little's law)
	MaxConcurrency   *int              `json:"max_concurrency,omitempty"`       // the client's cap
	InputTokens      *int64            `json:"input_tokens,omitempty"`          // total
	OutputTokens     *int64            `json:"output_tokens,omitempty"`         // total
	RequestInput     *float64          `json:"request_input_tokens,omitempty"`  // mean per request
	RequestOutput    *float64          `json:"request_output_tokens,omitempty"` // mean per request
	Completed        *int              `json:"completed,omitempty"`
	Failed           *int              `json:"failed,omitempty"`
	TPOT             Summary           `json:"tpot_ms"`
	ITL              Summary           `json:"itl_ms"`
	TTFT             Summary           `json:"ttft_ms"`
	E2E              Summary           `json:"e2e_ms"`
	OutputTokPerS    *float64          `json:"output_tok_s,omitempty"`
	TokensPerChunk   *float64          `json:"tokens_per_chunk,omitempty"`
	AcceptanceLength *float64          `json:"acceptance_length"`
	Derived          []string          `json:"derived"`
	Facts            map[string]string `json:"facts,omitempty"` // settings the file states
	Warnings         []Warning         `json:"warnings"`
}

// BenchFit is step time fitted over batch and context.
type BenchFit struct {
	FixedMs        float64 `json:"fixed_ms"`
	PerSequenceMs  float64 `json:"per_sequence_ms"`
	PerKilotokenMs float64 `json:"per_kilotoken_ms,omitempty"` // absent: context did not vary by itself
	Points         int     `json:"points"`
	ResidualMs     float64 `json:"residual_ms"`
}

// CompareDocument is what `compare --json` prints: the series in the order they
// were given and what sets them apart.
type CompareDocument struct {
	Schema     string     `json:"schema"`
	Series     []Series   `json:"series"`
	Comparison Comparison `json:"comparison"`
	Warnings   []Warning  `json:"warnings"`
}

// ListDocument is what `list --json` prints.
type ListDocument struct {
	Schema string           `json:"schema"`
	Kind   string           `json:"kind"`  // models, hardware, formats, …
	Items  []map[string]any `json:"items"` // each with the fields of its kind

	Machine *Machine `json:"machine,omitempty"` // of hardware: what the machine at hand has
}
