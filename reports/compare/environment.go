package compare

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"decodegap/reports"
)

// recorded are the facts that every side must state before a comparison can be
// sound, as people call them.
var recorded = []struct {
	name string
	has  func(facts map[string]string) bool
	// after is a fact group that must be known before this one is asked for.
	after string
}{
	{"kernel", func(f map[string]string) bool { return f["host.kernel"] != "" }, ""},
	{"driver", func(f map[string]string) bool { return f["gpu.driver"] != "" }, ""},
	{"server settings", hasFlags, ""},
	{"engine version", func(f map[string]string) bool { return f["engine.version"] != "" || f["engine.image"] != "" }, "server settings"},
}

func hasFlags(facts map[string]string) bool {
	for k := range facts {
		if strings.HasPrefix(k, "flag.") {
			return true
		}
	}
	return false
}

// unimportant facts name a run or repeat a result.
var unimportant = []string{"bench.date", "bench.tag", "bench.dialect", "bench.total_tok_s_per_gpu", "bench.output_tok_s_per_gpu"}

const maxReasons = 30 // differences printed; the rest are counted

// environment lists what keeps the sides from being comparable: facts that
// nobody recorded, that differ, or that one side does not state. what is what
// a side is: "file", "run record".
func environment(series []reports.Series, o Options, what string) []string {
	var reasons []string
	missing := map[string][]string{} // side names by fact group
	for _, need := range recorded {
		for _, s := range series {
			if !need.has(s.Facts) {
				missing[need.name] = append(missing[need.name], s.Name)
			}
		}
	}
	var nowhere []string
	for _, need := range recorded {
		gone := missing[need.name]
		switch {
		case len(gone) == 0, need.after != "" && len(missing[need.after]) > 0:
		case len(gone) == len(series):
			nowhere = append(nowhere, need.name)
		default:
			reasons = append(reasons, fmt.Sprintf("%s not recorded for %s: cannot be confirmed to agree", need.name, list(gone)))
		}
	}
	if len(nowhere) > 0 {
		either := "either " + what
		if len(series) > 2 {
			either = "any " + what
		}
		verb := "are"
		if len(nowhere) == 1 && nowhere[0] != "server settings" {
			verb = "is"
		}
		reasons = slices.Insert(reasons, 0, fmt.Sprintf("%s %s not recorded in %s", list(nowhere), verb, either))
	}
	noFlags := len(missing["server settings"]) > 0
	var differ, unknown []string
	for _, key := range allKeys(series) {
		if slices.Contains(unimportant, key) || o.varies(key) {
			continue
		}
		switch values, known := valuesOf(series, key); {
		case !equal(values):
			differ = append(differ, fmt.Sprintf("%s differs: %s", key, spell(series, values)))
		case !known && !(noFlags && strings.HasPrefix(key, "flag.")) && !said(missing, key):
			unknown = append(unknown, fmt.Sprintf("%s cannot be confirmed: %s", key, spell(series, values)))
		}
	}
	reasons = append(reasons, differ...)
	reasons = append(reasons, unknown...)
	if n := len(reasons) - maxReasons; n > 0 {
		reasons = append(reasons[:maxReasons], fmt.Sprintf("and %d more", n))
	}
	for i, r := range reasons {
		reasons[i] = reports.OneLine(r, 0)
	}
	return reasons
}

// said is true for keys that the missing groups already speak of, so that one
// gap is not told twice.
func said(missing map[string][]string, key string) bool {
	switch key {
	case "host.kernel":
		return len(missing["kernel"]) > 0
	case "gpu.driver":
		return len(missing["driver"]) > 0
	case "engine.version", "engine.image":
		return len(missing["engine version"]) > 0
	}
	return false
}

func (o Options) varies(key string) bool {
	return slices.ContainsFunc(o.Vary, func(pattern string) bool {
		prefix, open := strings.CutSuffix(pattern, "*")
		return key == pattern || open && strings.HasPrefix(key, prefix)
	})
}

func allKeys(series []reports.Series) []string {
	set := map[string]bool{}
	for _, s := range series {
		for k := range s.Facts {
			set[k] = true
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// valuesOf is the fact on each side, "" where unknown.
func valuesOf(series []reports.Series, key string) (values []string, known bool) {
	known = true
	for _, s := range series {
		v := s.Facts[key]
		values = append(values, v)
		known = known && v != ""
	}
	return values, known
}

// equal says that the known values agree.
func equal(values []string) bool {
	first := ""
	for _, v := range values {
		if v == "" {
			continue
		}
		if first != "" && v != first {
			return false
		}
		first = v
	}
	return true
}

func spell(series []reports.Series, values []string) string {
	var parts []string
	for i, v := range values {
		if v == "" {
			v = "unknown"
		}
		parts = append(parts, reports.OneLine(v, 60)+" in "+series[i].Name)
	}
	return strings.Join(parts, ", ")
}

// list joins names as in a sentence.
func list(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// lengthTolerance is how far mean lengths of requests may be apart.
const lengthTolerance = 0.02

// workloads lists points at which the sides ran different requests.
func workloads(series []reports.Series) []string {
	var reasons []string
	tools := map[string]bool{}
	for _, s := range series {
		tools[s.Tool] = true
	}
	if len(tools) > 1 {
		reasons = append(reasons, "measured with different tools: "+reports.OneLine(list(slices.Sorted(maps.Keys(tools))), 200))
	}
	first := series[0]
	for _, s := range series[1:] {
		for _, what := range []struct {
			name string
			of   func(reports.SeriesPoint) *float64
		}{
			{"input tokens a request", func(p reports.SeriesPoint) *float64 { return p.InputTokens }},
			{"output tokens a request", func(p reports.SeriesPoint) *float64 { return p.OutputTokens }},
		} {
			if r := lengthsDiffer(first, s, what.name, what.of); r != "" {
				reasons = append(reasons, r)
			}
		}
	}
	return reasons
}

// lengthsDiffer names the first point at which the lengths are apart.
func lengthsDiffer(a, b reports.Series, what string, of func(reports.SeriesPoint) *float64) string {
	for _, p := range a.Points {
		for _, q := range b.Points {
			x, y := of(p), of(q)
			if p.Concurrency != q.Concurrency || x == nil || y == nil {
				continue
			}
			if d := *x - *y; d > lengthTolerance**x || -d > lengthTolerance**x {
				return reports.OneLine(fmt.Sprintf("%s differ at concurrency %g: %.1f in %s, %.1f in %s", what, p.Concurrency, *x, a.Name, *y, b.Name), 0)
			}
		}
	}
	return ""
}
