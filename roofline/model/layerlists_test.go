package model

import (
	"strings"
	"testing"

	"decodegap/roofline"
)

// six is a sparse-attention model of six layers.
func six(changes map[string]any) map[string]any {
	all := map[string]any{
		"num_hidden_layers": 6, "indexer_types": nil, "mlp_layer_types": nil, "index_topk_freq": nil,
		"index_skip_topk_offset": nil, "index_topk_pattern": nil, "first_k_dense_replace": nil, "moe_layer_freq": nil,
	}
	for k, v := range changes {
		all[k] = v
	}
	return all
}

// flags prints what a choice of layers is, F for true as in index patterns.
func flags(chosen []bool) string {
	var s strings.Builder
	for _, c := range chosen {
		if c {
			s.WriteByte('F')
		} else {
			s.WriteByte('S')
		}
	}
	return s.String()
}

// choose asks for the layers of an entry with changed fields.
func choose(t *testing.T, entry string, changes map[string]any, ask func(*Builder) []bool) (string, []string, error) {
	t.Helper()
	c, err := parseConfig(edited(t, entry, six(changes)))
	if err != nil {
		t.Fatal(err)
	}
	q := unquantized(BF16)
	b := newBuilder(c, q, shell("test", c, q), nil)
	b.d.Indexed = true
	got := flags(ask(b))
	return got, b.d.Notes, c.err
}

// repeats is how many layers have a module.
func repeats(d *roofline.Decoder, module string) int {
	n := 0
	for _, t := range d.Tensors {
		if strings.HasSuffix(t.Name, module) {
			n += t.Repeat
		}
	}
	return n
}

func list(letters string, names map[rune]string) []string {
	var l []string
	for _, r := range letters {
		l = append(l, names[r])
	}
	return l
}

func types(letters string) []string {
	return list(letters, map[rune]string{'F': "full", 'S': "shared"})
}
func mlps(letters string) []string {
	return list(letters, map[rune]string{'F': "sparse", 'S': "dense"})
}

// TestIndexSharing finds the layers that run an index of their own.
func TestIndexSharing(t *testing.T) {
	for _, c := range []struct {
		name    string
		changes map[string]any
		want    string
		note    string
	}{
		{"nothing said", nil, "FFFFFF", ""},
		{"a list", map[string]any{"indexer_types": types("FSFSFS")}, "FSFSFS", ""},
		{"a frequency", map[string]any{"index_topk_freq": 2}, "FFSFSF", ""},
		{"a frequency and an offset", map[string]any{"index_topk_freq": 3, "index_skip_topk_offset": 3}, "FFFSSF", ""},
		{"an offset alone", map[string]any{"index_skip_topk_offset": 3}, "FFFFFF", ""},
		{"frequency 1", map[string]any{"index_topk_freq": 1}, "FFFFFF", ""},
		{"a pattern", map[string]any{"index_topk_pattern": "FSSFSS", "index_topk_freq": 2}, "FSSFSS", ""},
		{"a pattern as a list", map[string]any{"index_topk_pattern": types("FSSSSF")}, "FSSSSF", ""},
		{"a list and its frequency", map[string]any{"indexer_types": types("FFSFSF"), "index_topk_freq": 2}, "FFSFSF", ""},
		{"a list and another frequency", map[string]any{"indexer_types": types("FFSFSF"), "index_topk_freq": 3}, "FFSFSF", "index_topk_freq makes it shared"},
	} {
		got, notes, err := choose(t, "glm-5", c.changes, (*Builder).indexLayers)
		if err != nil || got != c.want {
			t.Errorf("%s: layers with an index %s, error %v, want %s", c.name, got, err, c.want)
		}
		if said := strings.Join(notes, "\n"); (said != "") != (c.note != "") || !strings.Contains(said, c.note) {
			t.Errorf("%s: notes %q, want %q", c.name, said, c.note)
		}
		d := mustEdit(t, "glm-5", six(c.changes))
		if n := repeats(d, "self_attn.indexer.wk"); n != strings.Count(c.want, "F") {
			t.Errorf("%s: %d layers hold an index, want %s", c.name, n, c.want)
		}
	}
}

// TestMixtureLayers finds the layers that have a mixture of experts.
func TestMixtureLayers(t *testing.T) {
	for _, c := range []struct {
		name    string
		changes map[string]any
		want    string
	}{
		{"none dense", map[string]any{"first_k_dense_replace": 0}, "FFFFFF"},
		{"the first ones dense", map[string]any{"first_k_dense_replace": 2}, "SSFFFF"},
		{"a list", map[string]any{"mlp_layer_types": mlps("SFSFFF")}, "SFSFFF"},
		{"both alike", map[string]any{"mlp_layer_types": mlps("SSFFFF"), "first_k_dense_replace": 2}, "SSFFFF"},
		{"a list and a stride", map[string]any{"mlp_layer_types": mlps("SSFSFS"), "moe_layer_freq": 2}, "SSFSFS"},
	} {
		every := 1
		if n, ok := c.changes["moe_layer_freq"].(int); ok {
			every = n
		}
		got, _, err := choose(t, "glm-5", c.changes, func(b *Builder) []bool { return b.mixtureLayers(every) })
		if err != nil || got != c.want {
			t.Errorf("%s: layers with experts %s, error %v, want %s", c.name, got, err, c.want)
		}
		for _, entry := range []string{"glm-5", "glm-4.6"} {
			d := mustEdit(t, entry, six(c.changes))
			if n := repeats(d, "mlp.gate"); n != strings.Count(c.want, "F") {
				t.Errorf("%s, %s: %d layers hold a router, want %s", entry, c.name, n, c.want)
			}
		}
	}
}

// TestMixtureDefaults: what a file leaves out is what the family's
// configuration class takes, and said.
func TestMixtureDefaults(t *testing.T) {
	for _, c := range []struct {
		entry, architecture string
		routers, shared     int // layers with experts of six; shared experts of each
	}{
		{"glm-5", "GlmMoeDsaForCausalLM", 3, 1}, {"glm-4.6", "Glm4MoeForCausalLM", 5, 1},
		{"deepseek-v3", "DeepseekV3ForCausalLM", 3, 1}, {"deepseek-v3", "DeepseekV2ForCausalLM", 6, 2},
	} {
		absent := map[string]any{"architectures": []string{c.architecture}, "num_hidden_layers": 6, "mlp_layer_types": nil,
			"first_k_dense_replace": nil, "n_shared_experts": nil, "indexer_types": nil}
		d := mustEdit(t, c.entry, absent)
		if n := repeats(d, "mlp.gate"); n != c.routers {
			t.Errorf("%s: %d layers hold a router, want %d", c.architecture, n, c.routers)
		}
		absent["n_shared_experts"] = c.shared
		if said := mustEdit(t, c.entry, absent); said.Params() != d.Params() {
			t.Errorf("%s: %d parameters, and %d with the shared experts stated", c.architecture, d.Params(), said.Params())
		}
		if notes := strings.Join(d.Notes, "\n"); !strings.Contains(notes, "first_k_dense_replace") || !strings.Contains(notes, "n_shared_experts") {
			t.Errorf("%s: notes %q do not say what was taken", c.architecture, notes)
		}
	}
}

// TestLayerListErrors names the keys that are wrong or contradict each other.
func TestLayerListErrors(t *testing.T) {
	for _, c := range []struct {
		name    string
		changes map[string]any
		want    []string
	}{
		{"short list", map[string]any{"indexer_types": types("FS")}, []string{"indexer_types", "2 entries for 6 layers"}},
		{"unknown type", map[string]any{"indexer_types": append(types("FSFSF"), "half")}, []string{"indexer_types", `entry 5: expected full or shared, got "half"`}},
		{"nothing to share", map[string]any{"index_topk_freq": 4, "index_skip_topk_offset": 0}, []string{"index_skip_topk_offset", "index_topk_freq 4"}},
		{"short pattern", map[string]any{"index_topk_pattern": "FS"}, []string{"index_topk_pattern", "2 letters for 6 layers"}},
		{"unknown letter", map[string]any{"index_topk_pattern": "FSFSFX"}, []string{"index_topk_pattern", "letter 5"}},
		{"pattern of another kind", map[string]any{"index_topk_pattern": 7}, []string{"index_topk_pattern"}},
		{"short MLP list", map[string]any{"mlp_layer_types": mlps("F")}, []string{"mlp_layer_types", "1 entries for 6 layers"}},
		{"unknown MLP", map[string]any{"mlp_layer_types": append(mlps("FFFFF"), "moe")}, []string{"mlp_layer_types", `expected dense or sparse, got "moe"`}},
		{"two counts of dense layers", map[string]any{"mlp_layer_types": mlps("SSSFFF"), "first_k_dense_replace": 2}, []string{"mlp_layer_types", "layer 2 is dense", "first_k_dense_replace 2"}},
		{"a stride against the list", map[string]any{"mlp_layer_types": mlps("SFFFFF"), "moe_layer_freq": 2}, []string{"mlp_layer_types", "layer 1 is sparse", "moe_layer_freq 2"}},
	} {
		_, err := edit(t, "glm-5", six(c.changes))
		for _, want := range c.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got error %v, want %q", c.name, err, want)
			}
		}
	}
}

// TestDerivedIndexersOfGLM derives GLM-5.2's published list from its
// frequency and offset.
func TestDerivedIndexersOfGLM(t *testing.T) {
	listed := mustEdit(t, "glm-5.2", map[string]any{"index_topk_freq": nil})
	derived := mustEdit(t, "glm-5.2", map[string]any{"indexer_types": nil, "index_topk_freq": 4, "index_skip_topk_offset": 3})
	if listed.Params() != derived.Params() || listed.Params() >= mustEdit(t, "glm-5", nil).Params() {
		t.Errorf("listed %d parameters, derived %d; want the same, and fewer than GLM-5's", listed.Params(), derived.Params())
	}
}
