// Package classify says which component of a decode step a GPU kernel works
// for: from its name, from the operators above it, from operand shapes, and
// from its place among the kernels around it. The last is what makes a graph
// replay readable, where every kernel has the same launch and no operator.
//
// It refuses to guess: a matrix product whose place in the layer is not known
// is Other and counts as unclassified, and so is a name that no rule matches.
// It never reads a trace; it is given names.
package classify

import (
	"fmt"
	"strings"
	"sync"

	"decodegap/roofline"
)

// Kernel is one kernel as the profiler names it, with what is known around
// it. Only Name is required.
type Kernel struct {
	Name        string
	Parent      []string // operators, annotations and modules above, innermost first
	Dims        string   // input shapes of the innermost operator, "[[1,4096],[4096,6144]]"
	Grid, Block [3]int32 // launch geometry, zeros where not known
	Prev, Next  []string // names on the stream before and after, nearest last and first; for Kernel alone
	InGraph     bool     // replayed by a graph: no operator above it
}

// Class is where a kernel belongs.
type Class struct {
	Component roofline.Component
	Word      string // kernel class word of the name ("gemm_bf16", "norm"), "" where no rule matched
	Library   string // "" where not known
	Precision string // of the operands, "" where the name does not say
	Phase     string // "prefill" or "decode" where the kernel serves only one, else ""
	Known     bool   // false: unclassified, and Component is Other
	Why       string // the evidence, for a reader
}

// IsAttention says whether a kernel is attention itself: scores and values, not
// its schedule, what prepares its operands or the merging of its parts.
func (c Class) IsAttention() bool {
	if c.Component != roofline.AttentionCore {
		return false
	}
	switch c.Word {
	case "attention_decode", "attention_prefill", "attention_unified", "mla_decode", "mla_prefill", string(roofline.AttentionCore):
		return true
	}
	return false
}

// Shape is a matrix product of the model on one rank: N outputs from K
// inputs.
type Shape struct {
	Component roofline.Component
	N, K      int
}

// Classifier holds rules and remembers the names it has seen. It may be used
// from several goroutines.
type Classifier struct {
	rules  []Rule // the user's first
	own    int    // how many of them are the user's
	shapes []Shape

	mu      sync.Mutex
	seen    map[string]named
	lookups int
	looked  int          // bytes
	used    map[int]bool // the user's rules that matched a name
}

// maxSeen bounds the remembered names: a real trace has some hundred, a
// hostile one a new name for every kernel, of up to maxName bytes.
const maxSeen = 1 << 12

// maxLookups and maxLookupBytes bound the time spent on names, about half a
// millisecond each, and ten for one of 4 KB.
const (
	maxLookups     = 1 << 14
	maxLookupBytes = 4 << 20
)

// New makes a classifier. Extra rules come before the embedded ones and their
// component is final: neither operators nor order change it.
func New(extra ...Rule) *Classifier {
	embedded, err := ParseRules(strings.NewReader(ruleTable), "rules.tsv")
	if err != nil {
		panic(fmt.Sprintf("embedded rules: %v", err)) // a test parses them
	}
	rules := make([]Rule, 0, len(extra)+len(embedded))
	for _, r := range extra {
		if r.match == nil {
			var err error
			if r.match, err = compile(r.Pattern); err != nil {
				continue // not from ParseRules, and no pattern
			}
		}
		rules = append(rules, r)
	}
	own := len(rules)
	return &Classifier{rules: append(rules, embedded...), own: own, seen: map[string]named{}, used: map[int]bool{}}
}

// WithModel returns a classifier that also matches operand shapes against the
// model's matrices. A shape that two components share decides nothing.
func (c *Classifier) WithModel(shapes []Shape) *Classifier {
	return &Classifier{rules: c.rules, own: c.own, shapes: append([]Shape(nil), shapes...), seen: map[string]named{}, used: map[int]bool{}}
}

// named is what a name alone says.
type named struct {
	word      word
	component roofline.Component
	library   string
	precision string
	phase     string
	why       string
	norm      string // normalised name
	final     bool   // a user's rule named the component
}

// named looks a name up, remembering it.
func (c *Classifier) named(name string) named {
	if len(name) > maxName {
		name = name[:maxName]
	}
	c.mu.Lock()
	known, ok := c.seen[name]
	if !ok {
		c.lookups++
		c.looked += len(name)
	}
	spent := c.lookups > maxLookups || c.looked > maxLookupBytes
	c.mu.Unlock()
	if ok {
		return known
	}
	if spent {
		return named{component: roofline.Other, why: fmt.Sprintf("more than %d different names, or %d MB of them", maxLookups, maxLookupBytes>>20)}
	}
	n, rule := c.lookup(name)
	c.mu.Lock()
	if rule >= 0 && rule < c.own {
		c.used[rule] = true
	}
	if len(c.seen) >= maxSeen {
		clear(c.seen)
	}
	c.seen[strings.Clone(name)] = n
	c.mu.Unlock()
	return n
}

// Unused is the user's rules that matched no name so far.
func (c *Classifier) Unused() []Rule {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []Rule
	for i, r := range c.rules[:c.own] {
		if !c.used[i] {
			out = append(out, r)
		}
	}
	return out
}

// lookup finds the first rule that matches, -1 if none does.
func (c *Classifier) lookup(name string) (n named, rule int) {
	norm := Normalize(name)
	n = named{norm: norm, component: roofline.Other, why: "no rule matches the name"}
	for i, r := range c.rules {
		if !r.match.MatchString(norm) && (i >= c.own || !r.match.MatchString(name)) {
			continue
		}
		n.word = word(r.Class)
		n.component, n.phase, _ = lookupWord(n.word)
		n.library = r.Library
		switch r.Precision {
		case "auto":
			n.precision = precisionOf(norm)
		case "none", "-":
		default:
			n.precision = r.Precision
		}
		n.final = i < c.own && n.component != matmul
		n.why = "name (" + r.Where + ")"
		return n, i
	}
	return n, -1
}

// Kernel classifies one kernel by its name, the operators above it, its
// shapes and, where given, its neighbours. A whole step is better placed by
// Sequence.
func (c *Classifier) Kernel(k Kernel) Class {
	seq := make([]Kernel, 0, len(k.Prev)+1+len(k.Next))
	for _, n := range k.Prev {
		seq = append(seq, Kernel{Name: n})
	}
	at := len(seq)
	seq = append(seq, k)
	for _, n := range k.Next {
		seq = append(seq, Kernel{Name: n})
	}
	return c.Sequence(seq)[at]
}

// Layer classifies the kernels of one step, or of several, by name and order
// alone.
func (c *Classifier) Layer(names []string) []Class {
	seq := make([]Kernel, len(names))
	for i, n := range names {
		seq[i] = Kernel{Name: n, InGraph: true}
	}
	return c.Sequence(seq)
}

// Sequence classifies the kernels of a device in start order: one step, or
// several in a row. Copies and fills may be among them. The result has the
// order and length of the input.
func (c *Classifier) Sequence(ks []Kernel) []Class {
	s := newSequence(c, ks)
	s.byParents()
	s.norms()
	s.eagerAttention()
	s.layers()
	s.byShapes()
	s.splitK()
	return s.classes()
}
