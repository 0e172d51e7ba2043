package assemble

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"decodegap/traces/all"
)

// TestTotalsBehindBudget: a file with more operations than are kept for
// finding steps is summed whole.
func TestTotalsBehindBudget(t *testing.T) {
	const kernels = maxTraceEvents + 500
	var b strings.Builder
	b.WriteString(`{"schemaVersion":1,"traceEvents":[` + "\n")
	b.WriteString(`{"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD","pid":0,"tid":7,"ts":1,"dur":0.5,"args":{"device":0,"stream":7}}`)
	for i := range kernels {
		fmt.Fprintf(&b, ",\n"+`{"ph":"X","cat":"kernel","name":"k%d","pid":0,"tid":7,"ts":%d,"dur":1.25,"args":{"device":0,"stream":7}}`, i%3, 10+2*i)
	}
	b.WriteString("]}")
	path := filepath.Join(t.TempDir(), "long.json")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	run := Trace{Formats: all.All, Totalled: true}
	if err := run.Read(context.Background(), path); err != nil {
		t.Fatal(err)
	}
	sums := map[string]TraceTotal{}
	for _, v := range run.Totals() {
		sums[v.Name] = v
	}
	if copies := sums["Memcpy HtoD"]; copies.Component != "memcpy" || copies.Time != 500 || copies.Count != 1 {
		t.Errorf("copies %+v", copies)
	}
	delete(sums, "Memcpy HtoD")
	var count, ns int64
	for _, v := range sums {
		count += v.Count
		ns += v.Time
	}
	if len(sums) != 3 || count != kernels || ns != 1250*kernels {
		t.Errorf("%d names, %d kernels, %d ns; want 3, %d, %d", len(sums), count, ns, kernels, 1250*kernels)
	}
}
