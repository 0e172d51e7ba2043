package gate

import (
	"slices"
	"strconv"
	"strings"

	"decodegap/reports"
	"decodegap/roofline/nearest"
	"decodegap/roofline/unit"
)

// field is a key a mapping may have and what reads its value.
type field struct {
	key  string
	read func(node) error
}

// fields reads a mapping and refuses every key that is not among known.
func (n node) fields(what string, known []field) error {
	var keys []string
	for _, f := range known {
		keys = append(keys, f.key)
	}
	if n.kind != mapping {
		return mistake(n.line, n.column, "%s: expected keys (%s) with values", what, strings.Join(keys, ", "))
	}
	for _, e := range n.entries {
		i := slices.Index(keys, e.key)
		if i < 0 {
			return mistake(e.line, e.column, "unknown key %q in %s; %s", shown(e.key), what, nearest.Hint(e.key, keys))
		}
		if e.value.kind == null {
			return mistake(e.line, e.column, "%s: no value; give one or leave the key out", e.key)
		}
		if err := known[i].read(e.value); err != nil {
			return err
		}
	}
	return nil
}

// maxText bounds a single value.
const maxText = 512

func (n node) plain(out *string) error {
	if n.kind != scalar {
		return mistake(n.line, n.column, "expected a single value")
	}
	if len(n.text) > maxText {
		return mistake(n.line, n.column, "a value of %d bytes, above the limit of %d", len(n.text), maxText)
	}
	*out = n.text
	return nil
}

func (n node) choice(known []string, out *string) error {
	if err := n.plain(out); err != nil {
		return err
	}
	if !slices.Contains(known, *out) {
		return mistake(n.line, n.column, "%q is not known here; expected %s", shown(*out), strings.Join(known, ", "))
	}
	return nil
}

func (n node) whole(least int, out *int) error {
	var text string
	if err := n.plain(&text); err != nil {
		return err
	}
	v, err := strconv.Atoi(text)
	if err != nil || !digits(text) || v < least || v > maxBatch {
		return mistake(n.line, n.column, "expected a whole number from %d to %d, found %q", least, maxBatch, shown(text))
	}
	*out = v
	return nil
}

// maxBatch bounds a batch; no engine comes near it.
const maxBatch = 1 << 24

func (n node) tokens(out *int) error {
	var text string
	if err := n.plain(&text); err != nil {
		return err
	}
	v, err := unit.ParseTokens(text)
	if err != nil {
		return mistake(n.line, n.column, "%s", reports.OneLine(err.Error(), 200))
	}
	*out = v
	return nil
}

// share reads a percentage above min and of at most max, both as shares.
func (n node) share(above, most float64, out **float64) error {
	var text string
	if err := n.plain(&text); err != nil {
		return err
	}
	v, err := percent(text)
	if err != nil {
		return mistake(n.line, n.column, "%s", err)
	}
	if v <= above || v > most {
		return mistake(n.line, n.column, "%q is out of range: expected %s %g%%", shown(text), rangeText(above), most*100)
	}
	*out = &v
	return nil
}

func rangeText(above float64) string {
	if above < 0 {
		return "0% to"
	}
	return "above 0%, at most"
}

// names reads a list of names, of which known are allowed; nil allows any.
func (n node) names(known []string, out *[]string) error {
	if n.kind != list || len(n.items) == 0 || len(n.items) > maxPoints {
		return mistake(n.line, n.column, "expected a list of names such as [a, b]")
	}
	for _, item := range n.items {
		var name string
		if err := item.plain(&name); err != nil {
			return err
		}
		if known != nil && !slices.Contains(known, name) {
			return mistake(item.line, item.column, "%q is not known here; %s", shown(name), nearest.Hint(name, known))
		}
		if slices.Contains(*out, name) {
			return mistake(item.line, item.column, "%q stands twice", shown(name))
		}
		*out = append(*out, name)
	}
	return nil
}
