// Package schematest gives tests of other packages a filled run record and a
// check of documents against the schemas the binary prints. It refuses to be
// part of the product: only tests import it.
package schematest

import "decodegap/reports"

// Run is a run record with every field filled and figures that agree with each
// other: 8 GPUs, one point measured at 95.14 ms with an interval, one point
// without a measurement. The names and figures are made up for tests. Each
// call returns a new record, so a test may change its copy.
func Run() *reports.Run {
	measured := measuredPoint()
	return &reports.Run{
		Schema: reports.RunSchema,
		Fingerprint: reports.Fingerprint{
			ToolVersion: "0.1.0",
			Facts: map[string]string{
				"host.kernel":           "6.14.11",
				"gpu.driver":            "590.44",
				"engine.version":        "0.5.9",
				"flag.attention":        "flashinfer",
				"env.NCCL_P2P_LEVEL":    "SYS",
				"host.container.prefix": "lxc",
			},
		},
		Inputs: []reports.Input{
			{Path: "config.json", SHA256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", Role: "model"},
			{Path: "bench.jsonl", Role: "bench"},
			{Path: "rank0.json.gz", Role: "trace"},
		},
		Model: reports.Model{
			Name: "Example-MoE-NVFP4", Architecture: "ExampleMoeForCausalLM", Layers: 78,
			ParamsTotal: 744_000_000_000, ParamsActiveRead: 40_000_000_000,
			ParamsPublished: 744_000_000_000, PublishedSource: "model card",
			BytesSource: "side-file", Formats: "NVFP4: moe.experts; BF16: attention.qkv", Hidden: 6144,
			Experts: 256, ExpertsPerToken: 8, Notes: []string{"attention stays in BF16"},
		},
		Hardware: reports.Hardware{
			Name: "Example GPU 96 GB", Count: 8, Topology: "PCIe switch",
			Facts: []reports.Fact{{Name: "memory", Value: "GDDR7", Source: "data sheet"}},
			Ceilings: []reports.Ceiling{
				{Resource: "dram.read", Value: 1.792e12, Unit: "B/s", Basis: "sheet", Source: "data sheet"},
				{Resource: "dram.read", Value: 1.690e12, Unit: "B/s", Basis: "probed", Source: "cuda/stream_read"},
			},
		},
		Points:      []reports.RunPoint{measured, bare(64)},
		Assumptions: []reports.Assumed{{Name: "every linear in NVFP4", Text: "evenly sharded", WeightGB: 2.86, Bandwidth: 1800, MsPerToken: 1.59, TokPerS: 629, Honest: true}},
		Series:      []reports.Series{series()},
		Comparison:  comparison(),
		Findings:    []reports.Finding{{Check: "cuda-graph", Severity: "high", Text: "CUDA graphs are off", Advice: "turn them on", Where: "launch.sh:3", Cost: "1.8 to 5 times"}},
		Levers:      []reports.Lever{{Change: "CUDA graphs", Ms: at(12.5), LoMs: at(6), Evidence: "launch count"}},
		Records: []reports.Best{{
			Model: "Example-MoE-NVFP4", Hardware: "Example GPU 96 GB", GPUs: 8, Engine: "sglang", Speculation: "off",
			Concurrency: 1, OutputTokPerS: 51.5, MsPerToken: at(1000 / 51.5), Source: "public table", Note: "no speculation",
		}},
		Warnings: []reports.Warning{{Code: "series-differ", Text: "the series were taken under two kernels"}},
	}
}

// MinimalRun is the smallest record that reads without an error.
func MinimalRun() *reports.Run {
	return &reports.Run{
		Schema:      reports.RunSchema,
		Fingerprint: reports.Fingerprint{Facts: map[string]string{}},
		Inputs:      []reports.Input{},
		Model:       reports.Model{Name: "m", BytesSource: "config"},
		Hardware:    reports.Hardware{Name: "h", Count: 1, Ceilings: []reports.Ceiling{}},
		Points:      []reports.RunPoint{},
		Findings:    []reports.Finding{},
		Levers:      []reports.Lever{},
		Records:     []reports.Best{},
		Warnings:    []reports.Warning{},
	}
}

func measuredPoint() reports.RunPoint {
	p := bare(1)
	p.Label = "backend-a"
	p.Context = 576
	p.StateType, p.Attention = "float32", "sparse"
	p.DistinctExperts, p.ExpertsBusiestRank = at(8), at(8)
	p.Floors = []reports.Floor{
		floor("ideal", "sheet", 1, 3.07), floor("layout", "sheet", 1, 5.13), floor("latency", "sheet", 1, 6.75),
		floor("layout", "probed", 1, 5.44), floor("latency", "probed", 1, 7.25),
	}
	p.Components = []reports.ComponentRow{{
		Component: "moe.experts", Repeat: 75, WeightBytes: 1.9e9, KVBytes: 0, FLOPs: 2.1e9, CommBytes: 0, Launches: 150,
		Ms: 1.06, IdealMs: 1.02, Bound: "memory", Evidence: "side-file", Format: "nvfp4",
		AttainableMs: at(1.2), ActualMs: at(1.8), AchievedGBs: at(1056), CeilingShare: at(0.59),
	}}
	p.Step = step()
	p.Traced = traced()
	p.Measured = &reports.Measured{
		TPOT:    summary(),
		ValueMs: 95.14, Statistic: "mean", LoMs: at(94.6), HiMs: at(95.7), SamplesMs: []float64{94.9, 95.2, 95.32},
		Requests: count(4), TokPerS: 1000 / 95.14, Source: "bench.jsonl", Derived: true,
	}
	for _, f := range p.Floors {
		p.Efficiency = append(p.Efficiency, reports.Efficiency{
			Floor: reports.FloorName{Kind: f.Kind, Basis: f.Basis},
			Ratio: f.MsPerToken / 95.14, Lo: at(f.MsPerToken / 95.7), Hi: at(f.MsPerToken / 94.6),
		})
	}
	p.Ledger = &reports.Ledger{
		MeasuredMs: 95.14, Floor: reports.FloorName{Kind: "ideal", Basis: "sheet"}, FloorMs: 3.07, Closes: true,
		Rungs: []reports.Rung{
			{Cause: "replication", Component: "attention.qkv", Text: "replicated by the layout", Ms: 2.06, LoMs: 2.06, HiMs: 2.06, Evidence: "side-file"},
			{Cause: "latency", Component: "comm.allreduce", Text: "157 all-reduces", Ms: 1.62, LoMs: 1.5, HiMs: 3.7, Evidence: "catalogue"},
			{Cause: "host", Component: "", Text: "launch-bound", Ms: 68.39, LoMs: 60, HiMs: 70, Evidence: "trace"},
			{Cause: "unattributed", Component: "", Text: "nothing here says where this goes", Ms: 20, LoMs: 18, HiMs: 22, Evidence: ""},
		},
	}
	p.Worth = []reports.Worth{{Change: "attention in nvfp4", Ms: 2.2, Of: "layout floor"}}
	p.Target = &reports.Target{TargetMs: 5, Floor: reports.FloorName{Kind: "latency", Basis: "sheet"}, NowMs: 7.25, Reached: true,
		Ways: []reports.Way{{Changes: []string{"attention in nvfp4"}, Ms: 4.9}}}
	return p
}

// bare is a point with floors and without a measurement.
func bare(batch int) reports.RunPoint {
	return reports.RunPoint{
		Operating: reports.Operating{
			Batch: batch, TP: 8, EP: 1, DP: 1, PP: 1, KVType: "bf16", Engine: "sglang", AcceptedTokens: 1,
			AllReduceCount: 157, AllReduceBytesEach: 12288 * float64(batch), WeightBytesIdeal: 5.51e9, WeightBytesLayout: 9.2e9,
			KVReadBytes: 5e7, KVWriteBytes: 1e5, KVReadBytesIdeal: 5e7, KVWriteBytesIdeal: 1e5, FLOPs: 1.1e10,
			Floors: []reports.Floor{floor("ideal", "sheet", batch, 9.1), floor("layout", "sheet", batch, 11.3)},
		},
		Components: []reports.ComponentRow{},
	}
}

func floor(kind, basis string, batch int, ms float64) reports.Floor {
	return reports.Floor{
		Kind: kind, Basis: basis, MsPerToken: ms, TokPerS: 1000 * float64(batch) / ms,
		MemoryMs: ms, ComputeMs: at(0.01), CommMs: 0, LaunchMs: 0, PipelineMs: at(0),
	}
}

func traced() *reports.Traced {
	return &reports.Traced{
		Steps: []reports.TracedStep{{
			Rank: 1, Device: 1, Name: "NVIDIA H200", Count: 3, FoundBy: "annotation", Kind: "decode", MedianMs: 2,
			IdleMs: map[string]float64{"launch_bound": 0.5}, IdleGaps: map[string]int{"launch_bound": 4},
			Operations: []reports.TracedOperation{{Component: "moe.experts", Name: "fused_moe_kernel", Library: "vllm", Count: 150, Ms: 1.5}},
		}},
		Timeline: &reports.Timeline{
			LengthMs: 2, Bins: 8,
			Rows: []reports.TimelineRow{{Rank: 1, Device: 1, Kind: reports.RowStream, Name: "stream 7",
				Parts: []reports.TimelinePart{{Of: "moe.experts", Count: 150, Ms: 1.5, Cells: "0x5 5=500 7=500"}}}},
			Gaps: []reports.TimelineGap{{Rank: 1, Device: 1, StartMs: 1.4, Ms: 0.3, Of: "launch_bound", Before: "fused_moe_kernel"}},
		},
		Counters: []reports.CounterRow{{Component: "moe.experts", Launches: 150, Coverage: 1, ReadBytes: 1.95e9, WriteBytes: at(2e6), CountedBytes: at(1.9e9), Ratio: at(1.03)}},
	}
}

func summary() reports.Summary {
	return reports.Summary{Mean: at(95.14), Median: at(95.02), P90: at(96.1), P95: at(96.4), P99: at(97), Std: at(0.4)}
}

func series() reports.Series {
	return reports.Series{
		Name: "backend-a", Source: "bench.jsonl", Tool: "sglang", Facts: map[string]string{"backend": "sglang"},
		Points: []reports.SeriesPoint{{
			Concurrency: 1, Achieved: at(1), OutputTokPerS: at(10.36), TPOT: summary(),
			InputTokens: at(512), OutputTokens: at(128), Requests: count(4),
		}},
	}
}

func comparison() *reports.Comparison {
	return &reports.Comparison{
		Comparable: false, Reasons: []string{"host.kernel differs"},
		Rows: []reports.CompareRow{{
			Concurrency: 1, Point: "batch 1, context 576", OutputTokPerS: []*float64{at(10.36), nil}, TPOTMs: []*float64{at(95.14), nil},
			ChangePct: []*float64{nil, at(-2.8)}, Verdict: "not_comparable", Verdicts: []string{"not_comparable", "slower"},
			Efficiency: []reports.RowEfficiency{{Floor: reports.FloorName{Kind: "layout", Basis: "sheet"}, Ratio: []*float64{at(0.054), nil}}},
			Causes:     []reports.CauseChange{{Cause: "host", Ms: []*float64{at(68.39), nil}, ChangeMs: []*float64{nil, nil}, Text: "launch gaps"}},
		}},
		Crossovers: []reports.Crossover{{A: "backend-a", B: "backend-b", Between: [2]float64{64, 256}, At: 101, Text: "they change places"}},
		Probes:     changes(),
	}
}

func at(v float64) *float64 { return &v }

func count(n int) *int { return &n }
