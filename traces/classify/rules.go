package classify

import (
	"bufio"
	_ "embed"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"decodegap/roofline"
	"decodegap/roofline/nearest"
)

// Limits of a rules file. It is read whole, so each of them bounds memory.
const (
	maxRules   = 5000
	maxLine    = 4096
	maxPattern = 1024
	maxField   = 200
)

//go:embed rules.tsv
var ruleTable string

// Rule names the kernels that a pattern matches. Rules are ordered: the first
// that matches a normalised name wins.
type Rule struct {
	Pattern   string // as written: a glob, or RE2 between slashes
	Class     string // a component, or a kernel class word that context refines
	Library   string // "" where not said
	Precision string // "auto": read from the name; "none"; or as it is
	Note      string
	Where     string // "file:line"

	match *regexp.Regexp
}

// ParseRules reads a rules file: one rule a line, fields separated by tabs:
// pattern, component or class word, and optionally library, precision and a
// note. Empty lines and lines that begin with # are skipped. Errors name the
// file and line, what was found and what was expected.
func ParseRules(r io.Reader, name string) ([]Rule, error) {
	var rules []Rule
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 0, maxLine), maxLine)
	line := 0
	for s.Scan() {
		line++
		text := strings.TrimRight(s.Text(), "\r")
		if line == 1 {
			text = strings.TrimPrefix(text, "\ufeff")
		}
		if t := strings.TrimSpace(text); t == "" || strings.HasPrefix(t, "#") {
			continue
		}
		if len(rules) == maxRules {
			return nil, fmt.Errorf("%s:%d: more than %d rules; split or shorten the file", name, line, maxRules)
		}
		rule, err := parseRule(text)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, line, err)
		}
		rule.Where = fmt.Sprintf("%s:%d", name, line)
		rules = append(rules, rule)
	}
	if err := s.Err(); err != nil {
		return nil, fmt.Errorf("%s:%d: read rules: %w (a line may have %d bytes)", name, line+1, err, maxLine)
	}
	if len(rules) == 0 {
		return nil, fmt.Errorf("%s: no rule in it; expected a pattern and a component a line, with a tab between them", name)
	}
	return rules, nil
}

func parseRule(text string) (Rule, error) {
	f := strings.Split(text, "\t")
	if len(f) < 2 {
		return Rule{}, fmt.Errorf("%d field, expected at least pattern and component with a tab between them", len(f))
	}
	if len(f) > 5 {
		return Rule{}, fmt.Errorf("%d fields, expected at most pattern, component, library, precision and note", len(f))
	}
	for i := range f {
		f[i] = strings.TrimSpace(f[i])
		if i > 0 && len(f[i]) > maxField {
			return Rule{}, fmt.Errorf("field %d has %d bytes, expected at most %d", i+1, len(f[i]), maxField)
		}
	}
	f = append(f, "", "", "")
	r := Rule{Pattern: f[0], Class: f[1], Library: f[2], Precision: f[3], Note: f[4]}
	if _, _, ok := lookupWord(word(r.Class)); !ok {
		return Rule{}, unknownClass(r.Class)
	}
	if r.Precision == "" {
		r.Precision = "auto"
	}
	match, err := compile(r.Pattern)
	if err != nil {
		return Rule{}, err
	}
	r.match = match
	return r, nil
}

// compile turns a pattern into an expression. A pattern between slashes is
// RE2 and may match anywhere; anything else is a glob over the whole name, *
// for any run of characters and ? for one.
func compile(pattern string) (*regexp.Regexp, error) {
	switch {
	case pattern == "":
		return nil, fmt.Errorf("empty pattern, expected a glob such as *my_kernel* or /RE2/")
	case !utf8.ValidString(pattern):
		return nil, fmt.Errorf("pattern %q: invalid UTF-8", pattern)
	case len(pattern) > maxPattern:
		return nil, fmt.Errorf("pattern has %d bytes, expected at most %d", len(pattern), maxPattern)
	}
	var expr string
	if strings.HasPrefix(pattern, "/") {
		if len(pattern) < 3 || !strings.HasSuffix(pattern, "/") {
			return nil, fmt.Errorf("pattern %q begins with / but does not end with it; write /RE2/, or a glob", pattern)
		}
		expr = pattern[1 : len(pattern)-1]
	} else {
		if err := globLooks(pattern); err != nil {
			return nil, err
		}
		expr = globToRE2(pattern)
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, fmt.Errorf("pattern %q: %w; RE2 syntax has no look-around or back-references", pattern, err)
	}
	return re, nil
}

// globLooks refuses a glob that was meant as an expression: as a glob it would
// match no kernel, and nobody would be told. Parentheses and brackets are part
// of many names, but there they are closed.
func globLooks(pattern string) error {
	for _, pair := range [...]struct{ open, close string }{{"(", ")"}, {"[", "]"}, {"{", "}"}} {
		if a, b := strings.Count(pattern, pair.open), strings.Count(pattern, pair.close); a != b {
			return fmt.Errorf("pattern %q has %d %s but %d %s; write an expression between slashes (/RE2/), and a name's beginning as name*", pattern, a, pair.open, b, pair.close)
		}
	}
	for _, sign := range [...]string{".*", ".+", "|", "\\", "^"} {
		if strings.Contains(pattern, sign) {
			return fmt.Errorf("pattern %q holds %s as in an expression; write it between slashes (/RE2/): a glob knows * and ? only", pattern, sign)
		}
	}
	if strings.HasSuffix(pattern, "/") {
		return fmt.Errorf("pattern %q ends with / but does not begin with it; write /RE2/, or a glob", pattern)
	}
	return nil
}

func globToRE2(glob string) string {
	var b strings.Builder
	b.WriteString("^(?s:")
	for _, c := range glob {
		switch c {
		case '*':
			b.WriteString(".*")
		case '?':
			b.WriteByte('.')
		default:
			b.WriteString(regexp.QuoteMeta(string(c)))
		}
	}
	b.WriteString(")$")
	return b.String()
}

func unknownClass(class string) error {
	names := make([]string, 0, len(roofline.Components)+len(families))
	for _, c := range roofline.Components {
		names = append(names, string(c.Name))
	}
	for _, f := range families {
		names = append(names, f.word)
	}
	if near := nearest.Names(class, names); len(near) > 0 {
		return fmt.Errorf("%q is neither a component nor a class word; did you mean %q?", class, near[0])
	}
	return fmt.Errorf("%q is neither a component nor a class word; docs/extend/kernel_rule.md lists both", class)
}
