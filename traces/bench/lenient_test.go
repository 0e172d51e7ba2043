package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
)

// scalars reads the first object with the scanner.
func scalars(text string) (map[string]value, error) {
	s := newScanner(strings.NewReader(text))
	if err := s.object(); err != nil {
		return nil, err
	}
	out := map[string]value{}
	err := s.members(func(key string) error {
		v, err := s.value()
		s.commit = func() { out[key] = v }
		return err
	})
	return out, err
}

func TestScanner(t *testing.T) {
	got, err := scalars(`{"a": Infinity, "b": -Infinity, "c": NaN, "d": "NaN, \"Infinity\" }", "e": -1.5e3, "f": null, "g": true, "h": [1, {"x": [NaN]}], "i": "é\u00e9\ud83d\ude00", "j": {}, "k": []}`)
	if err != nil {
		t.Fatal(err)
	}
	if !math.IsInf(got["a"].num, 1) || !math.IsInf(got["b"].num, -1) || !math.IsNaN(got["c"].num) {
		t.Errorf("non-numbers: %v", got)
	}
	if got["d"].str != `NaN, "Infinity" }` || got["i"].str != "éé😀" {
		t.Errorf("strings: %q %q", got["d"].str, got["i"].str)
	}
	if got["e"].num != -1500 || got["f"].kind != isNull || got["g"].str != "true" || got["h"].kind != isComposite {
		t.Errorf("values: %v", got)
	}
	if len(got) != 11 {
		t.Errorf("%d fields, want 11", len(got))
	}
}

func TestScannerCut(t *testing.T) {
	whole := `{"a": 12.5, "b": "text", "c": [1, 2], "d": null, "e": 7}`
	want, err := scalars(whole)
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n < len(whole); n++ {
		got, err := scalars(whole[:n])
		if !errors.Is(err, errCut) {
			t.Fatalf("cut at %d: error %v", n, err)
		}
		for k, v := range got {
			if v != want[k] {
				t.Fatalf("cut at %d: %s = %v, want %v", n, k, v, want[k])
			}
		}
		if complete := strings.Count(whole[:n], ",") - strings.Count(whole[:n], "1, 2"); strings.Contains(whole[:n], "2]") && len(got) != complete {
			t.Fatalf("cut at %d: %d fields, want %d", n, len(got), complete)
		}
	}
}

func TestScannerFaults(t *testing.T) {
	for name, text := range map[string]string{
		"bare word":     `{"a": infinite}`,
		"leading zero":  `{"a": 01}`,
		"hex":           `{"a": 0x10}`,
		"no colon":      `{"a" 1}`,
		"no comma":      `{"a": 1 "b": 2}`,
		"comma at end":  `{"a": 1,}`,
		"key unquoted":  `{a: 1}`,
		"wrong bracket": `{"a": [1}`,
		"deep":          `{"a": ` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`,
		"long number":   `{"a": ` + strings.Repeat("1", 1000) + `}`,
		"bad escape":    `{"a": "\x"}`,
		"line break":    "{\"a\": \"x\ny\"}",
	} {
		_, err := scalars(text)
		if err == nil || errors.Is(err, errCut) || !strings.HasPrefix(err.Error(), "line ") {
			t.Errorf("%s: error %v, want one with a line", name, err)
		}
	}
}

func TestScannerLongString(t *testing.T) {
	for _, unit := range []string{"x", `\n`, `\u00e9`, "é", `\ud83d\ude00`} {
		got, err := scalars(`{"a": "` + strings.Repeat(unit, 10_000) + `", "b": 1}`)
		if err != nil {
			t.Fatalf("%q: %v", unit, err)
		}
		if n := len(got["a"].str); n == 0 || n > 3*maxString { // each byte of a cut rune becomes U+FFFD
			t.Errorf("%q: kept %d bytes", unit, n)
		}
		if got["b"].num != 1 {
			t.Errorf("%q: lost the field behind it", unit)
		}
	}
}

// FuzzScanner compares with encoding/json where that accepts the text, and
// looks for panics where it does not.
func FuzzScanner(f *testing.F) {
	for _, seed := range []string{
		`{"a": 1.5e-3, "b": "x\u00e9\n", "c": [1, {"d": null}], "e": true}`,
		`{"a": Infinity, "b": NaN`, `{"a": -0.0, "a": 2}`, "{\"a\": 1\n{\"b\": 2}", `[{"a": "` + strings.Repeat("y", 5000) + `"}]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := scalars(string(data))
		dec := json.NewDecoder(bytes.NewReader(data))
		dec.UseNumber()
		var want map[string]any
		if !json.Valid(data) || dec.Decode(&want) != nil || want == nil {
			return
		}
		if err != nil {
			if strings.Contains(err.Error(), "nested deeper") || strings.Contains(err.Error(), "a value longer") {
				return
			}
			t.Fatalf("refused valid JSON: %v", err)
		}
		for k, w := range want {
			if len(k) > maxString/8 { // keys are shortened, too
				continue
			}
			g, ok := got[k]
			if !ok {
				t.Fatalf("lost field %q", k)
			}
			switch w := w.(type) {
			case string:
				if len(w) < maxString/8 && g.str != w {
					t.Fatalf("%q: %q, want %q", k, g.str, w)
				}
			case json.Number:
				if x, err := w.Float64(); err == nil && g.num != x {
					t.Fatalf("%q: %g, want %g", k, g.num, x)
				}
			case bool:
				if g.kind != isBool || (g.str == "true") != w {
					t.Fatalf("%q: %v, want %v", k, g, w)
				}
			case nil:
				if g.kind != isNull {
					t.Fatalf("%q: %v, want null", k, g)
				}
			default:
				if g.kind != isComposite {
					t.Fatalf("%q: %v, want an object or array", k, g)
				}
			}
		}
	})
}

func TestSkipsTextBetweenObjects(t *testing.T) {
	s := newScanner(strings.NewReader("log line\n[{\"a\": 1},\n{\"b\": 2}]\nend\n"))
	n := 0
	for s.object() == nil {
		if err := s.members(func(string) error { _, err := s.value(); return err }); err != nil {
			t.Fatal(err)
		}
		n++
	}
	if err := s.object(); n != 2 || !errors.Is(err, io.EOF) {
		t.Errorf("%d objects, then %v", n, err)
	}
}
