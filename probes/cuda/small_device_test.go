//go:build cgo && linux && device

package cuda

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"decodegap/probes"
)

// TestDeviceSampling draws with bounds of every kind, from vocabularies that
// fill a part of the kernel's blocks alone.
func TestDeviceSampling(t *testing.T) {
	m, err := Open("", 0, time.Minute)
	if errors.Is(err, probes.ErrUnsupported) {
		t.Skipf("no GPU to test on: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	h := m.Host(8 << 30)
	for _, size := range []int{128, 5000, 32000, vocabulary} {
		for _, how := range []struct{ temperature, topK, topP int }{
			{100, 0, 0}, {70, 50, 0}, {100, 0, 90}, {200, 20, 80}, {1, 0, 50}, {100, 1, 0}, {3000, 0, 99}, {3000, 2000, 0}, {100, 100000, 99},
		} {
			for _, pdl := range []int{0, 1} {
				// So many bytes that each runs once.
				c := probes.Case{Bytes: 1 << 50, Name: fmt.Sprintf("%+v of %d, dependent %d", how, size, pdl),
					Shape: map[string]int{"m": 24, "size": size, "temperature_percent": how.temperature, "top_k": how.topK, "top_p_percent": how.topP, "pdl": pdl, "hard": 1}}
				if size == vocabulary && pdl == 1 {
					continue
				}
				s, err := prepareSampling(t.Context(), h, c)
				if err != nil {
					t.Errorf("%s: %v", c.Name, err)
					continue
				}
				if _, err := s.Time(t.Context(), 1); err != nil {
					t.Errorf("%s: %v", c.Name, err)
				}
				if _, err := s.Verify(); err != nil {
					t.Errorf("%s [%s]: %v", c.Name, s.Kernel(), err)
				}
				s.Close()
			}
		}
	}
}
