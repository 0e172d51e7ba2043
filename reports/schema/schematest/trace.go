package schematest

import "decodegap/reports"

// Trace is a trace document with every field filled.
func Trace() *reports.TraceDocument {
	step := &reports.TraceStep{
		Rank: 1, Device: 1, Count: 3, MedianOf: 3, FoundBy: "annotation", MedianMs: 25.2, ByComponentMs: map[string]float64{"mlp.dense": 20},
		IdleMs: map[string]float64{"graph_gap": 5.2}, CommWaitMs: at(0.5), CommOverlappedMs: 0.1, AttentionKernels: 32,
	}
	return &reports.TraceDocument{
		Schema: reports.TraceSchema,
		Files:  []reports.TraceFile{{Path: "rank1.json.gz", Format: "kineto", Bytes: 100, Events: 40, Skipped: 1, Truncated: true}},
		Ranks: []reports.TraceRank{{
			Rank: 1, Device: 1, Name: "NVIDIA H200", GPUOps: 13, Kernels: 12, Streams: 1, SpanMs: 30, BusyMs: 20, KernelTimeMs: 21, Step: step,
			Steps: []reports.TraceStepSummary{
				{StartMs: 0, WallMs: 25, BusyMs: 20, IdleMs: 5, GPUOps: 6, Aside: "warm-up"},
				{Index: 1, StartMs: 25, WallMs: 25.2, BusyMs: 20, IdleMs: 5.2, GPUOps: 7},
			},
		}},
		Step:    step,
		Kernels: []reports.TraceKernel{{Name: "gemm", Component: "mlp.dense", Library: "cublas", Count: 12, TotalMs: 21, MedianUs: at(1750)}},
		Counters: []reports.TraceCounter{{Name: "gemm", Grid: "224×1×1", Component: "mlp.dense", Library: "cublas", Launches: 3,
			ReadBytes: at(1.3e8), WriteBytes: at(2.6e4), DurationUs: at(83.4), GBs: at(1585)}},
		UnclassifiedShare: at(0.01),
		Warnings:          []reports.Warning{{Code: "truncated", Text: "t"}},
	}
}
