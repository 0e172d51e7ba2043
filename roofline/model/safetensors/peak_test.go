package safetensors

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

// peak runs f and checks how far the heap grew while it ran. It looks every
// millisecond and collects garbage early, so what it sees may be too low by a
// little, but a reader that holds the file in memory is seen.
func peak(t *testing.T, limit uint64, f func()) {
	t.Helper()
	defer debug.SetGCPercent(debug.SetGCPercent(5))
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	before, most := m.HeapAlloc, m.HeapAlloc
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-done:
				return
			case <-time.After(time.Millisecond):
				runtime.ReadMemStats(&m)
				most = max(most, m.HeapAlloc)
			}
		}
	}()
	f()
	close(done)
	<-stopped
	t.Logf("the heap grew by %d bytes", most-before)
	if most-before > limit {
		t.Errorf("the heap grew by %d bytes, expected at most %d", most-before, limit)
	}
}
