package records

import (
	"math"
	"strings"
	"testing"
)

func TestCatalogue(t *testing.T) {
	entries, err := parse(catalogue)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, e := range entries {
		key := strings.Join([]string{e.Model, e.Hardware, e.Engine, e.Speculation, e.Source}, "|")
		if seen[key] {
			t.Errorf("twice: %s", key)
		}
		seen[key] = true
		if !strings.Contains(e.Source, "/") {
			t.Errorf("%s: source %q names no repository", e.Model, e.Source)
		}
	}
}

// TestPlausible holds every result to what no such server breaks: a stream of
// a batch is never faster than a stream alone, by more than a tenth.
func TestPlausible(t *testing.T) {
	entries, err := parse(catalogue)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		alone := e.TokPerS["1"]
		if alone == 0 {
			t.Errorf("%s, %s: no result at concurrency 1 to hold the others to", e.Model, e.Engine)
		}
		for _, b := range e.results() {
			if each := b.OutputTokPerS / float64(b.Concurrency); each > 1.1*alone {
				t.Errorf("%s, %s: %.1f tok/s a stream at %d, %.1f alone", e.Model, e.Engine, each, b.Concurrency, alone)
			}
			if want := 1000 * float64(b.Concurrency) / b.OutputTokPerS; b.MsPerToken == nil || math.Abs(*b.MsPerToken-want) > 1e-9 {
				t.Errorf("%s: ms per token %v, want %g", e.Model, b.MsPerToken, want)
			}
		}
	}
}

func TestMatch(t *testing.T) {
	for name, tc := range map[string]struct {
		class, hardware string
		gpus            int
		model           string // "" for none
	}{
		"class":              {"GLM-5", "RTX PRO 6000 Blackwell Workstation", 8, "GLM-5-NVFP4"},
		"any edition":        {"GLM-5", "NVIDIA RTX PRO 6000 Blackwell Server Edition", 8, "GLM-5-NVFP4"},
		"checkpoint":         {"lukealonso/GLM-5-NVFP4", "RTX PRO 6000 Blackwell Workstation", 8, "GLM-5-NVFP4"},
		"catalogue name":     {"glm-5-fp8", "RTX PRO 6000 Blackwell Workstation", 8, "GLM-5-NVFP4"},
		"GLM-5.1 is another": {"GLM-5.1", "RTX PRO 6000 Blackwell Workstation", 8, "GLM-5.1-NVFP4"},
		"GLM-5.2 is another": {"GLM-5.2", "RTX PRO 6000 Blackwell Workstation", 8, "GLM-5.2-NVFP4"},
		"GLM-5.2 on H200":    {"GLM-5.2", "H200 SXM", 8, "GLM-5.2-FP8"},
		"fewer GPUs":         {"GLM-5", "RTX PRO 6000 Blackwell Workstation", 4, ""},
		"other GPU":          {"GLM-5", "RTX PRO 6000", 8, ""},
		"older GPU":          {"GLM-5", "RTX 6000 Ada", 8, ""},
		"unknown class":      {"", "RTX PRO 6000 Blackwell Workstation", 8, ""},
		"other model":        {"Qwen3-8B", "RTX PRO 6000 Blackwell Workstation", 8, ""},
	} {
		got := Match(tc.class, tc.hardware, tc.gpus)
		if (len(got) > 0) != (tc.model != "") {
			t.Errorf("%s: %d results", name, len(got))
		}
		for i, b := range got {
			if b.Model != tc.model || b.GPUs != tc.gpus || b.Source == "" {
				t.Errorf("%s: %+v", name, b)
			}
			if i > 0 && (got[i-1].Concurrency > b.Concurrency || got[i-1].Concurrency == b.Concurrency && got[i-1].OutputTokPerS < b.OutputTokPerS) {
				t.Errorf("%s: not in order at %d", name, i)
			}
		}
	}
}

// TestFounding pins the figures that the founding case is set against.
func TestFounding(t *testing.T) {
	best := map[int]float64{}
	for _, b := range Match("GLM-5", "RTX PRO 6000 Blackwell Workstation", 8) {
		if b.Speculation == "none" {
			best[b.Concurrency] = max(best[b.Concurrency], b.OutputTokPerS)
		}
	}
	for concurrency, want := range map[int]float64{1: 56.6, 8: 301.9, 32: 659.7, 64: 1010.6} {
		if best[concurrency] != want {
			t.Errorf("best at %d: %g, want %g", concurrency, best[concurrency], want)
		}
	}
}

func TestAll(t *testing.T) {
	if n := len(All()); n < 40 {
		t.Errorf("only %d results", n)
	}
}

func TestParseRejects(t *testing.T) {
	good := `[{"class":"a","model":"a","hardware":"h","gpus":1,"engine":"e","speculation":"none","output_tok_s":{"1":2},"source":"o/r","note":""}]`
	if _, err := parse([]byte(good)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, new string }{
		{`"source":"o/r"`, `"source":" "`}, {`"gpus":1`, `"gpus":0`}, {`"none"`, `"maybe"`}, {`{"1":2}`, `{}`}, {`{"1":2}`, `{"01":2}`},
		{`{"1":2}`, `{"1":0}`}, {`{"1":2}`, `{"0":2}`}, {`"note":""`, `"extra":""`}, {`}]`, `}] x`}, {`"engine":"e"`, `"engine":""`},
	} {
		bad := strings.Replace(good, c.old, c.new, 1)
		if bad == good {
			t.Errorf("%s is not in the entry", c.old)
		}
		if _, err := parse([]byte(bad)); err == nil {
			t.Errorf("%s was accepted", c.new)
		}
	}
}
