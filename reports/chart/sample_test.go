package chart

import "decodegap/reports"

func ptr[T any](v T) *T { return &v }

// founding is a run with little evidence: one benchmark, a floor, and most of
// the time unattributed.
func founding() *reports.Run {
	run := &reports.Run{
		Schema: reports.RunSchema,
		Hardware: reports.Hardware{Name: "RTX PRO 6000 Blackwell", Count: 8, Ceilings: []reports.Ceiling{
			{Resource: "dram.read", Value: 1.792e12, Unit: "B/s", Basis: "sheet", Source: "data sheet"},
			{Resource: "tensor.bf16", Value: 503.8e12, Unit: "FLOP/s", Basis: "sheet"},
			{Resource: "tensor.fp8", Value: 1007.6e12, Unit: "FLOP/s", Basis: "sheet"},
			{Resource: "tensor.fp4", Value: 2015.2e12, Unit: "FLOP/s", Basis: "sheet"},
		}},
		Points: []reports.RunPoint{{
			Label: "flashinfer_cutlass",
			Operating: reports.Operating{
				Batch: 1, Context: 576, TP: 8, AcceptedTokens: 1, WeightBytesIdeal: 5.51e9, WeightBytesLayout: 9.2e9,
				KVReadBytes: 5.2e6, KVWriteBytes: 1e4, FLOPs: 2 * 5.6e9,
				Floors: []reports.Floor{
					{Kind: "ideal", Basis: "sheet", MsPerToken: 3.08, TokPerS: 324.7},
					{Kind: "layout", Basis: "sheet", MsPerToken: 5.15, TokPerS: 194.2},
					{Kind: "latency", Basis: "sheet", MsPerToken: 7.43, TokPerS: 134.6},
				},
			},
			Components: []reports.ComponentRow{
				component("moe.experts", 75, 1.911e9, 0, 3.56, 1.0),
				component("attention.qkv", 78, 3.402e9, 0, 1, 0.52),
				component("attention.out", 78, 1.221e9, 0, 1, 1.0),
				component("attention.core", 78, 0, 5.2e6, 60, 1.0),
				component("attention.indexer", 78, 1.71e9, 4e5, 1, 0.14),
				component("moe.shared", 75, 0.239e9, 0, 3.56, 1.0),
				component("moe.router", 75, 0.236e9, 0, 0.5, 0.125),
				component("lm_head", 1, 0.238e9, 0, 1, 1.0),
				component("mlp.dense", 3, 0.0382e9, 0, 3.56, 1.0),
				component("norm", 78, 1.2e6, 0, 0.5, 0.5),
				{Component: "comm.allreduce", Repeat: 78, CommBytes: 1.9e6, Ms: 1.64, Bound: "latency"},
			},
			Measured: &reports.Measured{ValueMs: 95.14, Statistic: "mean", TokPerS: 10.51, Source: "bench.jsonl"},
			Ledger: &reports.Ledger{
				MeasuredMs: 95.14, Floor: reports.FloorName{Kind: "ideal", Basis: "sheet"}, FloorMs: 3.08, Closes: true,
				Rungs: []reports.Rung{
					{Cause: "replication", Component: "attention.qkv", Ms: 0.92, LoMs: 0.92, HiMs: 0.92, Evidence: "layout"},
					{Cause: "replication", Component: "attention.indexer", Ms: 0.82, LoMs: 0.82, HiMs: 0.82, Evidence: "layout"},
					{Cause: "replication", Component: "moe.router", Ms: 0.33, LoMs: 0.33, HiMs: 0.33, Evidence: "layout"},
					{Cause: "latency", Component: "comm.allreduce", Ms: 1.64, LoMs: 1.42, HiMs: 3.80, Text: "157 all-reduces at 10.4 µs", Evidence: "catalogue"},
					{Cause: "latency", Component: "launch", Ms: 0.64, LoMs: 0.5, HiMs: 0.9, Text: "1,170 launches in a CUDA graph", Evidence: "assumption"},
					{Cause: "unattributed", Component: "", Ms: 87.71, LoMs: 85.0, HiMs: 88.2, Text: "no trace, no probe: nothing here says where this goes"},
				},
			},
		}},
		Series: []reports.Series{
			series("flashinfer_cutlass", 10.36, 38.46, 218.74, 718.83, 1603.04),
			series("flashinfer_cutedsl", 10.07, 64.29, 249.23, 515.58, 796.93),
		},
		Comparison: &reports.Comparison{
			Comparable: false, Reasons: []string{"host.kernel differs: 5.15.0 and 6.14.11", "server flags of the first series are not known"},
			Crossovers: []reports.Crossover{
				{A: "flashinfer_cutlass", B: "flashinfer_cutedsl", Between: [2]float64{1, 10}, At: 1.12, Text: "flashinfer_cutedsl overtakes at about 1.1."},
				{A: "flashinfer_cutlass", B: "flashinfer_cutedsl", Between: [2]float64{64, 256}, At: 90.7, Text: "flashinfer_cutlass overtakes at about 91."},
			},
		},
		Records: []reports.Best{
			{Model: "GLM-5", Hardware: "RTX PRO 6000", GPUs: 8, Engine: "sglang", Speculation: "none", Concurrency: 1, OutputTokPerS: 51.6, Source: "public post"},
			{Model: "GLM-5", Hardware: "RTX PRO 6000", GPUs: 8, Engine: "sglang", Speculation: "MTP", Concurrency: 1, OutputTokPerS: 97, Source: "public post"},
		},
	}
	return run
}

// component is a memory-bound row at the sample's bandwidth.
func component(name string, repeat int, weights, kv, intensity, idealShare float64) reports.ComponentRow {
	ms := (weights + kv) / 1.792e12 * 1e3
	return reports.ComponentRow{Component: name, Repeat: repeat, WeightBytes: weights, KVBytes: kv, FLOPs: intensity * (weights + kv),
		Ms: ms, IdealMs: ms * idealShare, Bound: "memory", Evidence: "side-file"}
}

func series(name string, rates ...float64) reports.Series {
	s := reports.Series{Name: name, Tool: "sglang.bench_serving"}
	for i, c := range []float64{1, 10, 64, 256, 1024} {
		if i < len(rates) {
			s.Points = append(s.Points, reports.SeriesPoint{Concurrency: c, OutputTokPerS: ptr(rates[i])})
		}
	}
	return s
}

// traced is a run with a trace of the same step: device idle dominates and is
// not the last rung.
func traced() *reports.Run {
	run := founding()
	run.Points[0].Measured.ValueMs = 169.0
	run.Points[0].Ledger = &reports.Ledger{
		MeasuredMs: 169.0, Floor: reports.FloorName{Kind: "ideal", Basis: "sheet"}, FloorMs: 1.27, Closes: true,
		Rungs: []reports.Rung{
			{Cause: "ceiling", Component: "dram.read", Ms: 0.08, Evidence: "probe"},
			{Cause: "latency", Component: "launch", Ms: 0.91, Evidence: "probe"},
			{Cause: "kernel", Component: "moe.experts", Ms: 1.42, LoMs: 1.3, HiMs: 1.6, Evidence: "trace"},
			{Cause: "kernel", Component: "elementwise", Ms: 2.38, LoMs: 2.1, HiMs: 2.7, Evidence: "trace"},
			{Cause: "kernel", Component: "moe.router", Ms: 1.61, Evidence: "trace"},
			{Cause: "kernel", Component: "attention.core", Ms: 0.66, Evidence: "trace"},
			{Cause: "device-idle", Component: "other", Ms: 157.9, LoMs: 155, HiMs: 160, Evidence: "trace"},
			{Cause: "host", Component: "sampling", Ms: 2.1, Evidence: "trace"},
			{Cause: "unattributed", Ms: 0.67},
		},
	}
	run.Hardware.Name = "H200"
	run.Hardware.Ceilings = append(run.Hardware.Ceilings, reports.Ceiling{Resource: "dram.read", Value: 1.6e12, Basis: "probed"})
	return run
}

// balanced is a run without a rung that dwarfs the others, with one that
// takes time back.
func balanced() *reports.Run {
	run := founding()
	run.Points[0].Measured.ValueMs = 8.9
	run.Points[0].Ledger = &reports.Ledger{
		MeasuredMs: 8.9, Floor: reports.FloorName{Kind: "ideal", Basis: "sheet"}, FloorMs: 4.1, Closes: true,
		Rungs: []reports.Rung{
			{Cause: "replication", Component: "attention.qkv", Ms: 1.2, LoMs: 1.1, HiMs: 1.3},
			{Cause: "latency", Component: "comm.allreduce", Ms: 1.5, LoMs: 1.1, HiMs: 2.3},
			{Cause: "kernel", Component: "moe.experts", Ms: 2.0, LoMs: 1.8, HiMs: 2.2},
			{Cause: "communication", Component: "comm.allreduce", Ms: 0.9},
			{Cause: "unattributed", Ms: -0.8},
		},
	}
	return run
}
