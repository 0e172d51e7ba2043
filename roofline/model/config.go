package model

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"decodegap/roofline/lenient"
)

// Config is a checkpoint's config.json. Its getters collect the first error,
// so that a family reads its fields in a row and checks once at the end.
type Config struct {
	Architecture string
	ModelType    string

	wrapper, root string // the architecture around the text model, and the path above its layers; "" for none

	fields map[string]json.RawMessage // the text model's
	outer  map[string]json.RawMessage // the file's, where the text model is nested
	err    error
}

// parseConfig reads a config.json; a nested text_config is the text model.
func parseConfig(data []byte) (*Config, error) {
	c := &Config{}
	if err := lenient.Unmarshal(data, &c.outer); err != nil {
		return nil, err
	}
	c.fields = c.outer
	if nested, ok := c.outer["text_config"]; ok && string(nested) != "null" {
		c.fields = nil
		if err := lenient.Unmarshal(nested, &c.fields); err != nil {
			return nil, fmt.Errorf("field \"text_config\": %w", err)
		}
	}
	var names []string
	c.decode(c.outer, "architectures", &names)
	if len(names) == 0 {
		c.decode(c.fields, "architectures", &names)
	}
	if len(names) > 0 {
		c.Architecture = names[0]
	}
	c.unwrap()
	c.decode(c.fields, "model_type", &c.ModelType)
	if c.ModelType == "" {
		c.decode(c.outer, "model_type", &c.ModelType)
	}
	return c, c.err
}

// decode reads one field into v; an absent or null field leaves v as it is.
func (c *Config) decode(fields map[string]json.RawMessage, name string, v any) bool {
	raw, ok := fields[name]
	if !ok || string(raw) == "null" {
		return false
	}
	if err := json.Unmarshal(raw, v); err != nil {
		c.fail(name, "expected %s, got %s", kindOf(v), shorten(string(raw)))
		return false
	}
	return true
}

func kindOf(v any) string {
	switch v.(type) {
	case *float64:
		return "a number"
	case *bool:
		return "true or false"
	case *string:
		return "a string"
	case *[]string:
		return "a list of strings"
	case *[]int:
		return "a list of whole numbers"
	}
	return strings.TrimPrefix(fmt.Sprintf("%T", v), "*")
}

func shorten(s string) string {
	if len(s) > 40 {
		return s[:40] + "…"
	}
	return s
}

func (c *Config) fail(field, format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf("field %q: "+format, append([]any{field}, args...)...)
	}
}

// maxField bounds every size of a configuration: no shape comes near it, and
// products of three stay within int64.
const maxField = 1 << 20

// Has says whether the text model states any of the fields.
func (c *Config) Has(names ...string) bool {
	for _, n := range names {
		if raw, ok := c.fields[n]; ok && string(raw) != "null" {
			return true
		}
	}
	return false
}

// present is the first of names that the text model states, else the first.
func (c *Config) present(names ...string) string {
	for _, n := range names {
		if c.Has(n) {
			return n
		}
	}
	return names[0]
}

// number reads the first of names that is present as a whole number in
// [low, maxField].
func (c *Config) number(low int, names ...string) (int, bool) {
	for _, n := range names {
		var v float64
		if !c.decode(c.fields, n, &v) {
			continue
		}
		if v != math.Trunc(v) || v < float64(low) || v > maxField {
			c.fail(n, "expected a whole number from %d to %d, got %v", low, maxField, v)
			return low, true
		}
		return int(v), true
	}
	return 0, false
}

// Int is a required whole number, at least 1, under any of its names.
func (c *Config) Int(names ...string) int {
	v, ok := c.number(1, names...)
	if !ok {
		c.fail(names[0], "missing; %s needs it", c.Architecture)
		return 1
	}
	return v
}

// Length is an optional count of tokens, which may be larger than any size.
func (c *Config) Length(name string) int {
	var v float64
	if !c.decode(c.fields, name, &v) {
		return 0
	}
	if v != math.Trunc(v) || v < 0 || v > 1<<40 {
		c.fail(name, "expected a whole number of tokens, got %v", v)
		return 0
	}
	return int(v)
}

// IntOr is an optional whole number, at least 0.
func (c *Config) IntOr(fallback int, names ...string) int {
	if v, ok := c.number(0, names...); ok {
		return v
	}
	return fallback
}

// applyDefaults fills in the family's values of absent fields and says which.
func (c *Config) applyDefaults(arch Arch) []string {
	var used []string
	for name, value := range arch.Defaults {
		if !c.Has(name) {
			c.fields[name] = json.RawMessage(value)
			used = append(used, name+" = "+value)
		}
	}
	if used == nil {
		return nil
	}
	slices.Sort(used)
	return []string{"not in the file, taken from the family's defaults: " + strings.Join(used, ", ")}
}

// Bool is an optional truth value of the text model, else of the whole file.
func (c *Config) Bool(fallback bool, name string) bool {
	v := fallback
	if !c.decode(c.fields, name, &v) {
		c.decode(c.outer, name, &v)
	}
	return v
}

// String is an optional string.
func (c *Config) String(name string) string {
	var v string
	if !c.decode(c.fields, name, &v) {
		c.decode(c.outer, name, &v)
	}
	return v
}

// Strings is an optional list of strings.
func (c *Config) Strings(name string) []string {
	var v []string
	c.decode(c.fields, name, &v)
	return v
}

// Ints is an optional list of whole numbers.
func (c *Config) Ints(name string) []int {
	var v []int
	c.decode(c.fields, name, &v)
	return v
}
