package main

import (
	"bytes"
	"path/filepath"
	"testing"

	"decodegap/traces"
	"decodegap/traces/kineto"
)

var captured = filepath.Join("..", filepath.FromSlash(capturedTrace))

// TestGeneratedTrace holds that a repeated capture has the capture's
// operations that often, busy that often, without overlap, and is the same
// each time.
func TestGeneratedTrace(t *testing.T) {
	c, err := readCapture(captured)
	if err != nil {
		t.Fatal(err)
	}
	var lines [2]traces.Timeline
	for i, size := range []int64{1, 2*c.size + c.size/2} {
		var text, again bytes.Buffer
		n, err := c.write(&text, size)
		if err != nil || n != []int64{1, 3}[i] {
			t.Fatalf("%d repetitions, %v", n, err)
		}
		if c.write(&again, size); !bytes.Equal(text.Bytes(), again.Bytes()) {
			t.Error("two of the same size differ")
		}
		r, err := kineto.Format.Open(bytes.NewReader(text.Bytes()), int64(text.Len()), "generated")
		if err != nil {
			t.Fatal(err)
		}
		var all traces.Timelines
		for e, err := range r.Events() {
			if err != nil {
				t.Fatal(err)
			}
			all.Add(e)
		}
		r.Close()
		got := all.Done()
		if len(got) != 1 || len(r.Meta().Warnings) != 0 {
			t.Fatalf("%d timelines, warnings %v", len(got), r.Meta().Warnings)
		}
		lines[i] = got[0]
	}
	one, three := lines[0], lines[1]
	if one.Kernels == 0 || three.Kernels != 3*one.Kernels || three.Busy != 3*one.Busy || three.KernelTime != 3*one.KernelTime {
		t.Errorf("%+v is not three times %+v", three, one)
	}
}

// BenchmarkReaders reports how many times faster the Kineto reader is than
// encoding/json on the same bytes.
func BenchmarkReaders(b *testing.B) {
	c, err := readCapture(captured)
	if err != nil {
		b.Fatal(err)
	}
	var text bytes.Buffer
	if _, err := c.write(&text, 16<<20); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(2 * text.Len()))
	var ours, theirs float64
	for b.Loop() {
		o, t, err := compareReaders(text.Bytes(), 1)
		if err != nil {
			b.Fatal(err)
		}
		ours, theirs = ours+o, theirs+t
	}
	b.ReportMetric(theirs/ours, "×encoding/json")
}
