package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"

	"decodegap/roofline/lenient"
	"decodegap/roofline/nearest"
)

// expertsFile is what --experts-file holds: the distinct experts a MoE layer
// really read in a step, over the group and on the busiest expert-parallel
// rank, such as {"batch": 32, "distinct_experts": [121, 118.5], "busiest_rank": 18}.
type expertsFile struct {
	batch    int           // sequences of the measured step, 0 if not stated
	distinct *expertCounts // always there
	busiest  *expertCounts // nil if not stated
}

// expertCounts is one number, or one a MoE layer, of which the mean counts.
type expertCounts struct{ mean, least, most float64 }

// expertsKeys are the keys an experts file may have.
var expertsKeys = []string{"batch", "distinct_experts", "busiest_rank"}

// parseExperts reads an experts file. Errors name the key and what it should hold.
func parseExperts(data []byte) (*expertsFile, error) {
	var fields map[string]json.RawMessage
	if err := lenient.Unmarshal(data, &fields); err != nil {
		return nil, err
	}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(expertsKeys, key) {
			return nil, fmt.Errorf("unknown key %q: %s", key, nearest.Hint(key, expertsKeys))
		}
	}
	file := &expertsFile{}
	if raw, ok := fields["batch"]; ok {
		n, ok := number(raw)
		if !ok || n != math.Trunc(n) || n < 1 || n > maxBatch {
			return nil, fmt.Errorf("key \"batch\": expected a whole number from 1 to %d, got %s", maxBatch, short(raw))
		}
		file.batch = int(n)
	}
	for _, f := range []struct {
		key  string
		into **expertCounts
	}{{"distinct_experts", &file.distinct}, {"busiest_rank", &file.busiest}} {
		raw, ok := fields[f.key]
		if !ok {
			continue
		}
		counts, err := parseCounts(raw)
		if err != nil {
			return nil, fmt.Errorf("key %q: %w", f.key, err)
		}
		*f.into = counts
	}
	if file.distinct == nil {
		return nil, fmt.Errorf("key \"distinct_experts\" is missing: expected a number, or a list with one a MoE layer")
	}
	return file, nil
}

// parseCounts reads one number above 0 or a list of them.
func parseCounts(raw json.RawMessage) (*expertCounts, error) {
	list := []json.RawMessage{raw}
	isList := bytes.HasPrefix(bytes.TrimSpace(raw), []byte("["))
	if isList {
		if err := json.Unmarshal(raw, &list); err != nil {
			return nil, err
		}
		if len(list) == 0 {
			return nil, fmt.Errorf("expected a number, or a list with one a MoE layer, got an empty list")
		}
	}
	c := &expertCounts{least: math.Inf(1)}
	var sum float64
	for i, item := range list {
		v, ok := number(item)
		switch {
		case ok && v > 0:
		case isList:
			return nil, fmt.Errorf("entry %d of %d: expected a number above 0, got %s", i+1, len(list), short(item))
		default:
			return nil, fmt.Errorf("expected a number above 0, or a list with one a MoE layer, got %s", short(item))
		}
		sum += v
		c.least, c.most = min(c.least, v), max(c.most, v)
	}
	c.mean = sum / float64(len(list)) // of equal whole numbers exactly that number
	return c, nil
}

// number is a JSON number; null, which a bare NaN or Infinity has become, is none.
func number(raw json.RawMessage) (float64, bool) {
	var v *float64
	if err := json.Unmarshal(raw, &v); err != nil || v == nil {
		return 0, false
	}
	return *v, true
}

// short is a JSON value for a message; control characters cannot stand in it
// unescaped.
func short(raw json.RawMessage) string {
	text := string(bytes.Join(bytes.Fields(raw), []byte(" ")))
	if text == "null" {
		return "null, NaN or Infinity"
	}
	if r := []rune(text); len(r) > 40 {
		return fmt.Sprintf("%q…", string(r[:40]))
	}
	return fmt.Sprintf("%q", text)
}
