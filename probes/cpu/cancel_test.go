//go:build cgo && linux

package cpu

import (
	"context"
	"errors"
	"testing"
	"time"
)

// TestCancel ends a series that would take minutes in the middle of one of its
// operations.
func TestCancel(t *testing.T) {
	c := gemvCase(NVFP4, MaxTokens, 4096, 4096)
	c.ISA = Scalar.String()
	s, err := prepareGEMV(t.Context(), host(2), c)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := s.Time(ctx, 1000); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a thousand runs after their context's end: %v", err)
	}
}
