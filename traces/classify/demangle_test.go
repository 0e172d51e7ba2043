package classify

import (
	"strings"
	"testing"
)

// Mangled names are spelled out for people, those of ROCm's compilers with the
// newest types too; what was cut stays as it is.
func TestDemangle(t *testing.T) {
	for in, want := range map[string]string{
		"_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi256ELi16ELb1ELb0ELb1ELi1EEEvPT0_PT_PfS4_S4_S4_diiiiiiib": "void aiter::add_rmsnorm_quant_kernel<__bf16, __bf16, 256, 16, true, false, true, 1>(",
		"_ZN7cutlass13device_kernelINS_4gemm6kernel13GemmUniversalIiEEEEvNT_6ParamsE":                             "void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<int> >(",
		"_ZN7ck_tile6kentryILi1ENS_12Rmsnorm2dFwdINS_27Rmsnorm2dFwdPipelineOnePassI":                              "_ZN7ck_tile6kentryILi1E",
		"_Z3addPfS_.kd":                    "add(float*, float*)",
		"gemm.kd":                          "gemm.kd",
		"":                                 "",
		"_Z" + strings.Repeat("N1a", 3000): "_ZN1aN1a",
	} {
		if got := Demangle(in); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("Demangle(%.60q) = %.120q, want %q", in, got, want)
		}
	}
}
