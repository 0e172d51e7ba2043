package kineto_test

import (
	"bytes"
	"encoding/json"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"decodegap/traces"
)

func seeds(f *testing.F) {
	folder := filepath.Join("..", "..", "testdata", "traces", "kineto")
	entries, err := os.ReadDir(folder)
	if err != nil {
		f.Fatal(err)
	}
	for _, e := range entries {
		content, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content)
		f.Add(packed(f, string(content)))
	}
	f.Add([]byte(document(kernel("a", "1e2", "1.0005"), kernel(`\u00b5`, "0.-23", "-1"), "{}", "[]", `{"ph":"X","ts":1}`)))
	f.Add([]byte(`[{"ph":"Y","ph":"X","ts":1,"cat":"kERNEL"},{"ph":"f","name":"}"},{"ph":"i","x":{}},{"ph":"i","x":[{"a":"b"}]},{"ph":"M"}]`))
	f.Add([]byte(`{"traceEvents":[{"ph":"X","ph":"Y"},{"\u0070h":"X","ts":1.5e1,"dur":null}]}`))
}

// FuzzRead holds that any bytes are read without panic, that what is counted
// fits together, and that nothing kept is longer than its bound.
func FuzzRead(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, content []byte) {
		got := read(t, content)
		if got.meta.Skipped > got.meta.Events || int64(len(got.events)) > got.meta.Events-got.meta.Skipped {
			t.Errorf("%d events yielded, %d read, %d skipped", len(got.events), got.meta.Events, got.meta.Skipped)
		}
		for _, e := range got.events {
			if e.Dur < 0 || e.End() < e.Start || len(e.Name) > 16<<10 {
				t.Errorf("event %+v", e)
			}
		}
		if got.meta.Events == 0 && len(got.damage) == 0 && len(got.meta.Warnings) == 0 {
			t.Error("nothing read and nothing said")
		}
	})
}

// FuzzAgainstEncodingJSON holds that on valid JSON the scanner sees what
// encoding/json sees.
func FuzzAgainstEncodingJSON(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, content []byte) {
		list, ok := traceEvents(content)
		if !ok {
			t.Skip("no valid trace document")
		}
		got := read(t, content)
		if len(got.damage) > 0 || got.meta.Truncated {
			t.Fatalf("damage in valid JSON: %v, truncated %v", got.damage, got.meta.Truncated)
		}
		if got.meta.Events != int64(len(list)) {
			t.Fatalf("%d events, %d in encoding/json", got.meta.Events, len(list))
		}
		var starts []int64
		skipped := int64(0)
		for _, x := range list {
			start, kind, verdict := oracle(x)
			switch {
			case verdict == bad:
				skipped++
			case verdict == good && kind:
				starts = append(starts, start)
			}
		}
		if got.meta.Skipped != skipped {
			t.Errorf("%d skipped, want %d", got.meta.Skipped, skipped)
		}
		var have []int64
		for _, e := range got.events {
			if e.Kind == traces.Kernel {
				have = append(have, e.Start)
			}
		}
		if len(have) != len(starts) {
			t.Fatalf("%d kernels, want %d", len(have), len(starts))
		}
		for i := range have {
			if have[i] != starts[i] {
				t.Errorf("kernel %d starts at %d, want %d", i, have[i], starts[i])
			}
		}
	})
}

// traceEvents is the events of a document that encoding/json takes and whose
// depth and tokens are within the reader's bounds.
func traceEvents(content []byte) ([]any, bool) {
	text := bytes.TrimSpace(content)
	if len(text) == 0 || len(text) > 1<<16 || bytes.Count(text, []byte("traceEvents")) > 1 || bytes.Contains(text, []byte(`\u`)) {
		return nil, false // a key may be spelt with escapes, or stand twice
	}
	if deep(text) {
		return nil, false
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var doc any
	if dec.Decode(&doc) != nil || dec.More() || !json.Valid(text) {
		return nil, false
	}
	switch d := doc.(type) {
	case []any:
		return d, true
	case map[string]any:
		list, ok := d["traceEvents"].([]any)
		return list, ok
	}
	return nil, false
}

func deep(text []byte) bool {
	return bytes.Count(text, []byte("[")) > 60 || bytes.Count(text, []byte("{")) > 60 || len(longestToken(text)) > 200
}

func longestToken(text []byte) string {
	longest := ""
	for _, f := range strings.FieldsFunc(string(text), func(r rune) bool { return strings.ContainsRune(" \t\r\n,:[]{}\"", r) }) {
		if len(f) > len(longest) {
			longest = f
		}
	}
	return longest
}

type verdict int

const (
	other verdict = iota
	bad
	good
)

// oracle decides on an element with big numbers.
func oracle(x any) (start int64, kernel bool, v verdict) {
	e, ok := x.(map[string]any)
	if !ok || e["ph"] != "X" {
		return 0, false, other
	}
	s, ok := exact(e["ts"])
	if !ok {
		return 0, false, bad
	}
	d := new(big.Int)
	if raw, there := e["dur"]; there {
		if d, ok = exact(raw); !ok {
			return 0, false, bad
		}
	}
	cat, _ := e["cat"].(string)
	cat = strings.ToLower(cat)
	end := new(big.Int).Add(s, d)
	limit := big.NewInt(366 * 24 * 3600 * 1e9)
	if d.Sign() < 0 || d.Cmp(limit) > 0 || !s.IsInt64() || !end.IsInt64() {
		return 0, false, bad
	}
	if s.Sign() == 0 && d.Sign() == 0 && (cat == "kernel" || strings.HasSuffix(cat, "memcpy") || strings.HasSuffix(cat, "memset")) {
		for _, gpu := range []string{"kernel", "memcpy", "memset", "gpu_memcpy", "gpu_memset"} {
			if cat == gpu {
				return 0, false, bad
			}
		}
	}
	return s.Int64(), cat == "kernel", good
}

// exact is microseconds as nanoseconds, half to even; exponents of more than
// two digits are not times.
func exact(x any) (*big.Int, bool) {
	var text string
	switch x := x.(type) {
	case json.Number:
		text = string(x)
	case string:
		if !json.Valid([]byte(x)) || strings.TrimSpace(x) != x || x == "" || strings.Trim(x[:1], "-0123456789") != "" {
			return nil, false
		}
		text = x
	default:
		return nil, false
	}
	if e := strings.IndexAny(text, "eE"); e >= 0 && len(text)-e > 4 {
		return nil, false
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		return nil, false
	}
	r.Mul(r, big.NewRat(1000, 1))
	q := new(big.Int).Div(r.Num(), r.Denom()) // floor, the denominator is positive
	rest := new(big.Rat).Sub(r, new(big.Rat).SetInt(q))
	switch rest.Cmp(big.NewRat(1, 2)) {
	case 1:
		q.Add(q, big.NewInt(1))
	case 0:
		if q.Bit(0) == 1 {
			q.Add(q, big.NewInt(1))
		}
	}
	return q, true
}
