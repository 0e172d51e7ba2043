package main

import (
	"strings"
	"testing"
)

func TestExpertsFile(t *testing.T) {
	for _, c := range []struct {
		text              string
		batch             int
		distinct, busiest float64 // 0: not stated
	}{
		{`{"distinct_experts": 4.5}`, 0, 4.5, 0},
		{`{"batch": 32, "distinct_experts": [121, 118.5], "busiest_rank": 18}`, 32, 119.75, 18},
		{`{"distinct_experts": [8, 8, 8, 8, 8, 8, 8], "busiest_rank": [1, 3]}`, 0, 8, 2},
	} {
		f, err := parseExperts([]byte(c.text))
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if f.batch != c.batch || f.distinct.mean != c.distinct || (f.busiest != nil) != (c.busiest > 0) || f.busiest != nil && f.busiest.mean != c.busiest {
			t.Errorf("%s: got %+v, distinct %+v, busiest %+v", c.text, f, f.distinct, f.busiest)
		}
	}
}

// TestBadExpertsFiles gives one line for each fault, which names the key.
func TestBadExpertsFiles(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`[1]`, "expected an object"},
		{`{"distinct_experts": 4`, "ends too early"},
		{`{}`, `key "distinct_experts" is missing: expected a number`},
		{`null`, `key "distinct_experts" is missing`},
		{`{"distinct_experts": 4, "busiest_rnk": 2}`, `unknown key "busiest_rnk": did you mean busiest_rank`},
		{`{"distinct_experts": 4, "\u001b[2J": 2}`, `unknown key "\x1b[2J"`},
		{`{"distinct_experts": [12, -4, 9]}`, `key "distinct_experts": entry 2 of 3: expected a number above 0, got "-4"`},
		{`{"distinct_experts": [12, NaN]}`, `key "distinct_experts": entry 2 of 2: expected a number above 0, got null, NaN or Infinity`},
		{`{"distinct_experts": [Infinity]}`, `key "distinct_experts": entry 1 of 1`},
		{`{"distinct_experts": [1e999]}`, `key "distinct_experts": entry 1 of 1`},
		{`{"distinct_experts": NaN}`, `key "distinct_experts": expected a number above 0, or a list`},
		{`{"distinct_experts": -1}`, `key "distinct_experts": expected a number above 0, or a list`},
		{`{"distinct_experts": [[4]]}`, `key "distinct_experts": entry 1 of 1`},
		{`{"distinct_experts": []}`, `key "distinct_experts": expected a number, or a list with one a MoE layer, got an empty list`},
		{`{"distinct_experts": "4"}`, `key "distinct_experts": expected a number above 0`},
		{`{"distinct_experts": 4, "busiest_rank": [1, null]}`, `key "busiest_rank": entry 2 of 2`},
		{`{"distinct_experts": 4, "busiest_rank": 0}`, `key "busiest_rank": expected a number above 0`},
		{`{"distinct_experts": 4, "batch": 1.5}`, `key "batch": expected a whole number from 1 to 1048576, got "1.5"`},
		{`{"distinct_experts": 4, "batch": 0}`, `key "batch": expected a whole number`},
	} {
		_, err := parseExperts([]byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got error %v, want %q", c.text, err, c.want)
		} else if strings.ContainsAny(err.Error(), "\n\x1b") {
			t.Errorf("%s: control characters in %q", c.text, err)
		}
	}
}

// FuzzExpertsFile: whatever is read has counts above 0 and their mean between
// the least and the most.
func FuzzExpertsFile(f *testing.F) {
	f.Add([]byte(`{"batch": 32, "distinct_experts": [121, 118.5], "busiest_rank": 18}`))
	f.Add([]byte(`{"distinct_experts": [1e308, 1e308, NaN]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := parseExperts(data)
		if err != nil {
			return
		}
		for _, c := range []*expertCounts{file.distinct, file.busiest} {
			if c != nil && !(c.least > 0 && c.least <= c.most && c.mean >= c.least*(1-1e-9)) {
				t.Errorf("got %+v of %q", *c, data)
			}
		}
	})
}
