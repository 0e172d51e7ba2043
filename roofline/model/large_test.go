package model

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// writeMany writes a file of so many one-byte tensors, each a module of its
// own that no model has.
func writeMany(t *testing.T, dir string, count int) {
	t.Helper()
	b := make([]byte, 8)
	for i := range count {
		b = fmt.Appendf(b, `%c"layers.%d.experts.%d.w":{"dtype":"U8","shape":[1],"data_offsets":[%d,%d]}`, "{,"[min(i, 1)], i%64, i/64, i, i+1)
	}
	b = append(b, '}')
	binary.LittleEndian.PutUint64(b, uint64(len(b)-8))
	if err := os.WriteFile(filepath.Join(dir, "model.safetensors"), append(b, make([]byte, count)...), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestManyModules: a header of modules that nobody knows costs memory in
// proportion to their number, and what is said of them stays short.
func TestManyModules(t *testing.T) {
	const count = 100_000
	c := newCheckpoint(t, smallMoE)
	writeMany(t, c.dir, count)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	l, err := Load(c.dir, "", Options{})
	if err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / count; each > 500 {
		t.Errorf("%d bytes allocated a tensor, expected at most 500", each)
	}
	if notes := strings.Join(l.Notes, "\n"); len(notes) > 2000 || !strings.Contains(notes, "and 99996 more") {
		t.Errorf("%d bytes of notes: %.2000s", len(notes), notes)
	}
}

// TestTooManyModules: a million is an error of one line.
func TestTooManyModules(t *testing.T) {
	c := newCheckpoint(t, smallMoE)
	writeMany(t, c.dir, 1_000_000)
	_, err := Load(c.dir, "", Options{})
	if err == nil || strings.ContainsAny(err.Error(), "\n") || !strings.Contains(err.Error(), "over 750000 tensors") {
		t.Errorf("got %v", err)
	}
}
