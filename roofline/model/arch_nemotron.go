package model

import (
	"strings"

	"decodegap/roofline"
	"decodegap/roofline/unit"
)

// nemotronH is a hybrid whose hybrid_override_pattern has one letter a
// sublayer: M Mamba2, * attention, - feed-forward, E mixture. MLPs and experts
// have two matrices (relu²), and each sublayer one norm and one all-reduce.
var nemotronH = Arch{
	Names: []string{"NemotronHForCausalLM"},
	Doc:   "hybrid of Mamba2, attention, two-matrix feed-forward and mixture sublayers",
	Build: func(b *Builder) {
		b.root, b.embed, b.finalNorm = "backbone", "embeddings", "norm_f"
		a := b.shape()
		a.module = "mixer"
		a.bias = b.c.Bool(false, "attention_bias")
		a.outBias = a.bias
		pattern := b.c.String("hybrid_override_pattern")
		if len(pattern) != b.d.Layers {
			b.c.fail("hybrid_override_pattern", "%d letters for %d layers", len(pattern), b.d.Layers)
			return
		}
		matrices := 3
		if act := b.c.String("mlp_hidden_act"); act == "relu2" || act == "" {
			matrices = 2
		}
		m := b.mamba()
		mix := b.nemotronMixture(pattern, mlpNames(matrices))
		for i, letter := range pattern {
			b.layer(i)
			switch letter {
			case 'M':
				b.mamba2(m)
			case '*':
				b.attention(a)
			case '-':
				b.mlp("mixer", b.c.Int("intermediate_size"), matrices)
			case 'E':
				b.mixture(mix)
			default:
				b.c.fail("hybrid_override_pattern", "unknown letter %q at position %d: expected M, *, - or E", letter, i)
				return
			}
			b.norm(b.d.Hidden, "norm")
			b.launch(roofline.Norm, 1)
		}
		b.d.AllReduces = b.d.Layers + 1
		b.stateType("mamba_ssm_cache_dtype")
		b.ends(b.c.Bool(false, "tie_word_embeddings"))
	},
}

func (b *Builder) nemotronMixture(pattern string, names []string) moe {
	if !strings.ContainsRune(pattern, 'E') {
		return moe{}
	}
	b.mixtureShape()
	if b.c.Has("moe_latent_size") {
		b.c.fail("moe_latent_size", "experts on a latent are not known; the tensor shapes would be misread")
	}
	shared := b.c.IntOr(0, "moe_shared_expert_intermediate_size") * b.c.IntOr(1, "n_shared_experts")
	return moe{
		module: "mixer", router: "gate", experts: "experts", shared: "shared_experts",
		names: names, width: b.c.Int("moe_intermediate_size"), sharedAt: shared,
	}
}

// mambaShape is the shape of a Mamba2 layer.
type mambaShape struct {
	heads, dim, groups, state, conv int
	convBias, bias                  bool

	at      string // module path below the layer
	ungated bool   // no norm of the gated output
}

func (b *Builder) mamba() mambaShape {
	m := mambaShape{
		heads: b.c.Int("mamba_num_heads"), dim: b.c.Int("mamba_head_dim"), groups: b.c.Int("n_groups"),
		state: b.c.Int("ssm_state_size"), conv: b.c.Int("conv_kernel"),
		convBias: b.c.Bool(true, "use_conv_bias"), bias: b.c.Bool(false, "mamba_proj_bias"), at: "mixer.",
	}
	b.d.StateHeads = m.heads
	return m
}

// mamba2 adds one Mamba2 layer. Its state is heads·head_dim·N values a
// sequence, its FLOPs about 5 a state value and token.
func (b *Builder) mamba2(m mambaShape) {
	h, inner, at := int64(b.d.Hidden), int64(m.heads*m.dim), m.at
	channels := inner + 2*int64(m.groups)*int64(m.state)
	b.matrix(roofline.RoleState, roofline.SSM, at+"in_proj", h*(inner+channels+int64(m.heads)))
	b.matrix(roofline.RoleState, roofline.SSM, at+"out_proj", inner*h)
	b.plain(roofline.RoleState, roofline.SSM, at+"conv1d", channels*int64(m.conv), BF16)
	if m.convBias {
		b.vector(roofline.RoleState, roofline.SSM, at+"conv1d.bias", channels)
	}
	if m.bias {
		b.vector(roofline.RoleState, roofline.SSM, at+"in_proj.bias", inner+channels+int64(m.heads))
		b.vector(roofline.RoleOBias, roofline.SSM, at+"out_proj.bias", h)
	}
	for _, name := range []string{"A_log", "D", "dt_bias"} {
		b.vector(roofline.RoleState, roofline.SSM, at+name, int64(m.heads))
	}
	if !m.ungated {
		b.norm(int(inner), at+"norm")
	}
	state := int64(m.heads) * int64(m.dim) * int64(m.state)
	b.cache(roofline.Cache{
		Kind: roofline.CacheState, Component: roofline.SSM,
		StateValues: state, ConvValues: channels * int64(m.conv-1), StateFLOPs: unit.FLOPs(5 * float64(state)),
	})
	b.launch(roofline.SSM, 4) // input, convolution, scan with its norm, output
}

// stateType reads the recurrent state's type from the field the family uses.
func (b *Builder) stateType(field string) {
	switch s := b.c.String(field); s {
	case "":
	case "float32", "bfloat16", "float16":
		b.d.StateType, _ = ParseStateType(s)
	default:
		b.c.fail(field, "expected float32, bfloat16 or float16, got %q", shorten(s))
	}
}
