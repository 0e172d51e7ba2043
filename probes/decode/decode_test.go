package decode

import (
	"errors"
	"math"
	"strings"
	"testing"

	"decodegap/probes"
	"decodegap/roofline"
	"decodegap/roofline/model"
)

// TestCatalogue lays out every catalogue model: its matrices have exactly the
// weights and bytes that the floor counts, or the error says what is missing.
func TestCatalogue(t *testing.T) {
	laid := 0
	for _, name := range model.Names() {
		loaded, err := model.Load(name, "", model.Options{})
		if err != nil {
			t.Fatal(err)
		}
		d := loaded.Decoder
		p, err := Of(d)
		if err != nil {
			if !errors.Is(err, probes.ErrUnsupported) || !strings.Contains(err.Error(), name) {
				t.Errorf("%s: %v", name, err)
			}
			t.Log(err)
			continue
		}
		laid++
		var want, bytes float64
		for _, x := range d.Tensors {
			if x.Matrix && x.Role != roofline.RoleSharedGate {
				want += float64(x.Params) * float64(x.Repeat)
				bytes += float64(x.Bytes) * float64(x.Repeat)
			}
		}
		var got, gotBytes float64
		for _, m := range p.Matrices() {
			got += float64(m.Rows) * float64(m.Cols)
			gotBytes += float64(m.Bytes)
		}
		if got != want || math.Abs(gotBytes-bytes) > 1e-6*bytes {
			t.Errorf("%s: %.0f weights in %.0f bytes, the floor counts %.0f in %.0f", name, got, gotBytes, want, bytes)
		}
		if len(p.Layers) != d.Layers {
			t.Errorf("%s: %d layers of %d", name, len(p.Layers), d.Layers)
		}
	}
	if laid < 8 {
		t.Errorf("only %d models could be laid out", laid)
	}
}
