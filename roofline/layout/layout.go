// Package layout knows what each engine shards and what it replicates, and
// turns a decoder and a workload into the step of the busiest rank. It counts
// what must be read; it does not model how well an engine reads it.
package layout

import (
	"fmt"
	"maps"
	"slices"

	"decodegap/roofline"
)

// Engine is one inference engine's layout over GPUs.
type Engine struct {
	Name string
	Doc  string
	// Even: everything is split evenly over all GPUs, caches too; the layout
	// no engine has, which the ideal floor uses.
	Even  bool
	Rules map[roofline.Role]Rule // roles not listed are Split

	// DP replaces rules where attention is data-parallel and the model has
	// experts, DPEP replaces them where the experts lie whole on ranks as well.
	DP, DPEP map[roofline.Role]Rule

	// StateTypes are the recurrent-state types the engine takes, by
	// architecture, where the checkpoint states none and it is not FP32.
	StateTypes map[string]roofline.DType

	Table       Table    // how the input embedding is held
	WholeTables []string // architectures whose table is TableWhole in spite of Table
	// WholeTiedHead: a head tied to the embedding is whole on every rank.
	WholeTiedHead bool

	// Stages is how many decoder blocks each pipeline stage has by default,
	// the first stage first.
	Stages func(layers, stages int) []int
	// OneSlot: pipeline stages take the whole batch one after another. Engines
	// without it keep one part of the batch in every stage.
	OneSlot bool
	// AllToAll: with whole experts spread over all tp·dp GPUs, tokens are sent
	// only to GPUs that hold one of their experts. Engines without it gather
	// all tokens on all GPUs and scatter the sums.
	AllToAll bool
	// ReducedValue is the bytes of one value in an all-reduce of so many
	// values over so many ranks; nil for 2.
	ReducedValue func(values, ranks int) int

	// Limits refuse degrees of parallelism that the engine does not have.
	Limits []Limit

	// Caveats say of a workload that is laid out although the engine would not
	// run it so.
	Caveats []Caveat

	// Differences says, a sentence each, where the engine is known to read or
	// send other than what is counted here, and which of its sources says so.
	Differences []string
}

// Limit returns why an engine cannot run a workload and what to ask for
// instead, or nil.
type Limit func(d *roofline.Decoder, w roofline.Workload) error

// Caveat returns why a workload's floor is hypothetical, or "".
type Caveat func(d *roofline.Decoder, w roofline.Workload) string

// Hypothetical says, a sentence each, in what a workload is not what the
// engine would run.
func (e Engine) Hypothetical(d *roofline.Decoder, w roofline.Workload) []string {
	if e.Even {
		return nil
	}
	var out []string
	for _, caveat := range e.Caveats {
		if text := caveat(d, w); text != "" {
			out = append(out, text)
		}
	}
	return out
}

// Table is how an engine holds the input embedding.
type Table int

// The ways to hold the input embedding.
const (
	// TableSplit: each rank holds 1/n of the vocabulary; an all-reduce adds
	// what the ranks found.
	TableSplit Table = iota
	// TableWhole: every rank holds the whole table, so nothing is reduced.
	TableWhole
	// TableHost: the table stays in the host's memory and only the step's rows
	// reach the GPUs.
	TableHost
)

// All lists the engines whose layout is known, and the ideal one.
var All = []Engine{Ideal, SGLang, VLLM, TRTLLM, LlamaCPP}

// Ideal splits every byte evenly over all GPUs of the deployment.
var Ideal = Engine{
	Name: "ideal",
	Doc:  "every weight and cache byte read once across the group, evenly split",
	Even: true,
}

// Names lists the names of All, in its order.
func Names() []string {
	var names []string
	for _, e := range All {
		names = append(names, e.Name)
	}
	return names
}

// Find returns the engine of that name.
func Find(name string) (Engine, error) {
	for _, e := range All {
		if e.Name == name {
			return e, nil
		}
	}
	return Engine{}, fmt.Errorf("unknown engine %q: %s", name, hint(name, Names()))
}

// spread says whether experts are shared by more GPUs than one attention
// replica has.
func (e Engine) spread(d *roofline.Decoder, w roofline.Workload) bool {
	return !e.Even && d.Experts > 0 && w.DP > 1
}

// Rule is how the engine treats a role under a workload.
func (e Engine) Rule(r roofline.Role, d *roofline.Decoder, w roofline.Workload) Rule {
	if e.spread(d, w) {
		if rule, ok := e.DPEP[r]; ok && w.EP > 1 {
			return rule
		}
		if rule, ok := e.DP[r]; ok {
			return rule
		}
	}
	return e.Rules[r]
}

// table is how the engine holds the input embedding of d.
func (e Engine) table(d *roofline.Decoder) Table {
	if slices.Contains(e.WholeTables, d.Architecture) {
		return TableWhole
	}
	return e.Table
}

// Split is the engine with the given roles split evenly instead of repeated.
func (e Engine) Split(roles ...roofline.Role) Engine {
	e.Rules, e.DPEP = maps.Clone(e.Rules), maps.Clone(e.DPEP)
	for _, r := range roles {
		delete(e.Rules, r)
		delete(e.DPEP, r)
	}
	return e
}

// EvenMatrices is the engine with every matrix split evenly, whatever it
// replicates; norms, biases and caches stay as they are. It is what "evenly
// sharded" means in an assumed weight format.
func (e Engine) EvenMatrices() Engine {
	e = e.Split(roofline.RoleQ, roofline.RoleK, roofline.RoleV, roofline.RoleO, roofline.RoleQA, roofline.RoleKVA,
		roofline.RoleIndexQ, roofline.RoleIndexK, roofline.RoleIndexWeights,
		roofline.RoleRouter, roofline.RoleShared, roofline.RoleSharedGate, roofline.RoleDraft)
	e.WholeTiedHead = false
	return e
}

// RoleRule is a role with its rule.
type RoleRule struct {
	Role roofline.Role
	Rule
}

// Listed returns the engine's rules in the order of their roles, first those
// that always hold.
func (e Engine) Listed() []RoleRule {
	var out []RoleRule
	for _, rules := range []map[roofline.Role]Rule{e.Rules, e.DP, e.DPEP} {
		for _, role := range slices.Sorted(maps.Keys(rules)) {
			out = append(out, RoleRule{role, rules[role]})
		}
	}
	return out
}
