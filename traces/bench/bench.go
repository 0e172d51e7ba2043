// Package bench reads the result files of serving benchmarks and gives their
// figures in one set of units: milliseconds, tokens, tokens per second.
//
// The canonical TPOT of a request is (E2E − TTFT) / (output tokens − 1). The
// package refuses to take it from 1/throughput or from ITL, to keep a TPOT
// that holds the prefill (TTFT 0), and to read generated texts, environments
// or anything else that a result does not need. What a file does not state
// stays absent; what is computed from other fields is listed in Derived; what
// changes how a number must be read is a Warning.
package bench

import "io"

// Importer reads one tool's format.
type Importer struct {
	Name  string // "sglang-jsonl"
	Doc   string // what writes it, one line
	Looks string // what in the content gives it away, for error messages
	TPOT  string // how the tool defines TPOT and ITL, and in which unit
	// Sniff looks at the first bytes of the content, never at a name.
	Sniff func(head []byte) bool
	// Read returns the results in file order. An error means that nothing
	// usable was found; a file that is cut gives what stood before the cut.
	Read func(r io.Reader) ([]Result, error)
}

// Result is one benchmark run: one operating point. Times are milliseconds.
// Nil is "the file does not say".
type Result struct {
	Tool             string            `json:"tool"` // sglang, vllm, inferencex
	Model            string            `json:"model,omitempty"`
	Concurrency      *float64          `json:"concurrency,omitempty"`           // achieved: Σ latencies / duration
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
	OutputTokPerS    *float64          `json:"output_tok_s,omitempty"`     // whole run, prefill and ramp included
	TokensPerChunk   *float64          `json:"tokens_per_chunk,omitempty"` // mean ITL / mean TPOT
	AcceptanceLength *float64          `json:"acceptance_length,omitempty"`
	Derived          []string          `json:"derived"`
	Facts            map[string]string `json:"facts,omitempty"` // settings the file states
	Warnings         []Warning         `json:"warnings"`
}

// Summary holds the statistics a file states of one metric.
type Summary struct {
	Mean   *float64 `json:"mean,omitempty"`
	Median *float64 `json:"median,omitempty"`
	P90    *float64 `json:"p90,omitempty"`
	P95    *float64 `json:"p95,omitempty"`
	P99    *float64 `json:"p99,omitempty"`
	Std    *float64 `json:"std,omitempty"`
}

// Empty says whether no statistic is known.
func (s Summary) Empty() bool { return s == Summary{} }

// Central is the statistic to compare with: the mean if known, else the
// median, with its name; nil if neither is known.
func (s Summary) Central() (ms *float64, statistic string) {
	if s.Mean != nil {
		return s.Mean, "mean"
	}
	if s.Median != nil {
		return s.Median, "median"
	}
	return nil, ""
}

// Warning is something that changes how the numbers must be read.
type Warning struct {
	Code string `json:"code"` // kebab-case
	Text string `json:"text"`
}

// Warned says whether the result carries a warning with this code.
func (r *Result) Warned(code string) bool {
	for _, w := range r.Warnings {
		if w.Code == code {
			return true
		}
	}
	return false
}
