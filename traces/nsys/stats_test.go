package nsys

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"decodegap/traces"
)

func sums(t *testing.T, data []byte) ([]traces.KernelSum, traces.Meta, []error) {
	t.Helper()
	r, err := Stats.Open(bytes.NewReader(data), int64(len(data)), "sums.csv")
	if err != nil {
		t.Fatal(err)
	}
	events, m, faults := drain(t, r)
	if len(events) != 0 {
		t.Errorf("%d events out of sums", len(events))
	}
	return r.(traces.Summarizer).Summaries(), m, faults
}

func TestKernelSums(t *testing.T) {
	for _, c := range []struct{ unit, total, avg string }{
		{"ns", `"1,234,567"`, "617283.5"}, {"us", "1234.567", "617.2835"}, {"μs", "1234.567", "617.2835"},
		{"ms", "1.234567", "0.6172835"}, {"s", "0.001234567", "6.172835e-04"},
	} {
		text := strings.ReplaceAll("Processing [e.sqlite] with [cuda_gpu_kern_sum.py]...\n\n ** CUDA GPU Kernel Summary (cuda_gpu_kern_sum):\n\n"+
			"Time (%),Total Time (U),Instances,Avg (U),Med (U),Min (U),Max (U),StdDev (U),Name\n", "(U)", "("+c.unit+")") +
			"60.0," + c.total + ",2," + c.avg + `,,,,,"void gemm<(int)4, ""x"">(T1 *)"` + "\nbroken row,1\n"
		if !Stats.Sniff([]byte(text)) {
			t.Errorf("%s: not recognised", c.unit)
		}
		got, m, faults := sums(t, []byte(text))
		if len(got) != 1 || got[0].Total != 1234567 || got[0].Count != 2 || got[0].Name != `void gemm<(int)4, "x">(T1 *)` ||
			got[0].Mean == nil || *got[0].Mean != 617284 || got[0].Median != nil || got[0].StdDev != nil {
			t.Errorf("%s: %+v", c.unit, got)
		}
		if len(faults) != 1 || warned(m, "sums-only") == "" {
			t.Errorf("%s: faults %v, warnings %v", c.unit, faults, m.Warnings)
		}
	}
}

func TestGPUTrace(t *testing.T) {
	text := `Start (us),Duration (us),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),DymSMem (MB),Bytes (MB),Throughput (MB/s),SrcMemKd,DstMemKd,Device,Ctx,GreenCtx,Strm,Name
"1,000.001",2.5,77,8,2,1,128,1,1,32,0.000,0.000,,,,,NVIDIA H200 (1),1,,7,"void gemm<(int)4, (bool)1>(T1 *)"
1003,1,78,,,,,,,,,,132.154,,Pageable,Device,NVIDIA H200 (1),1,,7,[CUDA memcpy Host-to-Device]
1005,0.5,79,,,,,,,,,,0.004,,,Device,NVIDIA H200 (1),1,,7,[CUDA memset]
0,0,80,1,1,1,1,1,1,32,0,0,,,,,NVIDIA H200 (1),1,,7,lost
x,1,80,1,1,1,1,1,1,32,0,0,,,,,NVIDIA H200 (1),1,,7,bad
`
	if !Stats.Sniff([]byte(text)[:300]) {
		t.Error("not recognised")
	}
	events, m, faults := read(t, Stats, []byte(text))
	var got []string
	for _, e := range events {
		got = append(got, fmt.Sprintln(e.Kind, e.Start, e.Dur, e.Corr, e.Device, e.Stream, e.Bytes, e.Name))
	}
	want := fmt.Sprintln(traces.Kernel, 1000001, 2500, 77, 1, 7, 0, "void gemm<(int)4, (bool)1>(T1 *)") +
		fmt.Sprintln(traces.Memcpy, 1003000, 1000, 78, 1, 7, 132154000, "[CUDA memcpy Host-to-Device]") +
		fmt.Sprintln(traces.Memset, 1005000, 500, 79, 1, 7, 0, "[CUDA memset]")
	if strings.Join(got, "") != want {
		t.Errorf("got\n%swant\n%s", strings.Join(got, ""), want)
	}
	if d := events[0].Detail; d == nil || d.Grid != [3]int32{8, 2, 1} || d.Block != [3]int32{128, 1, 1} {
		t.Errorf("detail %+v", d)
	}
	if m.Skipped != 1 || len(faults) != 1 || m.Devices[1] != "NVIDIA H200" {
		t.Errorf("%+v %v", m, faults)
	}
}

func TestCorpusStats(t *testing.T) {
	dir := filepath.Join(corpus(t), "real")
	text, err := os.ReadFile(filepath.Join(dir, "GROUND_TRUTH.json"))
	if err != nil {
		t.Fatal(err)
	}
	var truth map[string]struct {
		Format string `json:"format"`
		Rows   int    `json:"rows"`
		Total  int64  `json:"total_kernel_sum_ns"`
		Count  int64  `json:"total_instances"`
	}
	if err := json.Unmarshal(text, &truth); err != nil {
		t.Fatal(err)
	}
	files := 0
	for file, want := range truth {
		if want.Format != "nsys-stats-cuda_gpu_kern_sum-csv" {
			continue
		}
		files++
		data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(file)))
		if err != nil {
			t.Fatal(err)
		}
		if !Stats.Sniff(data[:512]) {
			t.Errorf("%s: not recognised", file)
		}
		got, _, faults := sums(t, data)
		var total, count int64
		for _, s := range got {
			total, count = total+s.Total, count+s.Count
		}
		if len(got) != want.Rows || total != want.Total || count != want.Count || len(faults) != 0 {
			t.Errorf("%s: %d rows, %d ns, %d launches, want %+v; %v", file, len(got), total, count, want, faults)
		}
	}
	if files == 0 {
		t.Error("the corpus holds no cuda_gpu_kern_sum")
	}
}

func FuzzStats(f *testing.F) {
	f.Add([]byte("Time (%),Total Time (ns),Instances,Avg (ns),Name\n1,\"1,000\",2,3.5,\"a,b\"\n"))
	f.Add([]byte("Start (ms),Duration (ms),CorrId,Device,Strm,Bytes (MB),Name\n1.5,2,3,H (0),7,1.5,[CUDA memset]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		Stats.Sniff(data)
		r, err := Stats.Open(bytes.NewReader(data), int64(len(data)), "f")
		if err != nil {
			return
		}
		for e, err := range r.Events() {
			if err == nil && (e.Dur < 0 || e.Bytes < 0 || e.Device < 0) {
				t.Errorf("%+v", e)
			}
		}
		for _, s := range r.(traces.Summarizer).Summaries() {
			if s.Total < 0 || s.Count < 0 || s.Name == "" {
				t.Errorf("%+v", s)
			}
		}
	})
}
