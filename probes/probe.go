// Package probes times decode components on the machine at hand: what a good
// kernel reaches here, today. It refuses to report a number without the
// ceiling measured beside it in the same run, to drop a sample without outside
// evidence, to time a kernel whose result it did not check, and to print an
// empty table: a run that cannot be trusted says so.
package probes

import (
	"context"
	"errors"

	"decodegap/roofline"
	"decodegap/roofline/unit"
)

// ErrUnsupported is wrapped by every reason why a probe cannot run on a
// machine: a missing instruction set, too little memory, no device. It is an
// outcome of its own, not a failure.
var ErrUnsupported = errors.New("not supported here")

// Probe is one decode component that can be timed. Descriptors are values in
// explicit lists; nothing registers itself.
type Probe struct {
	Name     string              // "cpu/gemv_nvfp4"
	Doc      string              // one line: what it times
	Formula  string              // its bytes: "rows·cols·9/16 + 4·(rows + cols)·M"
	Checked  string              // how its result is checked
	Provides []roofline.Resource // ceilings a floor may take from it, none for most

	// Check is nil where the probe can run, else wraps ErrUnsupported.
	Check func(Host) error
	// Plan lists the cases to time, the most telling first: a budget that
	// runs out leaves the last ones undone.
	Plan func(Host) []Case
	// Prepare allocates and fills the operands of one case and chooses its
	// kernel. An error that wraps ErrUnsupported is an outcome, not a failure.
	Prepare func(context.Context, Host, Case) (Subject, error)
}

// Case is one shape of a probe. Bytes and FLOPs are by construction: unique
// bytes touched by one run, not what was allocated.
type Case struct {
	Name    string         // "M=1 8192×8192", unique within its probe
	Shape   map[string]int // "m", "rows", "cols", "experts", …
	Format  string         // "BF16", "NVFP4", …; empty where it has none
	ISA     string         // instruction set to use; empty: the best there is
	Threads int            // 0: all of the host's
	Bytes   unit.Bytes     // 0 where time is the result (router, barrier)
	Written unit.Bytes     // of Bytes, where a run writes much of them: no share of the read ceiling bounds these
	FLOPs   unit.FLOPs
}

// Subject is a case made ready to run: operands in memory of its own, enough
// copies of them that none is still cached when its turn comes again.
type Subject interface {
	// Time runs the kernel n times, each on the next copy of the operands,
	// and returns the seconds of every run. A cancelled context stops it
	// within 200 ms and returns the context's error.
	Time(ctx context.Context, n int) ([]float64, error)
	// Verify compares the output of the last timed run with float64
	// arithmetic on the same quantised operands.
	Verify() (Correctness, error)
	// Kernel names what ran: "avx512_vnni, 2 threads".
	Kernel() string
	// Close frees the operands.
	Close()
}

// Correctness is how far an output lies from float64 on the same operands.
type Correctness struct {
	RelativeL2 float64 `json:"relative_l2"` // ‖out − ref‖₂ ÷ ‖ref‖₂
	MaxAbs     float64 `json:"max_abs"`
	Bound      float64 `json:"bound"`   // RelativeL2 above it is a failure
	Values     int     `json:"values"`  // compared
	Comment    string  `json:"comment"` // "int8 activations" and the like
}

// OK says whether the output may be timed.
func (c Correctness) OK() bool { return c.Values > 0 && c.RelativeL2 <= c.Bound }

// Host is what probes may ask of the machine.
type Host struct {
	OS, Arch  string     // GOOS, GOARCH
	CPU       string     // model name, empty if unknown
	ISAs      []string   // instruction sets the kernels can use, best first
	CPUs      []int      // logical CPUs to pin threads to, one a physical core first
	Cores     int        // physical cores this process may run on
	Threads   int        // hardware threads this process may run on
	NUMA      int        // memory nodes, 0 if unknown
	Quota     float64    // CPUs' worth of time a cgroup allows, 0 for no limit
	L1Data    unit.Bytes // level-1 data cache of one core, 0 if unknown
	L2        unit.Bytes // level-2 cache of one core, 0 if unknown
	LastLevel unit.Bytes // last-level cache as the system reports it, all of it that these threads reach, 0 if unknown
	Memory    unit.Bytes // all memory of the machine, 0 if unknown
	Available unit.Bytes // memory free for use now
	Budget    unit.Bytes // the most one case's operands may take, all copies
	GPU       *GPU       // that the session's probes run on, nil for the CPU
}
