package model

// wrapped is an architecture with towers for images or sound around a text
// model of a known family.
type wrapped struct {
	name string
	as   string // the text model's architecture
	root string // module path above its layers
}

// wrappers are the known ones. Their towers are not read by decode of text.
var wrappers = []wrapped{
	{"Mistral3ForConditionalGeneration", "MistralForCausalLM", "language_model.model"},
	{"Qwen2VLForConditionalGeneration", "Qwen2ForCausalLM", "model"},
	{"Qwen2_5_VLForConditionalGeneration", "Qwen2ForCausalLM", "model"},
	{"Qwen3VLForConditionalGeneration", "Qwen3ForCausalLM", "model.language_model"},
	{"Qwen3VLMoeForConditionalGeneration", "Qwen3MoeForCausalLM", "model.language_model"},
	{"Glm4vMoeForConditionalGeneration", "Glm4MoeForCausalLM", "model.language_model"},
	{"KimiK25ForConditionalGeneration", "DeepseekV3ForCausalLM", "language_model.model"},
}

// unwrap makes the architecture that of the text model within.
func (c *Config) unwrap() {
	for _, w := range wrappers {
		if c.Architecture == w.name {
			c.wrapper, c.Architecture, c.root = w.name, w.as, w.root
		}
	}
}
