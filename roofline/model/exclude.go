package model

import (
	"fmt"
	"slices"
	"strings"
)

// exclusions is a list of modules kept out of quantization. A pattern excludes
// a module if, as a glob over the whole name (* also crosses dots), it matches
// the module's name or a parent's. A pattern without dot and star also matches
// any one path component, as vLLM and transformers read such words.
type exclusions struct {
	exact map[string]bool
	words map[string]bool
	globs []glob
	exprs []expr

	effort *effort // nil for no bound

	namesExperts bool // an entry without star may mean one expert of a layer
}

// glob is a pattern with stars, cut at them.
type glob struct {
	parts []string
}

// Bounds of an exclude list; the longest real one has some thousand entries.
const (
	maxPatterns = 1 << 17
	maxPattern  = 4096
)

func parseExclusions(patterns []string) (*exclusions, error) {
	if len(patterns) > maxPatterns {
		return nil, fmt.Errorf("exclude list has %d entries, above the limit of %d", len(patterns), maxPatterns)
	}
	x := &exclusions{exact: map[string]bool{}, words: map[string]bool{}}
	for _, p := range patterns {
		if p == "" {
			continue
		}
		if len(p) > maxPattern {
			return nil, fmt.Errorf("exclude pattern of %d characters, above the limit of %d", len(p), maxPattern)
		}
		switch pattern, isExpr := strings.CutPrefix(p, "re:"); {
		case isExpr:
			// compressed-tensors: a regular expression matched from the start.
			e, err := compile(pattern)
			if err != nil {
				return nil, fmt.Errorf("exclude pattern %q: %w", p, err)
			}
			x.exprs = append(x.exprs, e)
		case strings.Contains(p, "*"):
			x.globs = append(x.globs, glob{strings.Split(p, "*")})
		case !strings.Contains(p, "."):
			x.words[p] = true
			x.exact[p] = true
			x.namesExperts = x.namesExperts || p[0] >= '0' && p[0] <= '9'
		default:
			x.exact[p] = true
			x.namesExperts = x.namesExperts || strings.Contains(p, "experts.")
		}
	}
	return x, nil
}

// under narrows the list to what can match a module below prefix.
func (x *exclusions) under(prefix string) *exclusions {
	y := &exclusions{exact: x.exact, words: x.words, exprs: x.exprs, namesExperts: x.namesExperts, effort: x.effort}
	if !x.effort.spend(len(x.globs)) {
		return y
	}
	for _, g := range x.globs {
		head := g.parts[0]
		if strings.HasPrefix(head, prefix) || strings.HasPrefix(prefix, head) {
			y.globs = append(y.globs, g)
		}
	}
	return y
}

// match says whether the list excludes the module.
func (x *exclusions) match(module string) bool {
	for name := module; ; {
		if !x.effort.spend(4 * len(x.globs)) {
			return false
		}
		if x.exact[name] || slices.ContainsFunc(x.globs, func(g glob) bool { return g.match(name) }) {
			return true
		}
		dot := strings.LastIndexByte(name, '.')
		if x.words[name[dot+1:]] {
			return true
		}
		if dot < 0 {
			break
		}
		name = name[:dot]
	}
	return slices.ContainsFunc(x.exprs, func(e expr) bool { return e.match(module, x.effort) })
}

// match matches a whole name, a star standing for any text.
func (g glob) match(name string) bool {
	last := len(g.parts) - 1
	rest, ok := strings.CutPrefix(name, g.parts[0])
	if !ok {
		return false
	}
	for _, part := range g.parts[1:last] {
		i := strings.Index(rest, part)
		if i < 0 {
			return false
		}
		rest = rest[i+len(part):]
	}
	return strings.HasSuffix(rest, g.parts[last])
}
