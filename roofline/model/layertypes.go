package model

// The values of layer_types that families share.
const (
	slidingAttention = "sliding_attention"
	fullAttention    = "full_attention"
	linearAttention  = "linear_attention"
)

// layerTypes is the layer_types list, nil if the file has none. A list of
// another length than the model's depth, or with another kind of layer than
// the family's known ones, is an error.
func (c *Config) layerTypes(layers int, known ...string) []string {
	return c.perLayer("layer_types", layers, known...)
}

// nested says whether the file keeps its text model in text_config.
func (c *Config) nested() bool {
	_, ok := c.outer["text_config"]
	return ok
}
