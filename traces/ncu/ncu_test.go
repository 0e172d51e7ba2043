package ncu

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"decodegap/traces"
)

func read(t *testing.T, data []byte) ([]traces.Counter, traces.Meta, []error) {
	t.Helper()
	r, err := CSV.Open(bytes.NewReader(data), int64(len(data)), "ncu.csv")
	if err != nil {
		t.Fatal(err)
	}
	var faults []error
	for e, err := range r.Events() {
		if err == nil {
			t.Errorf("an event out of counters: %+v", e)
		}
		faults = append(faults, err)
	}
	return r.(traces.Counters).Counters(), r.Meta(), faults
}

// find is the value of a metric of a launch.
func find(t *testing.T, counters []traces.Counter, launch int64, metric string) traces.Counter {
	t.Helper()
	for _, c := range counters {
		if c.Launch == launch && c.Metric == metric {
			return c
		}
	}
	t.Fatalf("launch %d has no %s", launch, metric)
	return traces.Counter{}
}

// TestRawPage reads a capture of our own: a GEMV of 28672 × 8192 FP4 weights
// with a scale per 16, 132,120,576 bytes counted by hand.
func TestRawPage(t *testing.T) {
	data, err := os.ReadFile("../../testdata/traces/ncu/gemv_raw.csv")
	if err != nil {
		t.Fatal(err)
	}
	if !CSV.Sniff(data[:512]) {
		t.Error("not recognised by its first 512 bytes")
	}
	counters, m, faults := read(t, data)
	for _, f := range faults {
		t.Error(f)
	}
	launches := map[int64]bool{}
	for _, c := range counters {
		launches[c.Launch] = true
	}
	if len(launches) != 12 || m.Events != 12 {
		t.Errorf("%d launches in %d rows, want 12", len(launches), m.Events)
	}
	c := find(t, counters, 0, "dram__bytes_read.sum")
	want := traces.Counter{Launch: 0, Kernel: c.Kernel, Metric: "dram__bytes_read.sum", Value: 132_154_112, Step: 1, Unit: "byte",
		Process: 774, Device: 0, Stream: 14, Grid: [3]int32{3584, 1, 1}, Block: [3]int32{256, 1, 1}}
	if c != want {
		t.Errorf("got %+v, want %+v", c, want)
	}
	if !strings.HasPrefix(c.Kernel, "void gemv<1>(") {
		t.Errorf("kernel %q", c.Kernel)
	}
	if counted := 28672.0 * 8192 * (0.5 + 1.0/16); c.Value < counted || c.Value > counted*1.001 {
		t.Errorf("%v bytes read of %v counted", c.Value, counted)
	}
	if d := find(t, counters, 0, "gpu__time_duration.sum"); d.Value != 83424 || d.Unit != "ns" {
		t.Errorf("duration %v %s", d.Value, d.Unit)
	}
	for _, c := range counters {
		if strings.HasPrefix(c.Metric, "device__") || c.Metric == "launch__cluster_scheduling_policy" || c.Metric == "Process Name" {
			t.Errorf("%s was taken for a counter", c.Metric)
		}
	}
}

const detailsHeader = `"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value","Rule Name","Rule Type","Rule Description","Estimated Speedup Type","Estimated Speedup"` + "\n"

func TestDetailsPage(t *testing.T) {
	const launch = `"3","42","server","node-7","gemm<int, (bool)1>(T1 *)","1","7","(32, 4, 1)","(224, 1, 1)","1","9.0",`
	data := "==PROF== Connected to process 42\n" + `loading "weights, part 1` + "\n" + detailsHeader +
		launch + `"Memory","dram__bytes_read.sum","Mbyte","2.33",` + "\n" +
		"step 1: 5.2 ms, \"fine\"\n" +
		launch + `"Memory","dram__bytes_write.sum","byte","1,024",` + "\n" +
		launch + `"Memory","dram__bytes.sum.per_second","Gbyte/s","2,075.5",` + "\n" +
		launch + `"Speed","gpu__time_duration.sum","us","6.46",` + "\n" +
		launch + `"Speed","Duration","msecond","1.5",` + "\n" +
		launch + `"Speed","smsp__cycles.avg.per_second","Ghz","1.98",` + "\n" +
		launch + `"Speed","flop_count_hp.sum","","n/a",` + "\n" +
		launch + `"Speed","odd.sum","inst","1,23",` + "\n" +
		launch + `"Speed","","","","SOLBottleneck","OPT","Two lines of
advice, with ""quotes""","local","3.1"` + "\n" +
		launch + `"Speed","sm__throughput.avg.pct_of_peak_sustained_elapsed","%","20.52",` + "\n==PROF== Disconnected\n"
	counters, _, faults := read(t, []byte(data))
	for _, f := range faults {
		t.Error(f)
	}
	for _, want := range []traces.Counter{
		{Metric: "dram__bytes_read.sum", Value: 2_330_000, Step: 10_000, Unit: "byte"},
		{Metric: "dram__bytes_write.sum", Value: 1024, Step: 1, Unit: "byte"},
		{Metric: "dram__bytes.sum.per_second", Value: 2075.5e9, Step: 1e8, Unit: "byte/s"},
		{Metric: "gpu__time_duration.sum", Value: 6460, Step: 10, Unit: "ns"},
		{Metric: "Duration", Value: 1_500_000, Step: 100_000, Unit: "ns"},
		{Metric: "smsp__cycles.avg.per_second", Value: 1.98e9, Step: 1e7, Unit: "hz"},
		{Metric: "sm__throughput.avg.pct_of_peak_sustained_elapsed", Value: 20.52, Step: 0.01, Unit: "%"},
	} {
		got := find(t, counters, 3, want.Metric)
		if got.Value != want.Value || got.Step != want.Step || got.Unit != want.Unit || got.Device != 1 || got.Kernel != "gemm<int, (bool)1>(T1 *)" {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	if len(counters) != 7 {
		t.Errorf("%d counters, want 7: \"n/a\" and \"1,23\" are no numbers", len(counters))
	}
	for _, c := range counters {
		if strings.Contains(c.Kernel+c.Section+c.Metric, "node-7") {
			t.Error("the host name came out")
		}
	}
}

func TestNothingToRead(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"no header", "==PROF== Connected\nhello\n", "no CSV header"},
		{"no rows", detailsHeader + "==ERROR== ERR_NVGPUCTRPERM\n", "ERR_NVGPUCTRPERM"},
	} {
		_, m, _ := read(t, []byte(c.text))
		if len(m.Warnings) != 1 || !strings.Contains(m.Warnings[0].Text, c.want) {
			t.Errorf("%s: %+v", c.name, m.Warnings)
		}
	}
	_, _, faults := read(t, []byte(`"ID","Process ID","Kernel Name","Metric Name","Metric Unit","Minimum","Maximum","Average"`+"\n"))
	if len(faults) != 1 || !strings.Contains(faults[0].Error(), "--print-summary") {
		t.Errorf("a summary: %v", faults)
	}
}

func TestReportRefused(t *testing.T) {
	if !Report.Sniff([]byte("NVR\x00rest")) || Report.Sniff([]byte("NVR")) {
		t.Error("the sniffer does not go by the first four bytes")
	}
	_, err := Report.Open(strings.NewReader(""), 0, "run/decode.ncu-rep")
	if err == nil || !strings.Contains(err.Error(), "ncu --import run/decode.ncu-rep --csv --page raw > run/decode.csv") {
		t.Errorf("got %v", err)
	}
	if _, err := Report.Open(strings.NewReader(""), 0, "a; rm b.ncu-rep"); !strings.Contains(err.Error(), "--import REPORT.ncu-rep ") {
		t.Errorf("got %v", err)
	}
}

func TestCorpus(t *testing.T) {
	dir := os.Getenv("DECODEGAP_CORPUS")
	if dir == "" {
		t.Skip("DECODEGAP_CORPUS names no folder of real traces")
	}
	dir = filepath.Join(dir, "traces", "real")
	text, err := os.ReadFile(filepath.Join(dir, "GROUND_TRUTH.json"))
	if err != nil {
		t.Fatal(err)
	}
	var truth map[string]struct {
		Format  string `json:"format"`
		Rows    int64  `json:"rows"`
		Metrics int    `json:"rows_with_a_metric"`
		NA      int    `json:"values_na"`
	}
	if err := json.Unmarshal(text, &truth); err != nil {
		t.Fatal(err)
	}
	files := 0
	for file, want := range truth {
		if want.Format != "ncu-details-csv" {
			continue
		}
		files++
		data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(file)))
		if err != nil {
			t.Fatal(err)
		}
		if !CSV.Sniff(data[:4096]) {
			t.Errorf("%s: not recognised", file)
		}
		counters, m, faults := read(t, data)
		for _, f := range faults {
			t.Error(f)
		}
		if len(counters) != want.Metrics-want.NA || m.Events != want.Rows {
			t.Errorf("%s: %d counters in %d rows, want %d in %d", file, len(counters), m.Events, want.Metrics-want.NA, want.Rows)
		}
	}
	if files == 0 {
		t.Error("the corpus holds no Nsight Compute CSV")
	}
}

func FuzzCSV(f *testing.F) {
	f.Add([]byte(detailsHeader + `"0","1","p","h","k","1","7","(1, 1, 1)","(1, 1, 1)","0","9.0","s","m","Mbyte","2.33",` + "\n"))
	f.Add([]byte(`"ID","Process ID","Kernel Name","a","b"` + "\n" + `"","","","byte",""` + "\n" + `"0","1","k","1,024","x"` + "\n"))
	f.Add([]byte("\"ID\",\"Kernel Name\",\"\n\"\"\","))
	f.Fuzz(func(t *testing.T, data []byte) {
		CSV.Sniff(data)
		r, err := CSV.Open(bytes.NewReader(data), int64(len(data)), "f")
		if err != nil {
			return
		}
		for range r.Events() {
		}
		for _, c := range r.(traces.Counters).Counters() {
			if c.Metric == "" || c.Value != c.Value {
				t.Errorf("%+v", c)
			}
		}
	})
}

// TestFewColumns: a table cut down to what matters is still one.
func TestFewColumns(t *testing.T) {
	text := `"ID","Kernel Name","dram__bytes_read.sum"` + "\n" + `"","","Mbyte"` + "\n" + `"0","gemv","1,234.5"` + "\n" + `"1","gemv","n/a"` + "\n" + `"2","gemv"` + "\n"
	if !CSV.Sniff([]byte(text)) {
		t.Error("not recognised")
	}
	counters, m, faults := read(t, []byte(text))
	if c := find(t, counters, 0, "dram__bytes_read.sum"); c.Value != 1_234_500_000 || c.Kernel != "gemv" {
		t.Errorf("read %+v, want 1.2345 GB of gemv", c)
	}
	if len(counters) != 1 || m.Events != 2 || len(faults) != 1 {
		t.Errorf("%d counters of %d rows, faults %v; want 1 of 2, and the short row said", len(counters), m.Events, faults)
	}
	if CSV.Sniff([]byte(strings.ReplaceAll(strings.ReplaceAll(text, "1,234.5", "1.5"), ",", ";"))) {
		t.Error("a table with semicolons is taken for one with commas")
	}
}
