package model

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// scope is a rule of a checkpoint's that gives some of its modules a format:
// a group of compressed-tensors or ModelOpt, an entry of GPTQModel's dynamic.
type scope struct {
	format  Format
	exact   map[string]bool // module names
	exprs   []expr          // matched from the start of the name
	linears bool            // the class Linear: every matrix that no rule names
	none    bool            // the modules stay unquantized
}

// target sorts a rule's target into it: an expression, a class or a name. Of
// the classes only Linear has matrices of a decoder.
func (s *scope) target(t string) error {
	switch pattern, isExpr := strings.CutPrefix(t, "re:"); {
	case isExpr:
		e, err := compile(pattern)
		if err != nil {
			return fmt.Errorf("target %q: %w", t, err)
		}
		s.exprs = append(s.exprs, e)
	case strings.EqualFold(t, "linear"):
		s.linears = true
	default:
		if s.exact == nil {
			s.exact = map[string]bool{}
		}
		s.exact[t] = true
	}
	return nil
}

// names says whether the rule names the module.
func (s *scope) names(module string, left *effort) bool {
	return left.spend(1) && s.exact[module] ||
		slices.ContainsFunc(s.exprs, func(e expr) bool { return e.match(module, left) })
}

// scoped is the format of a module by the scopes: the first that names it,
// else the first for its class, else the format of what no rule covers.
func (q *Quant) scoped(module string) Format {
	pick := func(s *scope) Format {
		if s.none {
			return BF16
		}
		return s.format
	}
	for i := range q.scopes {
		if q.exhausted() {
			break
		}
		if q.scopes[i].names(module, q.effort) {
			return pick(&q.scopes[i])
		}
	}
	for i := range q.scopes {
		if q.scopes[i].linears {
			return pick(&q.scopes[i])
		}
	}
	return q.rest
}

// maxTargets bounds the targets and entries of all rules together.
const maxTargets = 1 << 17

// groups reads config_groups: each has the format of its weights, and targets
// that say for which modules. Groups of several formats for one class leave it
// open which module has which, as long as no tensor headers tell.
func (q *Quant) groups(groups map[string]json.RawMessage) error {
	if len(groups) == 0 {
		return fmt.Errorf("config_groups is missing or empty")
	}
	var classes []Format // of the groups for all matrices
	targets, packed := 0, map[int]bool{}
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		var g struct {
			Weights *weightScheme `json:"weights"`
			Targets []string      `json:"targets"`
		}
		if err := json.Unmarshal(groups[name], &g); err != nil {
			return fmt.Errorf("config_groups %q: %w", name, err)
		}
		if g.Weights == nil {
			continue
		}
		f, err := g.Weights.format()
		if err != nil {
			return fmt.Errorf("config_groups %q: %w", name, err)
		}
		if targets += len(g.Targets); targets > maxTargets {
			return fmt.Errorf("config_groups %q: over %d targets", name, maxTargets)
		}
		s := scope{format: f, linears: len(g.Targets) == 0}
		for _, t := range g.Targets {
			if err := s.target(t); err != nil {
				return fmt.Errorf("config_groups %q: %w", name, err)
			}
		}
		if s.linears && !slices.Contains(classes, f) {
			classes = append(classes, f)
		}
		packed[g.Weights.packed()] = true
		q.scopes = append(q.scopes, s)
	}
	if len(q.scopes) == 0 {
		return fmt.Errorf("config_groups: no group describes weights")
	}
	q.rest = BF16
	q.Default = q.scopes[0].format
	for _, s := range q.scopes[1:] {
		if s.format.Bytes > q.Default.Bytes {
			q.Default = s.format
		}
	}
	if len(packed) == 1 { // else how many weights a word holds depends on the group
		for bits := range packed {
			q.packedBits = bits
		}
	}
	if len(classes) > 1 {
		q.mixed = classes[0].Name + " and " + classes[1].Name
		q.scopes, q.rest = nil, Format{}
	}
	return nil
}

// packed is the width of integers packed into 32-bit words, 0 for others.
func (s *weightScheme) packed() int {
	if s.Type == "int" && s.Bits < 8 {
		return s.Bits
	}
	return 0
}

// dynamic reads GPTQModel's rules by module, in their order: "-:expression"
// leaves modules unquantized, "+:expression" or a bare one gives them other
// bits or another group size (vLLM gptq_utils.py: get_dynamic_override).
func (c *quantConfig) dynamic(q *Quant) error {
	if len(c.Dynamic) == 0 || string(c.Dynamic) == "null" {
		return nil
	}
	dec := json.NewDecoder(bytes.NewReader(c.Dynamic))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return fmt.Errorf("field \"dynamic\": expected an object of rules by module")
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return fmt.Errorf("field \"dynamic\": %w", err)
		}
		pattern := key.(string) // keys of an object are strings
		if len(q.scopes) >= maxTargets {
			return fmt.Errorf("field \"dynamic\": over %d rules", maxTargets)
		}
		var own quantConfig
		if err := dec.Decode(&own); err != nil {
			return fmt.Errorf("field \"dynamic\": rule %q: %w", pattern, err)
		}
		own.Bits = cmp.Or(own.width(), c.width())
		own.Group = cmp.Or(own.Group, own.QGroup, c.Group, c.QGroup)
		own.Sym = cmp.Or(own.Sym, c.Sym)
		var s scope
		expression, negative := strings.CutPrefix(pattern, "-:")
		expression = strings.TrimPrefix(expression, "+:")
		e, err := compile(expression)
		if err != nil {
			return fmt.Errorf("field \"dynamic\": rule %q: %w", pattern, err)
		}
		s.exprs, s.none = []expr{e}, negative
		if !negative {
			if s.format, err = own.integers("GPTQ", !derefOr(own.Sym, true)); err != nil {
				return fmt.Errorf("field \"dynamic\": rule %q: %w", pattern, err)
			}
			if own.Bits != q.packedBits {
				q.packedBits = 0 // how many weights a word holds depends on the module
			}
		}
		q.scopes = append(q.scopes, s)
	}
	q.rest = q.Default
	return nil
}
