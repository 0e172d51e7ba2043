package probes

import (
	"encoding/json"
	"math"
	"testing"
)

func TestDistance(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for name, c := range map[string]struct {
		got, want []float64
		ok        bool
	}{
		"nothing":           {nil, nil, false},
		"exact":             {[]float64{1, 2}, []float64{1, 2}, true},
		"near":              {[]float64{1, 2.001}, []float64{1, 2}, true},
		"far":               {[]float64{1, 2.1}, []float64{1, 2}, false},
		"not written":       {[]float64{nan}, []float64{1}, false},
		"infinite":          {[]float64{inf}, []float64{1}, false},
		"twice infinite":    {[]float64{inf}, []float64{inf}, false},
		"of zeros":          {[]float64{0}, []float64{0}, true},
		"something of none": {[]float64{1e-9}, []float64{0}, false},
	} {
		var d Distance
		for i := range c.got {
			d.Add(c.got[i], c.want[i])
		}
		got := d.Correctness(1e-2, "")
		if got.OK() != c.ok || got.Values != len(c.got) {
			t.Errorf("%s: %+v", name, got)
		}
		if _, err := json.Marshal(got); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
