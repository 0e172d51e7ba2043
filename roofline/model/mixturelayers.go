package model

// The values of mlp_layer_types.
const (
	denseMLP  = "dense"
	sparseMLP = "sparse"
)

// mixtureDefault is what a family's configuration class takes for fields that
// a file leaves out: dense first layers and shared experts.
type mixtureDefault struct{ dense, shared int }

// mixtureDefaults are those of transformers: first_k_dense_replace and
// n_shared_experts of DeepseekV2Config, DeepseekV3Config (V3.2 derives from
// it), Glm4MoeConfig, Glm4MoeLiteConfig and GlmMoeDsaConfig, whose mlp_layer_types start with
// three dense layers.
var mixtureDefaults = map[string]mixtureDefault{
	"DeepseekV2ForCausalLM":  {0, 2},
	"DeepseekV3ForCausalLM":  {3, 1},
	"DeepseekV32ForCausalLM": {3, 1},
	"GlmMoeDsaForCausalLM":   {3, 1},
	"Glm4MoeForCausalLM":     {1, 1},
	"Glm4MoeLiteForCausalLM": {1, 1},
}

// mixtureLayers says which layers have a mixture of experts: those behind the
// first first_k_dense_replace whose number every divides (1 where the family
// has no such stride), or those mlp_layer_types calls sparse. A file where
// the two contradict each other is an error: engines differ in which they ask
// (vLLM the former, Transformers the latter), and either may be the slip.
func (b *Builder) mixtureLayers(every int) []bool {
	stated := b.c.Has("first_k_dense_replace")
	first := b.c.IntOr(0, "first_k_dense_replace")
	types := b.c.perLayer("mlp_layer_types", b.d.Layers, denseMLP, sparseMLP)
	if !stated && types == nil {
		first = mixtureDefaults[b.c.Architecture].dense
		b.note("neither first_k_dense_replace nor mlp_layer_types is in the file: the first %d layers are taken as dense, the default of the family's configuration class", first)
	}
	mixed := make([]bool, b.d.Layers)
	for i := range mixed {
		rule := i >= first && i%every == 0
		mixed[i] = rule
		if types == nil {
			continue
		}
		mixed[i] = types[i] == sparseMLP
		if stated && mixed[i] != rule {
			b.c.fail("mlp_layer_types", "layer %d is %s, but first_k_dense_replace %d%s says otherwise; correct the one that is wrong", i, types[i], first, stride(every))
			break
		}
		if !stated && mixed[i] && !rule {
			b.c.fail("mlp_layer_types", "layer %d is %s, but moe_layer_freq %d says otherwise; correct the one that is wrong", i, types[i], every)
			break
		}
	}
	return mixed
}

func stride(every int) string {
	if every == 1 {
		return ""
	}
	return " with moe_layer_freq"
}
