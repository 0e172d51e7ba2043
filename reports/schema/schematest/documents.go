package schematest

import "decodegap/reports"

// Floor is a floor document with every field filled.
func Floor() *reports.FloorDocument {
	run := Run()
	p := run.Points[0]
	return &reports.FloorDocument{
		Schema: reports.FloorSchema, Model: run.Model, Hardware: run.Hardware, Warnings: run.Warnings,
		Ridges: []reports.Ridge{{Context: 576, TP: 8, Component: "mlp.dense", Batch: 300}},
		Points: []reports.FloorPoint{{Operating: p.Operating, Ledger: p.Components, Worth: p.Worth, Target: p.Target}},
	}
}

// Bench is a benchmark document with every field filled.
func Bench() *reports.BenchDocument {
	tokens := int64(512)
	all := reports.Summary{Mean: at(1), Median: at(1), P90: at(2), P95: at(2), P99: at(3), Std: at(0.1)}
	return &reports.BenchDocument{
		Schema: reports.BenchSchema,
		Results: []reports.BenchResult{{
			Path: "bench.jsonl", Tool: "sglang", Model: "m", Concurrency: at(0.98), MaxConcurrency: count(1),
			InputTokens: &tokens, OutputTokens: &tokens, RequestInput: at(512), RequestOutput: at(128),
			Completed: count(4), Failed: count(0), TPOT: all, ITL: all, TTFT: all, E2E: all,
			OutputTokPerS: at(10.36), TokensPerChunk: at(1), AcceptanceLength: at(2.5), Derived: []string{"tpot_ms.mean"},
			Facts: map[string]string{"backend": "sglang"}, Warnings: []reports.Warning{{Code: "itl-per-chunk", Text: "t"}},
		}},
		Fit:      &reports.BenchFit{FixedMs: 12, PerSequenceMs: 0.5, PerKilotokenMs: 0.1, Points: 5, ResidualMs: 0.2},
		Warnings: []reports.Warning{{Code: "c", Text: "t"}},
	}
}

// Gate is a gate document with every field filled.
func Gate() *reports.GateDocument {
	return &reports.GateDocument{
		Schema: reports.GateSchema, Verdict: "fail", Floor: reports.FloorName{Kind: "latency", Basis: "probed"},
		Efficiency: at(0.0762), Interval: &[2]float64{0.0758, 0.0766},
		Rules: []reports.GateRule{
			{Name: "efficiency", Point: "batch 1, context 576", Verdict: "fail", Limit: at(0.08), Value: at(0.0762), Unit: "ratio", Why: "7.62 % is below 8.00 %"},
			{Name: "measured", Point: "batch 1, context 576", Verdict: "pass", Value: at(95.14), Unit: "ms", Why: "95.14 ms per token"},
			{Name: "regression", Point: "batch 64, context 0", Verdict: "not_comparable", Why: "not measured"},
			{Name: "baseline", Verdict: "pass", Why: "same model and hardware"},
		},
	}
}

// Compare is a compare document with every field filled.
func Compare() *reports.CompareDocument {
	run := Run()
	return &reports.CompareDocument{Schema: reports.CompareSchema, Series: run.Series, Comparison: *run.Comparison, Warnings: run.Warnings}
}

// List is a full list document.
func List() *reports.ListDocument {
	return &reports.ListDocument{Schema: reports.ListSchema, Kind: "models", Items: []map[string]any{{"name": "m", "layers": 2}},
		Machine: &reports.Machine{Host: Ceilings().Host, GPUs: []reports.MachineGPU{{GPU: *gpu(), Catalogue: "Some GPU", WithoutEntry: "w", SheetGBs: at(4800), RunningPeakGBs: at(4814.3)}},
			WithoutGPUs: "w", DriverVersion: "580.1", CUDAVersion: "13.0", FarthestPath: "PHB", PeerToPeer: "ok", Warnings: []string{"w"}}}
}

// Merge is a merge document with every field filled.
func Merge() *reports.MergeDocument {
	return &reports.MergeDocument{
		Schema: reports.MergeSchema, Records: 15, GPUs: 15, Hosts: 2,
		Cases:   []reports.FleetCase{{Hardware: "Some GPU", Probe: "cuda/read", Case: "4 GB", Count: 15, MedianS: 0.001, FastestS: 0.0009, SlowestS: 0.002, SlowestIs: "node1 cuda:3", Spread: 0.004}},
		Slow:    []reports.SlowUnit{{Kind: "gpu", Name: "node1 cuda:3", Hardware: "Some GPU", Slower: 2, Probe: "cuda/read", Case: "4 GB", Score: 250, Limit: 5.2, Cases: 1, Of: 1}},
		Missing: []int{7}, Warnings: []reports.Warning{{Code: "few", Text: "t"}},
	}
}
