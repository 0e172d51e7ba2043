package assemble

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"decodegap/probes"
	"decodegap/reports"
	"decodegap/roofline"
	"decodegap/roofline/unit"
)

// Ceilings is the document of a session of probes; step is the model's step that was run, nil for none.
func Ceilings(run *probes.Run, all []probes.Probe, step *Attainable, host probes.Host, version string, when time.Time, budget time.Duration) *reports.CeilingsDocument {
	doc := &reports.CeilingsDocument{
		Schema: reports.CeilingsSchema, Fingerprint: hostFacts(host, version), When: when.UTC().Format(time.RFC3339),
		Device: "cpu", Hardware: host.Describe(), Host: Host(host),
		BudgetS: budget.Seconds(), TookS: rounded(run.Took.Seconds()), NoiseFloor: run.Noise,
		Ceilings: []reports.ProbedCeiling{}, Results: []reports.ProbeResult{}, Warnings: []reports.Warning{},
	}
	if g := host.GPU; g != nil {
		doc.Device, doc.Hardware = fmt.Sprintf("cuda:%d", g.Index), g.Name
		doc.GPU = &reports.ProbedGPU{Name: g.Name, ComputeCapability: fmt.Sprintf("%d.%d", g.Major, g.Minor), Multiprocessors: g.SMs,
			L2Bytes: float64(g.L2), MemoryBytes: float64(g.Memory), FreeBytes: float64(g.Free), DriverCUDA: g.Driver}
		watched(doc.GPU, g)
	}
	for _, c := range run.Ceilings(all) {
		doc.Ceilings = append(doc.Ceilings, reports.ProbedCeiling{
			Ceiling: reports.Ceiling{Resource: string(c.Resource), Value: rounded(c.Value.Median), Unit: c.Unit, Basis: "probed",
				Source: fmt.Sprintf("probed %s by decodegap %s, %s", when.UTC().Format("2006-01-02 15:04 UTC"), c.By, c.Kernel)},
			Verdict: string(c.Verdict), Sample: *sample(c.Value),
		})
	}
	if bus := memoryBus(run, host.GPU); bus != nil {
		for i := range doc.Ceilings {
			if c := &doc.Ceilings[i]; c.Resource == string(roofline.DRAMRead) {
				bus.Share = rounded(c.Value / bus.Peak)
				c.Bus = bus
			}
		}
	}
	for _, r := range run.Results {
		doc.Results = append(doc.Results, probeResult(r))
		doc.Results[len(doc.Results)-1].Clocks = clockWindows(r, when)
		if last := &doc.Results[len(doc.Results)-1]; step != nil && r.Probe == step.Probe.Name {
			last.Step = step.result(r, when)
		}
	}
	warn := func(code, text string) { doc.Warnings = append(doc.Warnings, reports.Warning{Code: code, Text: text}) }
	for _, n := range slices.Concat(gpuNotes(run, host.GPU), run.Notes) {
		warn("machine", n)
	}
	if g := doc.GPU; g != nil && g.Telemetry == noTelemetry {
		warn("no-telemetry", "no telemetry: "+g.WithoutTelemetry+"; clocks, heat and power are not known, and a throttled GPU is not told from a slow one")
	}
	if run.ReadVerdict != probes.Good {
		for _, d := range run.ReadDoubts {
			warn("ceiling-"+string(run.ReadVerdict), "the read ceiling is "+string(run.ReadVerdict)+": "+d)
		}
	}
	if n := len(run.Undone); n > 0 {
		why := fmt.Sprintf("the budget of %s ended before %s, the first of them %s; give --budget more", budget, cases(n), run.Undone[0])
		if run.Interrupted {
			why = fmt.Sprintf("interrupted before %s, the first of them %s", cases(n), run.Undone[0])
		}
		warn("incomplete", why)
	}
	return doc
}

func cases(n int) string {
	if n == 1 {
		return "1 case"
	}
	return fmt.Sprintf("%d cases", n)
}

// hostFacts are what two runs of probes must agree on to be comparable.
func hostFacts(h probes.Host, version string) reports.Fingerprint {
	facts := map[string]string{"host.os": h.OS, "host.arch": h.Arch, "host.cores": strconv.Itoa(h.Cores), "host.threads": strconv.Itoa(h.Threads)}
	if g := h.GPU; g != nil {
		// The CPU does not matter to kernels that a graph starts.
		facts = map[string]string{"host.os": h.OS, "host.arch": h.Arch, "gpu.name": g.Name, "gpu.multiprocessors": strconv.Itoa(g.SMs),
			"gpu.memory": g.Memory.String(), "gpu.driver_cuda": g.Driver}
		return reports.Fingerprint{ToolVersion: version, Facts: facts}
	}
	if h.CPU != "" {
		facts["host.cpu"] = h.CPU
	}
	if h.LastLevel > 0 {
		facts["host.last_level_cache"] = h.LastLevel.String()
	}
	return reports.Fingerprint{ToolVersion: version, Facts: facts}
}

// Host is the machine's processors and memory, for documents.
func Host(h probes.Host) reports.ProbedHost {
	out := reports.ProbedHost{OS: h.OS, Arch: h.Arch, CPU: h.CPU, ISAs: h.ISAs, Cores: h.Cores, Threads: h.Threads,
		L1DataBytes: known(h.L1Data), L2Bytes: known(h.L2), LastLevelBytes: known(h.LastLevel),
		MemoryBytes: known(h.Memory), AvailableBytes: known(h.Available)}
	if h.NUMA > 0 {
		out.NUMANodes = &h.NUMA
	}
	if h.Quota > 0 {
		out.CPUQuota = &h.Quota
	}
	return out
}

func known(b unit.Bytes) *float64 {
	if b <= 0 {
		return nil
	}
	v := float64(b)
	return &v
}

func probeResult(r probes.Result) reports.ProbeResult {
	out := reports.ProbeResult{Probe: r.Probe, Case: r.Case.Name, Shape: r.Case.Shape, Format: r.Case.Format, Threads: r.Case.Threads,
		Outcome: string(r.Outcome), Reason: r.Reason}
	if r.Outcome != probes.Measured {
		return out
	}
	out.Kernel, out.Verdict, out.Doubts = r.Kernel, string(r.Verdict), r.Doubts
	out.Bytes, out.TimeS, out.ReadShare = known(r.Case.Bytes), sample(r.Time), sample(r.Share)
	if f := float64(r.Case.FLOPs); f > 0 {
		out.FLOPs = &f
	}
	if out.Bytes != nil {
		rate := rounded(*out.Bytes / r.Time.Median / 1e9)
		out.GBs = &rate
	}
	out.Blocks, out.InvalidBlocks, out.RunsPerBlock = r.Blocks, r.Invalid, r.Runs
	out.Checked = &reports.ProbeCheck{RelativeL2: r.Checked.RelativeL2, MaxAbs: r.Checked.MaxAbs, Bound: r.Checked.Bound,
		Values: r.Checked.Values, Comment: r.Checked.Comment}
	return out
}

func sample(s *probes.Summary) *reports.Sample {
	if s == nil {
		return nil
	}
	out := &reports.Sample{Median: rounded(s.Median), P10: rounded(s.P10), P90: rounded(s.P90), MAD: rounded(s.MAD)}
	if s.Lo != nil {
		lo, hi := rounded(*s.Lo), rounded(*s.Hi)
		out.Lo, out.Hi = &lo, &hi
	}
	for _, v := range s.Values {
		out.Values = append(out.Values, rounded(v))
	}
	return out
}

// rounded keeps six significant digits, more than any block has.
func rounded(v float64) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 6, 64), 64)
	if err != nil {
		return v
	}
	return r
}
