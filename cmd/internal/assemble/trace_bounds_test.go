package assemble

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"decodegap/reports"
	"decodegap/traces"
	"decodegap/traces/all"
)

// writeTrace writes n kernels; fields gives each one's name, device, stream
// and pid.
func writeTrace(t *testing.T, n int, fields func(i int) (name string, device, stream int, pid string)) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "t.json")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(f)
	w.WriteString(`{"schemaVersion":1,"traceEvents":[{"ph":"M","name":"process_name","pid":0}`)
	for i := range n {
		name, device, stream, pid := fields(i)
		fmt.Fprintf(w, ",\n"+`{"ph":"X","cat":"kernel","name":%q,"pid":%s,"tid":%d,"ts":%d,"dur":5,"args":{"device":%d,"stream":%d}}`, name, pid, stream, 10*i, device, stream)
	}
	w.WriteString("]}")
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func documentOf(t *testing.T, paths ...string) *reports.TraceDocument {
	t.Helper()
	made := Trace{Formats: all.All, Many: len(paths) > 1, Totalled: true}
	for _, err := range made.ReadAll(t.Context(), paths) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if n := len(made.Totals()); n > maxTotals+64 {
		t.Errorf("%d totals", n)
	}
	return made.Document()
}

func warned(doc *reports.TraceDocument, code string) string {
	for _, w := range doc.Warnings {
		if w.Code == code {
			return w.Text
		}
	}
	return ""
}

// TestBoundsOfAFile: what a file without end of devices, ranks, streams or
// names makes the reading hold is bounded, and what lies behind is said.
func TestBoundsOfAFile(t *testing.T) {
	t.Run("devices", func(t *testing.T) {
		doc := documentOf(t, writeTrace(t, maxPlaces+500, func(i int) (string, int, int, string) { return "k", i, 7, "1" }))
		if n := len(doc.Ranks); n > maxPlaces {
			t.Errorf("%d devices, want at most %d", n, maxPlaces)
		}
		if text := warned(doc, "too-many-devices"); !strings.HasPrefix(text, "500 events") {
			t.Errorf("warned %q, want 500 events left out", text)
		}
	})
	t.Run("ranks", func(t *testing.T) {
		doc := documentOf(t, writeTrace(t, maxPlaces+500, func(i int) (string, int, int, string) { return "k", 0, 7, fmt.Sprintf(`"[TP%d] 0"`, i) }))
		if n := len(doc.Ranks); n > maxPlaces {
			t.Errorf("%d ranks, want at most %d", n, maxPlaces)
		}
		if warned(doc, "too-many-ranks") == "" {
			t.Errorf("no word of the ranks that were joined: %v", doc.Warnings)
		}
	})
	t.Run("streams", func(t *testing.T) {
		doc := documentOf(t, writeTrace(t, traces.MaxStreams+5, func(i int) (string, int, int, string) { return "k", 0, i, "1" }))
		if n := doc.Ranks[0].Streams; n != traces.MaxStreams || doc.Ranks[0].Kernels != traces.MaxStreams+5 {
			t.Errorf("%d streams of %d kernels", n, doc.Ranks[0].Kernels)
		}
		if warned(doc, "too-many-streams") == "" {
			t.Errorf("no word of it: %v", doc.Warnings)
		}
	})
	t.Run("names", func(t *testing.T) {
		const more = 1000
		doc := documentOf(t, writeTrace(t, maxKernelNames+more, func(i int) (string, int, int, string) { return fmt.Sprintf("kernel_%d", i), 0, 7, "1" }))
		var count int64
		for _, k := range doc.Kernels {
			count += k.Count
		}
		if n := len(doc.Kernels); n > maxKernelNames+8 || count != maxKernelNames+more {
			t.Errorf("%d rows of %d launches", n, count)
		}
		if warned(doc, "kernel-names") == "" {
			t.Errorf("no word of it: %v", doc.Warnings)
		}
	})
}

// TestHeldNames: names are held whole until they take too much room.
func TestHeldNames(t *testing.T) {
	var h heldNames
	long := strings.Repeat("é", 1000)
	total := 0
	for i := range 20_000 {
		total += len(h.hold(fmt.Sprint(i, long)))
	}
	if total > maxNameBytes+20_000*(cutName+3) || h.cut == 0 {
		t.Errorf("%d bytes held, %d cut", total, h.cut)
	}
	if got := h.hold("0" + long); got != "0"+long {
		t.Errorf("a name that is held already is cut to %q", got)
	}
}

// TestHeldOfManyFiles: more files share the room of a few.
func TestHeldOfManyFiles(t *testing.T) {
	for files, want := range map[int]int{1: 100_000, 2: 60_000, 8: 15_000, 64: leastHeld} {
		if got := heldOf(files); got != want {
			t.Errorf("%d files: %d events of each, want %d", files, got, want)
		}
	}
}

// TestKernelTableSpellsOut: the kernel table has C++ names.
func TestKernelTableSpellsOut(t *testing.T) {
	doc := documentOf(t, writeTrace(t, 3, func(i int) (string, int, int, string) {
		return "_ZN7cutlass13device_kernelINS_4gemm6kernel13GemmUniversalIiEEEEvNT_6ParamsE", 0, 7, "1"
	}))
	if got := doc.Kernels[0].Name; !strings.HasPrefix(got, "void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<int> >") {
		t.Errorf("kernel %q", got)
	}
}
