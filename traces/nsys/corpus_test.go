package nsys

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"decodegap/traces"
)

// corpus is the folder of real traces, or the test is skipped.
func corpus(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("DECODEGAP_CORPUS")
	if dir == "" {
		t.Skip("DECODEGAP_CORPUS names no folder of real traces")
	}
	return filepath.Join(dir, "traces")
}

// stats are ground truth of a set of intervals.
type stats struct {
	N    int   `json:"n"`
	Sum  int64 `json:"sum_ns"`
	Busy int64 `json:"busy_ns"`
	Span int64 `json:"span_ns"`
}

func measure(events []traces.Event) stats {
	if len(events) == 0 {
		return stats{}
	}
	events = slices.Clone(events)
	slices.SortFunc(events, func(a, b traces.Event) int { return cmp.Compare(a.Start, b.Start) })
	s := stats{N: len(events)}
	first, end := events[0].Start, events[0].Start
	for _, e := range events {
		s.Sum += e.Dur
		s.Busy += max(e.End()-max(e.Start, end), 0)
		end = max(end, e.End())
	}
	s.Span = end - first
	return s
}

func read(t *testing.T, f traces.Format, data []byte) ([]traces.Event, traces.Meta, []error) {
	t.Helper()
	r, err := f.Open(bytes.NewReader(data), int64(len(data)), "trace")
	if err != nil {
		t.Fatal(err)
	}
	return drain(t, r)
}

func drain(t *testing.T, r traces.Reader) (events []traces.Event, m traces.Meta, faults []error) {
	t.Helper()
	for e, err := range r.Events() {
		if err != nil {
			faults = append(faults, err)
			continue
		}
		events = append(events, e)
	}
	m = r.Meta()
	if err := r.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	return events, m, faults
}

func TestCorpusSQLite(t *testing.T) {
	dir := filepath.Join(corpus(t), "real")
	text, err := os.ReadFile(filepath.Join(dir, "GROUND_TRUTH.json"))
	if err != nil {
		t.Fatal(err)
	}
	var truth map[string]json.RawMessage
	if err := json.Unmarshal(text, &truth); err != nil {
		t.Fatal(err)
	}
	files := 0
	for file, raw := range truth {
		if !strings.HasSuffix(file, ".sqlite") {
			continue
		}
		files++
		t.Run(file, func(t *testing.T) {
			var want struct {
				Kernels stats            `json:"kernels"`
				Memcpy  stats            `json:"memcpy"`
				Memset  stats            `json:"memset"`
				All     stats            `json:"all_gpu_over_all_devices"`
				Devices map[string]stats `json:"devices"`
				GPUs    []string         `json:"gpus"`
				Schema  string           `json:"EXPORT_SCHEMA_VERSION"`
				Names   int              `json:"distinct_kernel_names"`
				API     struct {
					N   int   `json:"n"`
					Sum int64 `json:"sum_ns"`
				} `json:"api"`
				Correlation struct {
					Matched int `json:"matched_by_pid_and_id"`
				} `json:"correlation"`
				NVTX int `json:"nvtx_ranges"`
			}
			if err := json.Unmarshal(raw, &want); err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(file)))
			if err != nil {
				t.Fatal(err)
			}
			events, m, faults := read(t, SQLite, data)
			for _, f := range faults {
				t.Error(f)
			}
			t.Logf("%+v", m)
			only := func(kinds ...traces.Kind) (l []traces.Event) {
				for _, e := range events {
					if slices.Contains(kinds, e.Kind) {
						l = append(l, e)
					}
				}
				return l
			}
			gpu := only(traces.Kernel, traces.Memcpy, traces.Memset)
			for _, c := range []struct {
				name      string
				got, want stats
			}{
				{"kernels", measure(only(traces.Kernel)), want.Kernels},
				{"memcpy", measure(only(traces.Memcpy)), want.Memcpy},
				{"memset", measure(only(traces.Memset)), want.Memset},
				{"all", measure(gpu), want.All},
			} {
				if c.got != c.want {
					t.Errorf("%s: got %+v, want %+v", c.name, c.got, c.want)
				}
			}
			type call struct {
				process, corr uint64
			}
			calls, names := map[call]bool{}, map[string]bool{}
			n, sum := 0, int64(0)
			for _, e := range only(traces.Launch, traces.Sync, traces.Runtime) {
				if e.Detail == nil { // not of the table of synchronisations
					calls[call{e.Process, e.Corr}] = true
					n, sum = n+1, sum+e.Dur
				}
			}
			if n != want.API.N || sum != want.API.Sum {
				t.Errorf("%d calls of %d ns, want %d of %d", n, sum, want.API.N, want.API.Sum)
			}
			matched := 0
			for _, e := range gpu {
				if calls[call{e.Process, e.Corr}] {
					matched++
				}
				if e.Kind == traces.Kernel {
					names[e.Name] = true
				}
			}
			if matched != want.Correlation.Matched {
				t.Errorf("%d GPU operations have their call, want %d", matched, want.Correlation.Matched)
			}
			if len(names) != want.Names {
				t.Errorf("%d kernel names, want %d", len(names), want.Names)
			}
			if got := len(only(traces.Range)); got != want.NVTX {
				t.Errorf("%d ranges, want %d", got, want.NVTX)
			}
			if m.Facts["nsys_schema"] != want.Schema {
				t.Errorf("schema %q, want %q", m.Facts["nsys_schema"], want.Schema)
			}
			if len(m.Devices) != len(want.GPUs) {
				t.Errorf("devices %v, want %v", m.Devices, want.GPUs)
			}
		})
	}
	if files == 0 {
		t.Error("the corpus holds no SQLite export")
	}
}

func TestCorpusBroken(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(corpus(t), "broken_derived", "sqlite_header_zeroed.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	if !SQLite.Sniff(data[:512]) {
		t.Error("an export with a header of zeros is not recognised")
	}
	_, err = SQLite.Open(bytes.NewReader(data), int64(len(data)), "cut.sqlite")
	if err == nil || !strings.Contains(err.Error(), "not a finished SQLite database") || !strings.Contains(err.Error(), ".nsys-rep") {
		t.Errorf("got %v", err)
	}
}
