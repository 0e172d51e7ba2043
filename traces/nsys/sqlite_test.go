package nsys

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"decodegap/traces"
)

func warned(m traces.Meta, code string) string {
	for _, w := range m.Warnings {
		if w.Code == code {
			return w.Text
		}
	}
	return ""
}

func TestNodeMode(t *testing.T) {
	data := build(t, texts, version325, kernels325, runtime,
		fmt.Sprintf(`INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES
(2000,2600,1,1,NULL,7,5,%[2]d,10,11,12,8,2,1,128,1,1,4294967299,9),
(1000,1500,0,1,NULL,7,5,%[1]d,12,11,12,8,2,1,128,1,1,NULL,0),
(0,0,0,1,NULL,7,6,%[1]d,10,11,12,8,2,1,128,1,1,NULL,0),
(900,800,0,1,NULL,7,6,%[1]d,10,11,12,8,2,1,128,1,1,NULL,0)`, pidA, pidB),
		fmt.Sprintf(`INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (500,700,0,%[1]d,5,1,0),(510,720,0,%[2]d,5,2,0),(3000,3400,0,%[2]d,8,3,0)`, pidA+0x77, pidB+0x78),
		`CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, bytes INTEGER, copyKind INTEGER, srcKind INTEGER, dstKind INTEGER)`,
		fmt.Sprintf(`INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (1600,1700,0,7,9,%d,4096,1,1,2)`, pidA),
		`CREATE TABLE CUDA_GRAPH_NODE_EVENTS (start INTEGER, end INTEGER, nameId INTEGER, globalTid INTEGER, graphNodeId INTEGER, originalGraphNodeId INTEGER)`,
		fmt.Sprintf(`INSERT INTO CUDA_GRAPH_NODE_EVENTS VALUES (100,110,21,%d,4294967299,NULL)`, pidB+0x78),
		`CREATE TABLE TARGET_INFO_GPU (vmId INTEGER, id INTEGER, name TEXT, cuDevice INTEGER);
INSERT INTO TARGET_INFO_GPU VALUES (0,1,'NVIDIA H200',0),(0,0,'NVIDIA L4',1)`,
		`CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER); INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1700000000000000000)`)
	events, m, faults := read(t, SQLite, data)
	for _, f := range faults {
		t.Error(f)
	}
	detail := &traces.Detail{Grid: [3]int32{8, 2, 1}, Block: [3]int32{128, 1, 1}}
	want := []traces.Event{
		{Start: 2000, Dur: 600, Kind: traces.Kernel, Name: "void gemm<(int)4>(T1 *)", Rank: 1, Device: 1, Stream: 7, Corr: 5, Process: pidB, Graph: 9, Node: 4294967299, Detail: detail},
		{Start: 1000, Dur: 500, Kind: traces.Kernel, Name: "gemm(float*)", Device: 0, Stream: 7, Corr: 5, Process: pidA, Detail: detail},
		{Start: 1600, Dur: 100, Kind: traces.Memcpy, Name: "Memcpy HtoD (Pinned -> Device)", Stream: 7, Corr: 9, Process: pidA, Bytes: 4096},
		{Start: 500, Dur: 200, Kind: traces.Launch, Name: "cudaLaunchKernel_v7000", Device: -1, Stream: 0x77, Corr: 5, Process: pidA},
		{Start: 510, Dur: 210, Kind: traces.Launch, Name: "cudaGraphLaunch_v10000", Rank: 1, Device: -1, Stream: 0x78, Corr: 5, Process: pidB},
		{Start: 3000, Dur: 400, Kind: traces.Sync, Name: "cudaStreamSynchronize_v3020", Rank: 1, Device: -1, Stream: 0x78, Corr: 8, Process: pidB},
		{Start: 100, Dur: 10, Kind: traces.Other, Name: "cudaStreamBeginCapture_v10000", Rank: 1, Device: -1, Stream: 0x78, Process: pidB, Node: 4294967299},
	}
	if len(events) != len(want) {
		t.Fatalf("%d events, want %d: %+v", len(events), len(want), events)
	}
	for i, e := range events {
		w := want[i]
		if (e.Detail == nil) != (w.Detail == nil) || e.Detail != nil && *e.Detail != *w.Detail {
			t.Errorf("event %d: detail %+v, want %+v", i, e.Detail, w.Detail)
		}
		e.Detail, w.Detail = nil, nil
		if e != w {
			t.Errorf("event %d:\ngot  %+v\nwant %+v", i, e, w)
		}
	}
	if m.Skipped != 2 || m.Events != 9 {
		t.Errorf("%d rows, %d skipped, want 9 and 2", m.Events, m.Skipped)
	}
	if m.Base != 1700000000000000000 || m.Devices[0] != "NVIDIA H200" || m.Devices[1] != "NVIDIA L4" || m.Facts["nsys_schema"] != "3.25.0" || m.Facts["nsys_version"] != "2026.2.1.210" {
		t.Errorf("meta %+v", m)
	}
	if !slices.Equal(m.Ranks, []int{0, 1}) || warned(m, "ranks-assumed") == "" {
		t.Errorf("ranks %v, warnings %v", m.Ranks, m.Warnings)
	}
	if w := warned(m, "graph-kernels-hidden"); w != "" {
		t.Errorf("node mode, and yet: %s", w)
	}
}

func TestGraphMode(t *testing.T) {
	data := build(t, texts, version325, runtime,
		fmt.Sprintf(`INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (500,700,0,%d,5,2,0)`, pidA+1),
		`CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER, end INTEGER, deviceId INTEGER, graphId INTEGER, graphExecId INTEGER, contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER)`,
		fmt.Sprintf(`INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (1000,6000,0,3,4,1,7,5,%[1]d),(7000,7500,2147483647,3,4,1,7,6,%[1]d)`, pidA),
		`CREATE TABLE META_DATA_CAPTURE (name TEXT NOT NULL, value TEXT); INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:CUDA_GRAPH_TRACE_OPTIONS:MODE','Graph')`)
	events, m, _ := read(t, SQLite, data)
	var gpu []traces.Event
	for _, e := range events {
		if e.Kind.IsGPU() {
			gpu = append(gpu, e)
		}
	}
	if len(gpu) != 1 || gpu[0].Name != HiddenKernels || gpu[0].Dur != 5000 || gpu[0].Graph != 3 || gpu[0].Corr != 5 {
		t.Errorf("got %+v", gpu)
	}
	if w := warned(m, "graph-kernels-hidden"); !strings.Contains(w, "--cuda-graph-trace=node") || !strings.Contains(w, "1 CUDA graph launches, 5000 ns") {
		t.Errorf("got %q", w)
	}
	if warned(m, "graph-starts-on-host") == "" || m.Facts["cuda_graph_trace"] != "Graph" {
		t.Errorf("meta %+v", m)
	}

	// The launches alone: their kernels are nowhere.
	data = build(t, texts, version325, kernels325, runtime,
		fmt.Sprintf(`INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (500,700,0,%d,5,2,0)`, pidA+1))
	_, m, _ = read(t, SQLite, data)
	if warned(m, "graph-kernels-hidden") == "" || warned(m, "no-gpu-work") == "" {
		t.Errorf("warnings %+v", m.Warnings)
	}
}

// TestOldSchema reads what the 2022 export writes: every table, other names.
func TestOldSchema(t *testing.T) {
	data := build(t, texts,
		`CREATE TABLE EXPORT_META_DATA (name TEXT, value TEXT); INSERT INTO EXPORT_META_DATA VALUES ('EXPORT_SCHEMA_VERSION','2.9.1')`,
		`CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INT, end INT, deviceId INT, streamId INT, correlationId INT, shortName INT)`,
		`CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INT, end INT, deviceId INT, streamId INT, bytes INT)`,
		`CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INT, end INT)`,
		`INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10,30,0,7,1,13)`)
	events, m, faults := read(t, SQLite, data)
	if len(events) != 1 || events[0].Name != "rms_norm" || events[0].Dur != 20 || len(faults) != 0 {
		t.Errorf("%+v %v", events, faults)
	}
	if m.Facts["nsys_schema"] != "2.9.1" || len(m.Warnings) != 0 {
		t.Errorf("%+v", m)
	}
}

// TestNVTX reads annotations under each name of their table, with the text in
// the row or in StringIds.
func TestNVTX(t *testing.T) {
	for _, table := range []string{"NVTX_EVENTS", "NVTX_EVENTS_V2", "NVTX_EVENTS_V3"} {
		data := build(t, texts, version325,
			`CREATE TABLE `+table+` (start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER)`,
			fmt.Sprintf(`INSERT INTO %s VALUES (100,900,59,NULL,%[2]d,NULL,20,0),(200,300,60,'forward',%[2]d,%[2]d,NULL,0),(250,NULL,34,'tick',%[2]d,NULL,NULL,0),(260,NULL,59,'open',%[2]d,NULL,NULL,0),(0,NULL,39,'thread',%[2]d,NULL,NULL,0)`, table, pidA+5))
		events, m, faults := read(t, SQLite, data)
		var got []string
		for _, e := range events {
			if e.Process != pidA || e.Stream != 5 || e.Device != -1 {
				t.Errorf("%s: %+v", table, e)
			}
			got = append(got, fmt.Sprintf("%d %s %d+%d", e.Kind, e.Name, e.Start, e.Dur))
		}
		want := []string{
			fmt.Sprintf("%d execute_context_0(0)_generation_32(32) 100+800", traces.Range),
			fmt.Sprintf("%d forward 200+100", traces.Range),
			fmt.Sprintf("%d tick 250+0", traces.Other),
		}
		if len(faults) != 0 || !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q; %v", table, got, want, faults)
		}
		if m.Skipped != 0 || warned(m, "no-gpu-work") == "" {
			t.Errorf("%s: %+v", table, m)
		}
	}
}

func TestNotNsys(t *testing.T) {
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"another database", build(t, `CREATE TABLE t (a)`), "none of Nsight Systems"},
		{"zeros", make([]byte, 4096), "not a finished SQLite database"},
		{"short", []byte(magic), "not a finished SQLite database"},
		{"text", bytes.Repeat([]byte("x"), 200), "not an SQLite database"},
		{"noise behind a header", append([]byte(magic), bytes.Repeat([]byte{7}, 9000)...), "not an SQLite database"},
	} {
		_, err := SQLite.Open(bytes.NewReader(c.data), int64(len(c.data)), "f")
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}

func TestReportRefused(t *testing.T) {
	head := []byte("\x1e\xac\x02NVIDIA Tegra Profiler Report\x00")
	if !Report.Sniff(head) || SQLite.Sniff(head) || Report.Sniff([]byte(magic)) {
		t.Error("the report is not told by its content")
	}
	_, err := Report.Open(bytes.NewReader(head), int64(len(head)), "runs/decode.nsys-rep")
	if err == nil || !strings.Contains(err.Error(), "nsys export --type sqlite --output runs/decode.sqlite runs/decode.nsys-rep") {
		t.Errorf("got %v", err)
	}
	if _, err := Report.Open(bytes.NewReader(head), 0, "a b; rm.nsys-rep"); !strings.HasSuffix(err.Error(), "--output REPORT.sqlite REPORT.nsys-rep") {
		t.Errorf("got %v", err)
	}
}
