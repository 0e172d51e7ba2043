package kineto_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"

	"decodegap/traces/kineto"
)

// BenchmarkRead reads a captured decode trace, unpacked and repeated.
func BenchmarkRead(b *testing.B) {
	f, err := os.Open(filepath.Join("..", "..", "testdata", "traces", "captured", "qwen3moe_graph_b1.json.gz"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		b.Fatal(err)
	}
	content, err := io.ReadAll(z)
	if err != nil {
		b.Fatal(err)
	}
	start := bytes.Index(content, []byte(`"traceEvents": [`)) + len(`"traceEvents": [`)
	end := bytes.LastIndexByte(content, ']')
	events := content[start:end]
	long := append([]byte{}, content[:start]...)
	for range 10 {
		long = append(append(long, events...), ',')
	}
	long = append(long, "]}"...)
	b.SetBytes(int64(len(long)))
	b.ReportAllocs()
	for b.Loop() {
		r, err := kineto.Format.Open(bytes.NewReader(long), int64(len(long)), "file")
		if err != nil {
			b.Fatal(err)
		}
		n := 0
		for _, err := range r.Events() {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		r.Close()
		if n == 0 {
			b.Fatal("no events")
		}
	}
}
