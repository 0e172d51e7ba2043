package model

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
)

// effort is how much matching of lists against modules is left. Every length
// of a configuration is bounded, but their product is not.
type effort struct{ left int }

// maxEffort is some five seconds of it; the largest real lists need a tenth.
const maxEffort = 1 << 28

// spend takes some, false if none is left.
func (e *effort) spend(n int) bool {
	if e == nil {
		return true
	}
	e.left -= n
	return e.left > 0
}

// expr is a regular expression over module names.
type expr struct {
	re       *regexp.Regexp
	literals []string // that a match has in this order
	cost     int      // of one match
}

// compile makes an expression that is matched from the start of a name, as
// Python's re.match does.
func compile(pattern string) (expr, error) {
	if len(pattern) > maxPattern {
		return expr{}, fmt.Errorf("expression of %d characters, above the limit of %d", len(pattern), maxPattern)
	}
	re, err := regexp.Compile("^(?:" + pattern + ")")
	if err != nil {
		return expr{}, err
	}
	e := expr{re: re, cost: 32 + 4*len(pattern)}
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return e, nil // parsed above: cannot happen
	}
	tree = tree.Simplify()
	if program, err := syntax.Compile(tree); err == nil {
		e.cost = 32 + 4*len(program.Inst) // which bounds the work on one character
	}
	parts := []*syntax.Regexp{tree}
	if tree.Op == syntax.OpConcat {
		parts = tree.Sub
	}
	for _, part := range parts {
		if part.Op == syntax.OpLiteral && part.Flags&syntax.FoldCase == 0 {
			e.literals = append(e.literals, string(part.Rune))
		}
	}
	return e, nil
}

// match says whether the expression matches the start of a name; false too
// where no effort is left. Most modules lack a literal, which is cheap to see.
func (e expr) match(name string, left *effort) bool {
	rest := name
	for _, l := range e.literals {
		i := strings.Index(rest, l)
		if i < 0 {
			left.spend(4)
			return false
		}
		rest = rest[i+len(l):]
	}
	return left.spend(e.cost) && e.re.MatchString(name)
}
