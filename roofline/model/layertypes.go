package model

// The values of layer_types that families share.
const (
	slidingAttention = "sliding_attention"
	fullAttention    = "full_attention"
)

// layerTypes is the layer_types list, nil if the file has none. A list of
// another length than the model's depth is an error.
func (c *Config) layerTypes(layers int) []string {
	types := c.Strings("layer_types")
	if types != nil && len(types) != layers {
		c.fail("layer_types", "%d entries for %d layers", len(types), layers)
		return nil
	}
	return types
}

// nested says whether the file keeps its text model in text_config.
func (c *Config) nested() bool {
	_, ok := c.outer["text_config"]
	return ok
}
