package traces

import (
	"regexp"
	"testing"
)

func TestParseMark(t *testing.T) {
	tests := []struct {
		name string
		want Mark // without Name
	}{
		{"execute_context_0(0)_generation_8(8)", Mark{Family: FamilyVLLM, Phase: Decode, Batch: 8, Tokens: 8}},
		{"execute_context_2(600)_generation_3(3)", Mark{Family: FamilyVLLM, Phase: Mixed, Batch: 5, Tokens: 603}},
		{"execute_context_1(888_788544)_generation_0(0)", Mark{Family: FamilyVLLM, Phase: Prefill, Batch: 1, Tokens: 888}},
		{"execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk32785sqsq32sqsk32785)", Mark{Family: FamilyVLLM, Phase: Decode, Batch: 32, Tokens: 32, Keys: 32785}},
		{"execute_context_0(0)_generation_0(0)", Mark{Family: FamilyVLLM, Phase: Idle}},
		{"step[DECODE bs=32]", Mark{Family: FamilySGLang, Phase: Decode, Batch: 32}},
		{"step[decode bs=4]", Mark{Family: FamilySGLang, Phase: Decode, Batch: 4}},
		{"step[EXTEND bs=2 toks=513]", Mark{Family: FamilySGLang, Phase: Prefill, Batch: 2, Tokens: 513}},
		{"step[MIXED bs=2 toks=51]", Mark{Family: FamilySGLang, Phase: Mixed, Batch: 2, Tokens: 51}},
		{"step[idle]", Mark{Family: FamilySGLang, Phase: Idle}},
		{"decode[bs=117/128 tok=117 d=1]", Mark{Family: FamilyATOM, Phase: Decode, Batch: 117, Padded: 128, Tokens: 117}},
		{"prefill[bs=2 tok=900]", Mark{Family: FamilyATOM, Phase: Prefill, Batch: 2, Tokens: 900}},
		{"decode_step", Mark{Family: FamilyNamed, Phase: Decode}},
		{"decode_step_12", Mark{Family: FamilyNamed, Phase: Decode}},
		{"ProfilerStep#41", Mark{Family: FamilyProfiler}},
	}
	for _, tt := range tests {
		got, ok := ParseMark(tt.name)
		tt.want.Name = tt.name
		if !ok || got != tt.want {
			t.Errorf("ParseMark(%q) = %+v, %v; want %+v", tt.name, got, ok, tt.want)
		}
	}
	for _, name := range []string{"", "execute_", "execute_context_", "execute_context_1(2", "execute_diffusion_4", "capture_32_FULL",
		"step[]", "step[capture]", "decode_stepper", "decode[", "ProfilerStepX", "execute_context_9999999999999(0)_generation_1(1)", "nccl:all_reduce"} {
		if m, ok := ParseMark(name); ok {
			t.Errorf("ParseMark(%q) = %+v, want no mark", name, m)
		}
	}
}

func TestGivenPattern(t *testing.T) {
	w := newWorld(0)
	for k := range int64(4) {
		start := (k + 1) * 1000 * us
		w.kernel("k", start, 300*us, 0)
		w.mark(GPURange, "my loop", start-1, start+300*us+1, uint64(k+1))
		w.mark(GPURange, "decode_step", start-1, start+200, uint64(k+90))
	}
	s, err := FindStepsBy(w.Device, regexp.MustCompile("^my loop$"))
	if err != nil || s.FoundBy != ByGiven || len(s.All) != 4 || s.Step().Wall() != 1000*us {
		t.Errorf("steps %+v, %v; want 4 given ones of 1 ms", s, err)
	}
	if _, err := FindStepsBy(w.Device, regexp.MustCompile("nothing")); err == nil {
		t.Error("a pattern that matches nothing fell back to other evidence")
	}
}

func FuzzParseMark(f *testing.F) {
	f.Add("execute_32_context_0(sq0sk0)_generation_32(sq32sk5)")
	f.Add("step[DECODE bs=32]")
	f.Add("decode[bs=117/128 tok=.. d=..]")
	f.Fuzz(func(t *testing.T, name string) {
		m, ok := ParseMark(name)
		if ok && (m.Name != name || m.Family == "") {
			t.Errorf("mark without name or family: %+v", m)
		}
		if m.Batch < 0 || m.Padded < 0 || m.Tokens < 0 || m.Keys < 0 {
			t.Errorf("negative count in %+v", m)
		}
	})
}
