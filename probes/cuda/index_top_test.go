//go:build cgo && linux

package cuda

import (
	"strings"
	"testing"
)

func TestIsTop(t *testing.T) {
	scores := []float32{3, 1, 2, 3, -5, 0}
	for _, c := range []struct {
		chosen []uint32
		want   string
	}{
		{[]uint32{3, 0, 2}, ""},
		{[]uint32{0, 3}, ""},
		{[]uint32{0, 2}, "rank 2 among those chosen is 2, expected 3"},
		{[]uint32{0, 0}, "choice 1 is token 0"},
		{[]uint32{0, 0xffffffff}, "token 4294967295 of 6"},
	} {
		err := isTop(scores, c.chosen)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%v: %v, expected %q", c.chosen, err, c.want)
		}
	}
}
