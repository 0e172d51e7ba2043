package model

// The values of mlp_layer_types.
const (
	denseMLP  = "dense"
	sparseMLP = "sparse"
)

// mixtureLayers says which layers have a mixture of experts: those behind the
// first first_k_dense_replace whose number every divides (1 where the family
// has no such stride), or those mlp_layer_types calls sparse. A file where
// the two contradict each other is an error: engines differ in which they ask
// (vLLM the former, Transformers the latter), and either may be the slip.
func (b *Builder) mixtureLayers(every int) []bool {
	first := b.c.IntOr(0, "first_k_dense_replace")
	stated := b.c.Has("first_k_dense_replace")
	types := b.c.perLayer("mlp_layer_types", b.d.Layers, denseMLP, sparseMLP)
	if !stated && types == nil {
		b.note("neither first_k_dense_replace nor mlp_layer_types is in the file: no layer is taken as dense")
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
