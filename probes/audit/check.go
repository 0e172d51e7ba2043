// Package audit looks for what costs decode time without any measurement: the
// command an inference server is launched with and its environment. It refuses
// to execute anything (a launch script is cut into words, never run or
// expanded), to guess what a shell variable holds, to keep a secret, host name
// or path it reads, and to name a cost that nobody has published.
package audit

import (
	"slices"
	"strings"
)

// Severity ranks a finding by what it is known to cost a decode step.
type Severity string

// The severities, worst first. High: a public measurement shows a large cost,
// or the setting's documented meaning makes every launch or collective wait.
// Medium: it costs on some topologies. Low: the effect is small or disputed.
// Note: it changes what a measurement means, not what the step costs.
const (
	High   Severity = "high"
	Medium Severity = "medium"
	Low    Severity = "low"
	Note   Severity = "note"
)

// severities is the order of reports.
var severities = []Severity{High, Medium, Low, Note}

// Finding is one thing a check found.
type Finding struct {
	Check    string // the check's name
	Severity Severity
	Text     string // what is set and what it does
	Advice   string // what to do, empty if nothing is to be done
	Where    string // "launch.sh:3:210": file, line, byte column
	Cost     string // what others measured, with the source in brackets; empty: no public number
}

// Check is one rule. Run gets facts of which any may be unknown, and says
// nothing where what it needs is: it never takes unknown for a default.
type Check struct {
	Name string // "graphs-off"
	Doc  string // one line: what is looked for, and in what
	Run  func(*Facts) []Finding
}

// Link is what connects the GPUs of one tensor-parallel group.
type Link string

// The links that checks tell apart; empty is unknown.
const (
	PCIe   Link = "pcie"
	NVLink Link = "nvlink"
)

// Facts is what checks read. Nil and empty are unknown.
type Facts struct {
	Launch      *Launch
	Link        Link
	GPUs        *int  // in the machine
	CPUs        *int  // that the server may use: quota and affinity, not the host's count
	Concurrency *int  // sequences decoding at once when the step was measured
	Context     *int  // tokens in the cache of a sequence
	MLA         *bool // multi-head latent attention: one latent, copied to every rank
}

// Run runs every check of All over the facts and returns the findings, worst
// first; among equals those with a published cost come first.
func Run(f *Facts) []Finding {
	if f == nil {
		return nil
	}
	var found []Finding
	for _, c := range All {
		for _, x := range c.Run(f) {
			x.Check = c.Name
			found = append(found, x)
		}
	}
	slices.SortStableFunc(found, func(a, b Finding) int {
		if d := slices.Index(severities, a.Severity) - slices.Index(severities, b.Severity); d != 0 {
			return d
		}
		return strings.Compare(priced(a), priced(b))
	})
	return found
}

func priced(f Finding) string {
	if f.Cost != "" {
		return "a"
	}
	return "b"
}
