package kineto_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"decodegap/traces"
	"decodegap/traces/kineto"
)

// result is all that a file gives.
type result struct {
	events []traces.Event
	damage []*traces.Damage
	meta   traces.Meta
}

func (r result) codes() []string {
	var codes []string
	for _, w := range r.meta.Warnings {
		codes = append(codes, w.Code)
	}
	return codes
}

func (r result) gpu() (n int) {
	for _, e := range r.events {
		if e.Kind.IsGPU() {
			n++
		}
	}
	return n
}

func read(t testing.TB, content []byte) result {
	t.Helper()
	r, err := kineto.Format.Open(bytes.NewReader(content), int64(len(content)), "file")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var out result
	for e, err := range r.Events() {
		if err != nil {
			var d *traces.Damage
			if !errors.As(err, &d) {
				t.Fatalf("an error that is no Damage: %v", err)
			}
			out.damage = append(out.damage, d)
			continue
		}
		out.events = append(out.events, e)
	}
	out.meta = r.Meta()
	return out
}

func packed(t testing.TB, content string) []byte {
	t.Helper()
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	if _, err := z.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// kernel is an event as Kineto writes it.
func kernel(name string, ts, dur string) string {
	return fmt.Sprintf(`{"ph": "X", "cat": "kernel", "name": "%s", "pid": 0, "tid": 7, "ts": %s, "dur": %s,
    "args": {"External id": 5, "device": 0, "stream": 7, "correlation": 9, "grid": [2, 3, 4], "block": [128, 1, 1]}}`, name, ts, dur)
}

func document(events ...string) string {
	return `{"schemaVersion": 1, "traceEvents": [` + strings.Join(events, ",\n") + `], "traceName": "t"}`
}

func TestEvent(t *testing.T) {
	doc := `{"deviceProperties": [{"id": 3, "name": "NVIDIA H200", "totalGlobalMem": 1}], "baseTimeNanoseconds": 1719853884000000000,
	"traceEvents": [
	{"args": {"bytes": 4096, "stream": 20, "device": 3, "correlation": 11, "memory bandwidth (GB/s)": inf}, "dur": 0.5, "ts": 5115520877246.466, "tid": 7, "pid": 3,
	 "name": "Memcpy HtoD", "cat": "gpu_memcpy", "ph": "X"},
	{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 44, "tid": 45, "ts": 1, "dur": 2, "args": {"External id": 7, "Input Dims": [[1, 4096], [ 4096,
		4096], []], "Input type": ["c10::BFloat16", "c10::BFloat16", ""]}},
	{"ph": "X", "cat": "Runtime", "name": "cudaGraphLaunch", "pid": 44, "tid": 45, "ts": 1, "dur": 2, "args": {"correlation": 99999999999999999999}},
	{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", "pid": 3, "tid": "stream 9", "ts": 2, "dur": 2,
	 "args": {"Collective name": "allreduce", "dtype": "BFloat16", "In msg nelems": 6144, "Out msg nelems": 6144, "Group size": 8, "Process Group Name": "0", "Seq": 12, "graph id": 4, "graph node id": 5}},
	{"ph": "s", "id": 4, "pid": 44, "tid": 45, "ts": 1, "cat": "ac2g", "name": "ac2g"},
	{"ph": "M", "name": "process_name", "pid": 0}, {}, 7, null, "x", []
	], "distributedInfo": {"backend": "nccl", "rank": 2, "world_size": 8, "pg_config": [{"ranks": [0, 1]}]}, "displayTimeUnit": "ms"}`
	got := read(t, []byte(doc))
	want := []traces.Event{
		{Start: 5115520877246466, Dur: 500, Kind: traces.Memcpy, Name: "Memcpy HtoD", Device: 3, Stream: 20, Corr: 11, Bytes: 4096},
		{Start: 1000, Dur: 2000, Kind: traces.Op, Name: "aten::mm", Device: -1, Stream: 45, External: 7,
			Detail: &traces.Detail{Dims: "[[1,4096],[4096,4096],[]]", Types: `["c10::BFloat16","c10::BFloat16",""]`}},
		{Start: 1000, Dur: 2000, Kind: traces.Launch, Name: "cudaGraphLaunch", Device: -1, Stream: 45},
		{Start: 2000, Dur: 2000, Kind: traces.Kernel, Name: "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", Device: 3, Stream: 9, Graph: 4, Node: 5, Bytes: 12288,
			Detail: &traces.Detail{Collective: "allreduce", Group: "0", GroupSize: 8, Seq: 12}},
	}
	if d := cmp.Diff(want, got.events); d != "" {
		t.Errorf("events (-want +got):\n%s", d)
	}
	wantMeta := traces.Meta{
		Format: "kineto", Bytes: int64(len(doc)), Events: 11, Base: 1719853884000000000, Ranks: []int{2}, WorldSize: 8,
		Devices: map[int]string{3: "NVIDIA H200"}, Facts: map[string]string{"displayTimeUnit": "ms"},
	}
	meta := got.meta
	if meta.Warnings = nil; cmp.Diff(wantMeta, meta) != "" {
		t.Errorf("meta (-want +got):\n%s", cmp.Diff(wantMeta, meta))
	}
	if !slices.Equal(got.codes(), []string{"non-finite"}) || len(got.damage) > 0 {
		t.Errorf("warnings %v, damage %v", got.codes(), got.damage)
	}
}

// TestOddFiles holds that each oddity is read as far as it goes, and said.
func TestOddFiles(t *testing.T) {
	k := func(i int) string { return kernel("k", fmt.Sprint(100+i), "10") }
	plain := document(k(0), k(1), k(2))
	for _, c := range []struct {
		name    string
		content string
		gpu     int
		events  int64
		skipped int64
		codes   []string
	}{
		{"plain", plain, 3, 3, 0, nil},
		{"bare array", "[" + k(0) + "," + k(1) + "]", 2, 2, 0, nil},
		{"byte order mark", "\xef\xbb\xbf" + plain, 3, 3, 0, nil},
		{"trailing comma", document(k(0), k(1)+","), 2, 2, 0, nil},
		{"cut in an event", plain[:len(plain)-60], 2, 2, 0, []string{"truncated"}},
		{"cut behind an event", document(k(0), k(1))[:strings.LastIndex(document(k(0), k(1)), "]")], 2, 2, 0, []string{"truncated"}},
		{"cut in the tail", plain[:len(plain)-4], 3, 3, 0, []string{"truncated"}},
		{"no bracket, then a key", strings.Replace(plain, "], \"traceName\"", ", \"traceName\"", 1), 3, 3, 0, nil},
		{"no bracket, then the end", strings.Replace(plain, "], \"traceName\": \"t\"", "", 1), 3, 3, 0, nil},
		{"a hole", document(k(0), `{"ph": "X", "cat": "kernel" "name": `, k(1), k(2)), 3, 3, 0, []string{"damaged"}},
		{"an event without its end", document(k(0), strings.TrimSuffix(k(1), "}"), k(2)), 2, 2, 0, []string{"damaged"}},
		{"a missing quote", document(k(0), strings.Replace(k(1), `"k"`, `k"`, 1), k(2)), 2, 2, 0, []string{"damaged"}},
		{"quotes in a name", document(k(0), kernel(`f<"a", "b">("c")`, "5", "1"), k(2)), 3, 3, 0, []string{"unescaped-quotes"}},
		{"quotes and braces in a name", document(k(0), kernel(`f{"a": "b"} x`, "5", "1"), k(2)), 3, 3, 0, []string{"unescaped-quotes"}},
		{"a path's last backslash", document(k(0), `{"ph":"X","cat":"cpu_op","name":"C:\dir\","pid":1,"tid":1,"ts":1,"dur":1}`, k(2)), 2, 3, 0,
			[]string{"invalid-escapes", "unescaped-quotes"}},
		{"negative durations", document(k(0), kernel("k", "5", "-0.-23"), kernel("k", "5", "-1.-500"), kernel("k", "5", "-12.5")), 1, 4, 3,
			[]string{"unusable-times", "malformed-numbers"}},
		{"a malformed start", document(k(0), kernel("k", "0.-23", "1")), 1, 2, 1, []string{"unusable-times", "malformed-numbers"}},
		{"no time stamp", document(k(0), kernel("k", "0", "0")), 1, 2, 1, []string{"unusable-times"}},
		{"centuries", document(k(0), kernel("k", "5", "7449158500000000")), 1, 2, 1, []string{"unusable-times"}},
		{"infinite", document(k(0), kernel("k", "5", "inf"), kernel("k", "NaN", "1")), 1, 3, 2, []string{"unusable-times", "non-finite"}},
		{"times as text", document(kernel("k", `"5.5"`, `"1.25"`)), 1, 1, 0, nil},
		{"an empty last event", document(k(0), "{}"), 1, 2, 0, nil},
		{"invalid UTF-8", document(kernel("k\xff\xfe", "5", "1")), 1, 1, 0, []string{"invalid-utf8"}},
		{"environment", `{"metadata": {"environment": {"HF_TOKEN": "secret"}}, "traceEvents": [` + k(0) + `]}`, 1, 1, 0, []string{"environment"}},
		{"damaged metadata", `{"a": {"b": ]}, "traceEvents": [` + k(0) + `]}`, 1, 1, 0, []string{"damaged"}},
		{"no events", document(), 0, 0, 0, []string{"no-events"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, content := range [][]byte{[]byte(c.content), packed(t, c.content)} {
				got := read(t, content)
				if got.gpu() != c.gpu || got.meta.Events != c.events || got.meta.Skipped != c.skipped || !slices.Equal(got.codes(), c.codes) {
					t.Errorf("%d GPU operations, %d events, %d skipped, warnings %v (damage %v);\nwant %d, %d, %d, %v",
						got.gpu(), got.meta.Events, got.meta.Skipped, got.meta.Warnings, got.damage, c.gpu, c.events, c.skipped, c.codes)
				}
				if strings.Contains(fmt.Sprintf("%+v", got), "secret") {
					t.Error("the environment leaks")
				}
			}
		})
	}
}

func TestNames(t *testing.T) {
	for in, want := range map[string]string{
		`a\"b\\c\/d`: `a"b\c/d`, `\u00b5\ud83d\ude00`: "µ😀", `\ud83dx`: "\uFFFDx", `C:\Users\dev`: `C:\Users\dev`, "k\xffx": "k\uFFFDx", `\u12`: `\u12`,
	} {
		got := read(t, []byte(document(kernel(in, "5", "1"))))
		if len(got.events) != 1 || got.events[0].Name != want {
			t.Errorf("%s: %+v, want the name %q", in, got.events, want)
		}
	}
}

// TestCutAnywhere cuts a packed file at every byte: what was whole before the
// cut is there, and the cut is said.
func TestCutAnywhere(t *testing.T) {
	var all []string
	for i := range 40 {
		all = append(all, kernel(fmt.Sprintf("k%d", i*i), fmt.Sprint(100+i), "10"))
	}
	content := document(all...)
	for cut := 1; cut < len(content); cut += 3 {
		got := read(t, []byte(content[:cut]))
		whole := 0
		for at := strings.Index(content, "["); whole < len(all) && at+1+len(all[whole]) <= cut; whole++ {
			at += 2 + len(all[whole])
			if whole == 0 {
				at--
			}
			if at > cut {
				break
			}
		}
		if cut > 40 && (got.gpu() < whole-1 || got.gpu() > whole+1 || !got.meta.Truncated) {
			t.Fatalf("cut at %d: %d events, about %d expected, truncated %v", cut, got.gpu(), whole, got.meta.Truncated)
		}
	}
	zipped := packed(t, content)
	for cut := 20; cut < len(zipped); cut += 7 {
		if got := read(t, zipped[:cut]); !got.meta.Truncated && got.meta.Events > 0 {
			t.Fatalf("gzip cut at %d: not truncated", cut)
		}
	}
}

// TestRanksInOneFile holds that merged ranks are told apart by their labels.
func TestRanksInOneFile(t *testing.T) {
	labelled := func(label string) string {
		return strings.Replace(kernel("k", "5", "1"), `"pid": 0`, `"pid": "`+label+` 0"`, 1)
	}
	got := read(t, []byte(`{"distributedInfo": {"rank": 0}, "traceEvents": [`+labelled("[TP01]")+","+labelled("[TP00]")+","+labelled("[TP01]")+"]}"))
	var ranks []int
	for _, e := range got.events {
		ranks = append(ranks, e.Rank)
		if e.Process != uint64(e.Rank) {
			t.Errorf("process %d of rank %d", e.Process, e.Rank)
		}
	}
	if !slices.Equal(ranks, []int{1, 0, 1}) || !slices.Equal(got.meta.Ranks, []int{0, 1}) {
		t.Errorf("ranks of events %v, of the file %v", ranks, got.meta.Ranks)
	}
}

func TestNoTrace(t *testing.T) {
	for content, want := range map[string]string{
		`{"model_type": "llama"}`:      "model_type",
		`{"rocprofiler-sdk-tool": []}`: "rocprofv3",
		`{"traceEvents": null}`:        "without traceEvents",
		`{`:                            "without traceEvents",
	} {
		got := read(t, []byte(content))
		if len(got.damage) == 0 || !strings.Contains(got.damage[len(got.damage)-1].Error(), want) || got.meta.Events != 0 {
			t.Errorf("%s: damage %v, want %q", content, got.damage, want)
		}
	}
}

// TestHostile holds that no content takes long.
func TestHostile(t *testing.T) {
	n := 1 << 20
	for name, content := range map[string]string{
		"open braces":     `{"traceEvents": [` + strings.Repeat(`{"a":[`, n/6),
		"open strings":    `{"traceEvents": [` + strings.Repeat(`{"`, n/2),
		"broken events":   `{"traceEvents": [` + strings.Repeat(`,{"ph":"X"`, n/10),
		"quotes":          `{"traceEvents": [{"ph":"X","name":` + strings.Repeat(`"`, n),
		"backslashes":     `{"traceEvents": [{"ph":"X","name":"` + strings.Repeat(`\`, n),
		"escaped quotes":  `{"traceEvents": [{"ph":"X","name":"` + strings.Repeat(`\"`, n/2),
		"a long token":    `{"traceEvents": [` + strings.Repeat(`1`, n),
		"array brackets":  strings.Repeat(`[`, n),
		"nested arrays":   `{"a":` + strings.Repeat(`[`, 2*n),
		"long metadata":   `{"a":"` + strings.Repeat("y", 20*n) + `","traceEvents":[]}`,
		"broken metadata": `{"a": nul, "junk":"` + strings.Repeat("y", 3*n) + `","traceEvents":[]}`,
		"no JSON at all":  `{"a":@` + strings.Repeat("y", n),
		"wide but broken": `{"traceEvents": [` + strings.Repeat(`{"x":"`+strings.Repeat("y", 5000)+`" "z"},`, n/5000),
	} {
		start := time.Now()
		read(t, []byte(content))
		t.Logf("%s: %v", name, time.Since(start))
		if d := time.Since(start); d > 20*time.Second {
			t.Errorf("%s: %v", name, d)
		}
	}
}

func TestCaptured(t *testing.T) {
	for name, want := range map[string]struct {
		events       int64
		gpu, kernels int
		sum, busy    int64
	}{
		"llama8b_graph_b1.json.gz":  {4863, 2334, 2322, 17099308, 17110538},
		"qwen3moe_graph_b1.json.gz": {9483, 4641, 4626, 18941480, 18953864},
	} {
		content, err := os.ReadFile(filepath.Join("..", "..", "testdata", "traces", "captured", name))
		if err != nil {
			t.Fatal(err)
		}
		got := read(t, content)
		var lines traces.Timelines
		for _, e := range got.events {
			lines.Add(e)
		}
		l := lines.Done()
		if len(l) != 1 || got.meta.Events != want.events || l[0].Ops != int64(want.gpu) || l[0].Kernels != int64(want.kernels) || l[0].KernelTime != want.sum || l[0].Busy != want.busy {
			t.Errorf("%s: %d events, %+v; want %+v", name, got.meta.Events, l, want)
		}
	}
}
