package lenient

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestUnmarshal(t *testing.T) {
	var v struct {
		A, B any
		S    string
	}
	err := Unmarshal([]byte(`{"a": [0.0, Infinity], "b": -Infinity, "s": "Infinity NaN \" NaN"}`), &v)
	if err != nil {
		t.Fatal(err)
	}
	if v.B != nil || v.S != `Infinity NaN " NaN` {
		t.Errorf("got %+v", v)
	}
}

func TestErrorsNamePositions(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"{\n  \"a\": }", "line 2, column 8"},
		{`{"a": 1} x`, "more text"},
		{`{"a": 1`, "ends too early"},
		{``, "ends too early"},
		{`Infinityx`, "not JSON"},
	} {
		var v any
		err := Unmarshal([]byte(c.in), &v)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got error %v, want %q", c.in, err, c.want)
		}
	}
}

func FuzzClean(f *testing.F) {
	f.Add([]byte(`{"a": Infinity, "b": [-Infinity, NaN], "c": "NaN"}`))
	f.Add([]byte(`"\`))
	f.Fuzz(func(t *testing.T, data []byte) {
		out := Clean(data)
		// What was strict JSON before must mean the same after.
		if json.Valid(data) && string(out) != string(data) {
			t.Fatalf("valid JSON changed: %q to %q", data, out)
		}
		var v any
		_ = Unmarshal(data, &v)
	})
}
