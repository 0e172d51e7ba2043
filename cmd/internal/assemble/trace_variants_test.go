package assemble

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"decodegap/traces/all"
)

// TestVariantsReadAlike: one step sequence as several writers put it gives the
// same counts, times and components.
func TestVariantsReadAlike(t *testing.T) {
	names := []string{"rms_norm_kernel", "nvjet_a", "rotary_embedding_kernel", "reshape_and_cache_flash_kernel", "kernel_unified_attention_3d", "nvjet_b", "act_and_mul_kernel", "nvjet_c"}
	const steps = 6
	file := func(event, head, tail string) string {
		var b strings.Builder
		b.WriteString(head)
		for i := range steps * len(names) {
			if i > 0 {
				b.WriteString(",\n")
			}
			ts := i/len(names)*200 + i%len(names)*10
			b.WriteString(strings.NewReplacer("NAME", names[i%len(names)], "TS", fmt.Sprint(ts), "CORR", fmt.Sprint(i+1)).Replace(event))
		}
		return b.String() + tail
	}
	const plain = `{"ph":"X","cat":"kernel","name":"NAME","pid":0,"tid":7,"ts":TS.250,"dur":8.125,"args":{"device":0,"stream":7,"correlation":CORR}}`
	whole := file(plain, `{"schemaVersion":1,"traceEvents":[`, `]}`)
	var members bytes.Buffer
	for _, part := range []string{whole[:1], whole[1:1000], whole[1000:]} {
		z := gzip.NewWriter(&members)
		z.Write([]byte(part))
		z.Close()
	}
	gpuTrace := "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),DymSMem (MB),Bytes (MB),Throughput (MB/s),SrcMemKd,DstMemKd,Device,Ctx,GreenCtx,Strm,Name\n"
	for i := range steps * len(names) {
		gpuTrace += fmt.Sprintf("%d,8125,%d,1,1,1,128,1,1,32,0.0,0.0,,,,,GPU (0),1,,7,%s\n", 1000*(i/len(names)*200+i%len(names)*10), i+1, names[i%len(names)])
	}
	for variant, content := range map[string]string{
		"plain":          whole,
		"old writer":     file(`{"ph":"X","cat":"Kernel","name":"NAME","pid":0,"tid":"stream 7","ts":TS,"dur":8.125,"args":{"queued":0,"device":0,"stream":7,"correlation":CORR,"external id":CORR}}`, `{"schemaVersion":1,"traceEvents":[`, `]}`),
		"ROCm":           file(`{"ph":"X","cat":"kernel","name":"NAME.kd","pid":0,"tid":7,"ts":TS.001,"dur":8.125,"args":{"device":0,"stream":7,"hsa_queue":1,"kind":"Dispatch Kernel","correlation":CORR}}`, `{"roctracer_version":4,"hip_runtime_version":7,"deviceProperties":[{"id":0,"name":""}],"traceEvents":[`, `]}`),
		"keys permuted":  file(`{"args":{"correlation":CORR,"stream":7,"device":0},"dur":8.125,"ts":TS.250,"tid":7,"name":"NAME","cat":"kernel","pid":0,"ph":"X"}`, `{"traceName":"x","displayTimeUnit":"ns","traceEvents":[`, `],"schemaVersion":1}`),
		"numbers quoted": file(`{"ph":"X","cat":"kernel","name":"NAME","pid":"0","tid":"7","ts":"TS.25","dur":"8.125","args":{"device":"0","stream":"7","correlation":"CORR"}}`, `{"traceEvents":[`, `]}`),
		"exponents":      file(`{"ph":"X","cat":"kernel","name":"NAME","pid":0,"tid":7,"ts":TSe0,"dur":8125e-3,"args":{"device":0,"stream":7,"correlation":CORR}}`, `{"traceEvents":[`, `]}`),
		"epoch":          file(`{"ph":"X","cat":"kernel","name":"NAME","pid":0,"tid":7,"ts":17000000000TS.125,"dur":8.125,"args":{"device":0,"stream":7,"correlation":CORR}}`, `{"traceEvents":[`, `]}`),
		"array":          file(plain, "[", "]"),
		"CR LF":          strings.ReplaceAll(whole, "\n", "\r\n"),
		"gzip members":   members.String(),
		"nsys stats":     gpuTrace,
		"nsys, with BOM": "\ufeff" + gpuTrace,
	} {
		if variant == "epoch" { // times must stay in order: pad them
			for i := range steps * len(names) {
				ts := fmt.Sprint(i/len(names)*200 + i%len(names)*10)
				content = strings.ReplaceAll(content, `"ts":17000000000`+ts+`.`, `"ts":17000000000`+fmt.Sprintf("%05s", ts)+`.`)
			}
		}
		path := filepath.Join(t.TempDir(), "trace")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		doc := documentOf(t, path)
		if len(doc.Ranks) != 1 || doc.Step == nil {
			t.Errorf("%s: %d ranks, step %v; %v", variant, len(doc.Ranks), doc.Step, doc.Warnings)
			continue
		}
		r, s := doc.Ranks[0], doc.Step
		if r.Kernels != steps*8 || r.Device != 0 || r.Streams != 1 || inNs(r.BusyMs) != steps*8*8125 || s.Count != steps || s.MedianOf != steps-1 || inNs(s.MedianMs) != 200_000 {
			t.Errorf("%s: %d kernels, device %d, %d streams, busy %v ms, %d steps of %v ms (%d)", variant, r.Kernels, r.Device, r.Streams, r.BusyMs, s.Count, s.MedianMs, s.MedianOf)
		}
		for _, c := range []string{"norm", "attention.core", "attention.qkv", "attention.out", "kv.write", "rope", "activation"} {
			if inNs(s.ByComponentMs[c]) != 8125 {
				t.Errorf("%s: %v ms of %s, want 0.008125", variant, s.ByComponentMs[c], c)
			}
		}
	}
}

func inNs(ms float64) int64 { return int64(ms*1e6 + 0.5) }

// TestReportsWithoutKernels: other reports of nsys stats are said to be that.
func TestReportsWithoutKernels(t *testing.T) {
	for name, content := range map[string]string{
		"cuda_api_sum": "Time (%),Total Time (ns),Num Calls,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n60.0,600000,6,100000.0,100000.0,1,2,0.5,cudaLaunchKernel\n",
		"nvtx_sum":     "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Style,Range\n60.0,600000,6,100000.0,100000.0,1,2,0.5,PushPop,decode_step\n",
	} {
		path := filepath.Join(t.TempDir(), name+".csv")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		err := (&Trace{Formats: all.All}).Read(t.Context(), path)
		if err == nil || !strings.Contains(err.Error(), "cuda_gpu_kern_sum") {
			t.Errorf("%s: %v, want the reports that are read", name, err)
		}
	}
}
