package schematest

import (
	"decodegap/reports"
	"decodegap/roofline/hardware"
)

// Ceilings is a ceilings document with every field filled.
func Ceilings() *reports.CeilingsDocument {
	nodes := 2
	sample := func(middle float64) *reports.Sample {
		s := &reports.Sample{Median: middle, Lo: at(middle * 0.99), Hi: at(middle * 1.01), P10: middle * 0.98, P90: middle * 1.02, MAD: middle * 0.005}
		for i := range 7 {
			s.Values = append(s.Values, middle*(0.97+0.01*float64(i)))
		}
		return s
	}
	return &reports.CeilingsDocument{
		Schema:      reports.CeilingsSchema,
		Fingerprint: reports.Fingerprint{ToolVersion: "0.1.0", Facts: map[string]string{"host.cpu": "Some CPU", "host.threads": "4", "host.os": "linux"}},
		When:        "2026-03-04T05:06:07Z", Device: "cpu", Hardware: "Some CPU, 2 cores, 4 threads",
		Rank: &reports.Rank{Index: 3, Of: 16, Local: count(3), Launcher: "slurm", Host: "node1"},
		Host: reports.ProbedHost{OS: "linux", Arch: "amd64", CPU: "Some CPU", ISAs: []string{"avx512", "scalar"}, Cores: 2, Threads: 4, NUMANodes: &nodes,
			CPUQuota: at(4), L1DataBytes: at(49152), L2Bytes: at(2 << 20), LastLevelBytes: at(32 << 20), MemoryBytes: at(64 << 30), AvailableBytes: at(60 << 30)},
		GPU: &reports.ProbedGPU{Name: "Some GPU", ComputeCapability: "9.0", Multiprocessors: 132, L2Bytes: 60 << 20, MemoryBytes: 150e9, FreeBytes: 149e9, DriverCUDA: "13.0",
			Telemetry: "nvml", WithoutTelemetry: "w", Reported: gpu()},
		BudgetS: 120, TookS: 117.25, NoiseFloor: at(0.004),
		Ceilings: []reports.ProbedCeiling{{
			Ceiling: reports.Ceiling{Resource: "dram.read", Value: 20e9, Unit: "B/s", Basis: "probed", Source: "probed 2026-03-04 05:06 UTC by decodegap cpu/read, avx512, 4 threads"},
			Verdict: "good", Sample: *sample(20e9),
			Bus: &reports.MemoryBus{MemoryClockMHz: 3201, BusWidthBits: 6016, PState: count(1), Peak: 4.8143e12, Share: 0.91},
		}},
		Results: []reports.ProbeResult{
			{Probe: "cpu/read", Case: "1 GiB", Shape: map[string]int{"bytes": 1 << 30}, Threads: 4, Outcome: "measured", Kernel: "avx512, 4 threads",
				Verdict: "good", Bytes: at(1 << 30), TimeS: sample(0.0537), GBs: at(19.99), ReadShare: sample(1), Blocks: 9, InvalidBlocks: 2, RunsPerBlock: 1,
				Clocks: []reports.ClockWindow{{StartS: 1, EndS: 1.25, Blocks: 9, InvalidBlocks: 2, Values: 7, Looks: 6, SMMHz: count(1950), SMMostMHz: count(1980),
					MemoryMHz: count(3201), MemoryMostMHz: count(3201), PState: count(1), PowerW: at(412.5), TemperatureC: count(61),
					ClocksReasons: []string{"sw_power_cap"}, ClocksHeldMs: map[string]float64{"power": 3.5}}},
				Checked: &reports.ProbeCheck{RelativeL2: 1e-7, MaxAbs: 1e-6, Bound: 1e-5, Values: 64, Comment: "sums"}},
			{Probe: "cpu/gemv", Case: "M=1 8×8", Format: "NVFP4", Outcome: "measured", Kernel: "scalar", Verdict: "noisy", Doubts: []string{"load: other processes took 0.50 CPUs' worth of time"},
				FLOPs: at(128), TimeS: sample(1e-6), Blocks: 7, RunsPerBlock: 1000},
			{Probe: "cpu/step", Case: "m", Outcome: "measured", Verdict: "good", Bytes: at(4e8), TimeS: sample(0.024), ReadShare: sample(0.8), Blocks: 9, Step: step()},
			{Probe: "cpu/amx", Outcome: "unsupported", Reason: "no AMX: not supported here"},
		},
		Warnings: []reports.Warning{{Code: "incomplete", Text: "t"}},
	}
}

// gpu is a GPU as its driver reports it, with every field filled.
func gpu() *hardware.GPU {
	bytes, width, clock, lanes, yes := uint64(150e9), uint32(6016), uint32(3201), 16, true
	return &hardware.GPU{Name: "Some GPU", MemoryBytes: &bytes, BusWidthBits: &width, MaxMemoryClockMHz: &clock, MemoryClockMHz: &clock, MaxSMClockMHz: &clock,
		PowerLimitW: at(700), PCIeGen: &lanes, PCIeWidth: &lanes, MaxPCIeGen: &lanes, MaxPCIeWidth: &lanes, ActiveNVLinks: &lanes, ComputeCapability: "9.0", MIG: &yes,
		BusID: "00000000:18:00.0", MemoryUsedBytes: &bytes, DefaultPowerLimitW: at(700), NVLinkVersion: "4.0", ECC: &yes, ComputeMode: "default", ComputeProcesses: &lanes}
}

// changes are the cases of two ceilings documents compared.
func changes() []reports.ProbeChange {
	return []reports.ProbeChange{
		{Probe: "cpu/gemv", Case: "M=1", Of: "read_share", Ratio: at(0.91), Lo: at(0.9), Hi: at(0.92), Margin: at(0.03), Verdict: "slower"},
		{Probe: "cpu/new", Case: "M=1", Verdict: "not_comparable", Why: "only in the second"},
	}
}

// step is an attainable step with every field filled; its parts add up.
func step() *reports.AttainableStep {
	return &reports.AttainableStep{Model: "m", Batch: 1, Context: 512, KVType: "bf16", Formats: []string{"NVFP4", "BF16"}, Layers: 28, Bytes: 4e8,
		Ms: 24, LoMs: at(23.8), HiMs: at(24.3), FloorMs: 20, OverFloor: 1.2, Verdict: "noisy", Kernel: "NVFP4 avx512_vnni, 4 threads", Source: "run 2026-03-04",
		Parts: []reports.StepPart{{Component: "mlp.dense", Ms: 16, FloorMs: 14}, {Component: "norm", Ms: 8, FloorMs: 6}}}
}
