//go:build cgo && linux

package cpu

import "testing"

// TestChunks holds the sizes written in Go against those of weights.h.
func TestChunks(t *testing.T) {
	for _, f := range allFormats {
		if k, b := chunkOfC(f); k != f.chunkInputs() || b != f.chunkBytes() {
			t.Errorf("%s: %d inputs in %d bytes, C has %d in %d", f, f.chunkInputs(), f.chunkBytes(), k, b)
		}
	}
}
