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

// Shard says how a weight is spread over the n ranks of a tensor-parallel group.
type Shard int

const (
	// Split: each rank reads 1/n.
	Split Shard = iota
	// ByKVHead: each rank reads 1/min(n, KV heads); with more ranks than
	// heads every rank holds one whole head.
	ByKVHead
	// Replicated: every rank reads all of it.
	Replicated
)

func (s Shard) String() string {
	switch s {
	case ByKVHead:
		return "by KV head"
	case Replicated:
		return "replicated"
	}
	return "split"
}

// Rule is how an engine treats one role, and where its source says so.
type Rule struct {
	Shard  Shard
	Source string
}

// Engine is one inference engine's tensor-parallel layout.
type Engine struct {
	Name string
	Doc  string
	// Even: everything is split evenly over all GPUs, caches too; the layout
	// no engine has, which the ideal floor uses.
	Even  bool
	Rules map[roofline.Role]Rule // roles not listed are Split
	// StateTypes are the recurrent-state types the engine takes, by
	// architecture, where the checkpoint states none and it is not FP32.
	StateTypes map[string]roofline.DType
}

// All lists the engines whose layout is known, and the ideal one.
var All = []Engine{Ideal, SGLang, VLLM}

// Ideal splits every byte evenly over all GPUs of the deployment.
var Ideal = Engine{
	Name: "ideal",
	Doc:  "every weight and cache byte read once across the group, evenly split",
	Even: true,
}

// Find returns the engine of that name.
func Find(name string) (Engine, error) {
	var names []string
	for _, e := range All {
		if e.Name == name {
			return e, nil
		}
		names = append(names, e.Name)
	}
	return Engine{}, fmt.Errorf("unknown engine %q: %s", name, hint(name, names))
}

func (e Engine) rule(r roofline.Role) Rule { return e.Rules[r] }

// Split is the engine with the given roles split evenly instead.
func (e Engine) Split(roles ...roofline.Role) Engine {
	rules := maps.Clone(e.Rules)
	for _, r := range roles {
		delete(rules, r)
	}
	e.Rules = rules
	return e
}

// EvenMatrices is the engine with every matrix split evenly, whatever it
// replicates; norms, biases and caches stay as they are. It is what "evenly
// sharded" means in an assumed weight format.
func (e Engine) EvenMatrices() Engine {
	return e.Split(roofline.RoleK, roofline.RoleV, roofline.RoleQA, roofline.RoleKVA,
		roofline.RoleIndexQ, roofline.RoleIndexK, roofline.RoleIndexWeights, roofline.RoleRouter, roofline.RoleSharedGate)
}

// RoleRule is a role with its rule.
type RoleRule struct {
	Role roofline.Role
	Rule
}

// Listed returns the engine's rules in the order of their roles.
func (e Engine) Listed() []RoleRule {
	var out []RoleRule
	for _, role := range slices.Sorted(maps.Keys(e.Rules)) {
		out = append(out, RoleRule{role, e.Rules[role]})
	}
	return out
}
