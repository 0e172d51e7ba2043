package traces

import (
	"strconv"
	"strings"
)

// Phase says what a step computes.
type Phase string

// The phases of serving. Unphased is a step whose mark does not say.
const (
	Unphased Phase = ""
	Decode   Phase = "decode"
	Prefill  Phase = "prefill"
	Mixed    Phase = "mixed" // prefill chunks and decode tokens in one step
	Idle     Phase = "idle"  // the scheduler found nothing to do
)

// Mark is what the name of an annotation says about a step. Zero counts mean
// that the name does not give them.
type Mark struct {
	Name   string // as annotated
	Family string // the engine or tool that writes such names
	Phase  Phase
	Batch  int // sequences in the step
	Padded int // sequences the kernels were launched for, where larger graphs are replayed
	Tokens int // query tokens in the step
	Keys   int // sum of key lengths over the decoding sequences
}

// The families of marks, best first: an engine's own mark is one step of the
// scheduler, a profiler's mark may hold many.
const (
	FamilyVLLM     = "vllm"
	FamilySGLang   = "sglang"
	FamilyATOM     = "atom"
	FamilyNamed    = "decode_step"
	FamilyProfiler = "torch-profiler"
)

var markFamilies = [...]struct {
	name  string
	parse func(string) (Mark, bool)
}{
	{FamilyVLLM, parseVLLM},
	{FamilySGLang, parseSGLang},
	{FamilyATOM, parseATOM},
	{FamilyNamed, parseNamed},
	{FamilyProfiler, parseProfilerStep},
}

// maxMark bounds what is looked at in an annotation's name.
const maxMark = 1024

// ParseMark recognises the name of a step's annotation.
func ParseMark(name string) (Mark, bool) {
	if len(name) > maxMark {
		return Mark{}, false
	}
	for _, f := range markFamilies {
		if m, ok := f.parse(name); ok {
			m.Name, m.Family = name, f.name
			return m, true
		}
	}
	return Mark{}, false
}

// parseVLLM reads execute_context_N(tokens)_generation_M(tokens) and the
// detailed execute_T_context_N(sq…sk…sqsq…sqsk…)_generation_M(…).
func parseVLLM(s string) (m Mark, ok bool) {
	s, ok = strings.CutPrefix(s, "execute_")
	if !ok {
		return m, false
	}
	total, s, detailed := leadingInt(s)
	if detailed {
		if s, ok = strings.CutPrefix(s, "_"); !ok {
			return m, false
		}
	}
	prefills, inContext, s, ok := countedGroup(s, "context_")
	if !ok {
		return m, false
	}
	if s, ok = strings.CutPrefix(s, "_"); !ok {
		return m, false
	}
	decodes, inGeneration, _, ok := countedGroup(s, "generation_")
	if !ok {
		return m, false
	}
	m.Batch = prefills + decodes
	if detailed {
		m.Tokens = total
		m.Keys = field(inGeneration, "sk")
	} else {
		c, _, okC := leadingInt(inContext)
		g, _, okG := leadingInt(inGeneration)
		if okC && okG {
			m.Tokens = c + g
		}
	}
	m.Phase = phaseOf(prefills, decodes)
	return m, true
}

func phaseOf(prefills, decodes int) Phase {
	switch {
	case prefills > 0 && decodes > 0:
		return Mixed
	case prefills > 0:
		return Prefill
	case decodes > 0:
		return Decode
	}
	return Idle
}

// countedGroup reads "<word>N(inside)" and returns N, inside and what follows.
func countedGroup(s, word string) (n int, inside, rest string, ok bool) {
	if s, ok = strings.CutPrefix(s, word); !ok {
		return
	}
	if n, s, ok = leadingInt(s); !ok {
		return
	}
	if s, ok = strings.CutPrefix(s, "("); !ok {
		return
	}
	inside, rest, ok = strings.Cut(s, ")")
	return
}

// parseSGLang reads step[DECODE bs=32], step[EXTEND bs=1 toks=512], step[idle].
func parseSGLang(s string) (m Mark, ok bool) {
	inside, ok := bracketed(s, "step[")
	if !ok {
		return m, false
	}
	word, rest, _ := strings.Cut(inside, " ")
	switch strings.ToLower(word) {
	case "decode", "target_verify":
		m.Phase = Decode
	case "extend", "prefill", "split_prefill":
		m.Phase = Prefill
	case "mixed":
		m.Phase = Mixed
	case "idle":
		m.Phase = Idle
	default:
		return Mark{}, false
	}
	m.Batch, m.Padded = batchOf(assigned(rest, "bs"))
	m.Tokens, _, _ = leadingInt(assigned(rest, "toks"))
	return m, true
}

// parseATOM reads decode[bs=117/128 tok=117 d=1] and prefill[bs=2 tok=900].
func parseATOM(s string) (m Mark, ok bool) {
	inside, ok := bracketed(s, "decode[")
	m.Phase = Decode
	if !ok {
		inside, ok = bracketed(s, "prefill[")
		m.Phase = Prefill
	}
	if !ok {
		return Mark{}, false
	}
	m.Batch, m.Padded = batchOf(assigned(inside, "bs"))
	m.Tokens, _, _ = leadingInt(assigned(inside, "tok"))
	return m, true
}

// parseNamed reads the names people give by hand: decode_step, prefill_step,
// with or without a number behind.
func parseNamed(s string) (m Mark, ok bool) {
	for _, w := range [...]struct {
		word  string
		phase Phase
	}{{"decode_step", Decode}, {"prefill_step", Prefill}} {
		rest, found := strings.CutPrefix(s, w.word)
		if found && strings.Trim(rest, "_#: 0123456789") == "" {
			return Mark{Phase: w.phase}, true
		}
	}
	return m, false
}

func parseProfilerStep(s string) (m Mark, ok bool) {
	rest, ok := strings.CutPrefix(s, "ProfilerStep")
	return m, ok && strings.Trim(rest, "#*0123456789") == ""
}

// bracketed returns what stands between prefix (with its bracket) and the
// closing bracket.
func bracketed(s, prefix string) (string, bool) {
	s, ok := strings.CutPrefix(s, prefix)
	if !ok {
		return "", false
	}
	s, _, ok = strings.Cut(s, "]")
	return s, ok
}

// assigned returns V of "key=V" among space-separated words.
func assigned(s, key string) string {
	for word := range strings.FieldsSeq(s) {
		if v, ok := strings.CutPrefix(word, key+"="); ok {
			return v
		}
	}
	return ""
}

// batchOf reads "117" and "117/128".
func batchOf(s string) (batch, padded int) {
	batch, s, ok := leadingInt(s)
	if !ok {
		return 0, 0
	}
	if s, ok = strings.CutPrefix(s, "/"); ok {
		padded, _, _ = leadingInt(s)
	}
	return batch, padded
}

// field reads the number behind key in "sq32sk32785sqsq32": sk must not be
// found inside sqsk, so the words are walked in order.
func field(s, key string) int {
	for s != "" {
		letters := strings.IndexFunc(s, func(r rune) bool { return r >= '0' && r <= '9' })
		if letters < 0 {
			return 0
		}
		word := s[:letters]
		n, rest, ok := leadingInt(s[letters:])
		if !ok {
			return 0
		}
		if word == key {
			return n
		}
		s = rest
	}
	return 0
}

// leadingInt reads up to 12 digits: more is no count of anything in a step.
func leadingInt(s string) (n int, rest string, ok bool) {
	end := 0
	for end < len(s) && s[end] >= '0' && s[end] <= '9' {
		end++
	}
	if end == 0 || end > 12 {
		return 0, s, false
	}
	v, err := strconv.ParseInt(s[:end], 10, 64)
	return int(v), s[end:], err == nil && int64(int(v)) == v
}
