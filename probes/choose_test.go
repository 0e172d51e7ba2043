package probes

import (
	"slices"
	"strings"
	"testing"
)

func TestChoose(t *testing.T) {
	all := []Probe{{Name: "cpu/read"}, {Name: "cpu/copy"}, {Name: "cpu/gemv_bf16"}, {Name: "cpu/gemv_nvfp4"}, {Name: "cpu/gemv_nvfp4_tail"}}
	for _, c := range []struct{ names, want []string }{
		{nil, []string{"cpu/read", "cpu/copy", "cpu/gemv_bf16", "cpu/gemv_nvfp4", "cpu/gemv_nvfp4_tail"}},
		{[]string{"read"}, []string{"cpu/read"}},
		{[]string{"cpu/copy", "cpu/read", "read"}, []string{"cpu/read", "cpu/copy"}},
		{[]string{"gemv"}, []string{"cpu/gemv_bf16", "cpu/gemv_nvfp4", "cpu/gemv_nvfp4_tail"}},
		{[]string{"gemv_nvfp4"}, []string{"cpu/gemv_nvfp4"}}, // a whole name is itself only
		{[]string{"cpu/*_bf16", "c?py"}, []string{"cpu/copy", "cpu/gemv_bf16"}},
	} {
		got, err := Choose(all, c.names)
		var names []string
		for _, p := range got {
			names = append(names, p.Name)
		}
		if err != nil || !slices.Equal(names, c.want) {
			t.Errorf("%v: %v, %v, want %v", c.names, names, err, c.want)
		}
	}
	for name, hint := range map[string]string{"gem_nvfp4": "cpu/gemv_nvfp4", "raed": "cpu/read", "": "no probe", "[": "no probe", "zzzzzzzz": "known: cpu/read"} {
		if got, err := Choose(all, []string{name}); err == nil || !strings.Contains(err.Error(), hint) {
			t.Errorf("%q: %v, %v, want an error with %q", name, got, err, hint)
		}
	}
	if _, err := Choose(nil, []string{"read"}); err == nil {
		t.Error("a probe was chosen from none")
	}
}
