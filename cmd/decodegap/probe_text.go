package main

import (
	"fmt"
	"io"
	"strings"

	"decodegap/cmd/internal/term"
	"decodegap/reports"
	"decodegap/roofline/unit"
)

// writeCeilingsText prints what probes measured for people.
func writeCeilingsText(w io.Writer, doc *reports.CeilingsDocument, width int) error {
	fmt.Fprintln(w, term.Clean(doc.Hardware))
	writeWrapped(w, machineLine(doc), width, "  ")
	for _, c := range doc.Ceilings {
		writeWrapped(w, ceilingLine(c), width, "")
		if c.Bus != nil {
			writeWrapped(w, busLine(c.Bus), width, "")
		}
	}
	if doc.NoiseFloor != nil {
		writeWrapped(w, fmt.Sprintf("noise floor ±%.1f %%: two copies of the read kernel against each other", 100**doc.NoiseFloor), width, "")
	}
	if line := clocksLine(doc); line != "" {
		writeWrapped(w, line, width, "")
	}
	fmt.Fprintln(w)
	t := term.Table{Columns: []term.Column{{Title: "probe"}, {Title: "case", Shrink: true}, {Title: "kernel", Shrink: true}, {Title: "time", Align: term.Right},
		{Title: "GB/s", Align: term.Right}, {Title: "of read, %", Align: term.Right}, {Title: "verdict"}}}
	for _, r := range doc.Results {
		kernel := strings.TrimSuffix(r.Kernel, fmt.Sprintf(", %d threads", doc.Host.Threads)) // fewer are worth a word
		row := []string{r.Probe, r.Case, kernel, "–", "–", "–", r.Outcome}
		if r.TimeS != nil {
			row[3], row[6] = unit.Seconds(r.TimeS.Median).String(), r.Verdict
		}
		if r.GBs != nil {
			row[4] = unit.Significant(*r.GBs, 3)
		}
		if s := r.ReadShare; s != nil {
			row[5] = share(s)
		}
		t.Rows = append(t.Rows, row)
	}
	if err := t.Write(w, width); err != nil {
		return err
	}
	for _, r := range doc.Results {
		if r.Step != nil {
			if err := writeStepText(w, r.Step, width); err != nil {
				return err
			}
		}
	}
	writeProbeReasons(w, doc, width)
	for _, warn := range doc.Warnings {
		writeWrapped(w, "warning: "+warn.Text, width, "")
	}
	return nil
}

// writeProbeReasons says below the table why cases have no number, or not a
// good one.
func writeProbeReasons(w io.Writer, doc *reports.CeilingsDocument, width int) {
	first := true
	say := func(r reports.ProbeResult, what, why string) {
		if first {
			fmt.Fprintln(w)
			first = false
		}
		name := strings.TrimSpace(r.Probe + " " + r.Case)
		writeWrapped(w, name+": "+what+": "+why, width, "")
	}
	for _, r := range doc.Results {
		switch {
		case r.Outcome != "measured":
			say(r, r.Outcome, r.Reason)
		case r.Verdict != "good":
			say(r, r.Verdict, strings.Join(r.Doubts, "; "))
		}
	}
}

// share is a sample's median in percent, and half of its interval.
func share(s *reports.Sample) string {
	text := fmt.Sprintf("%.1f", 100*s.Median)
	if s.Lo != nil {
		text += fmt.Sprintf(" ±%.1f", 50*(*s.Hi-*s.Lo))
	}
	return text
}

func ceilingLine(c reports.ProbedCeiling) string {
	text := c.Resource + " " + quantity(c.Value, c.Unit)
	if c.Sample.Lo != nil {
		text += fmt.Sprintf(" (%s to %s)", quantity(*c.Sample.Lo, c.Unit), quantity(*c.Sample.Hi, c.Unit))
	}
	return text + ", " + c.Verdict + ": " + c.Source
}

// quantity prints a ceiling's value with its scaled unit.
func quantity(v float64, u string) string {
	switch u {
	case "B/s":
		return unit.BytesPerSecond(v).String()
	case "FLOP/s":
		return unit.FLOPsPerSecond(v).String()
	case "s":
		return unit.Seconds(v).String()
	}
	return unit.Significant(v, 4) + " " + u
}

// hostLine is what matters of the host beside its name.
// machineLine is what was probed: the GPU, or else the host.
func machineLine(doc *reports.CeilingsDocument) string {
	g := doc.GPU
	if g == nil {
		return hostLine(doc.Host)
	}
	return fmt.Sprintf("%s, compute capability %s, %d multiprocessors, L2 %s, memory %s, free %s, driver for CUDA %s",
		doc.Device, g.ComputeCapability, g.Multiprocessors, unit.Bytes(g.L2Bytes), unit.Bytes(g.MemoryBytes), unit.Bytes(g.FreeBytes), g.DriverCUDA)
}

func hostLine(h reports.ProbedHost) string {
	var parts []string
	if len(h.ISAs) > 0 {
		parts = append(parts, strings.Join(h.ISAs, " "))
	}
	for _, c := range []struct {
		name string
		size *float64
	}{{"L1d", h.L1DataBytes}, {"L2", h.L2Bytes}, {"last level", h.LastLevelBytes}, {"memory", h.MemoryBytes}, {"available", h.AvailableBytes}} {
		if c.size != nil {
			parts = append(parts, c.name+" "+unit.Bytes(*c.size).String())
		}
	}
	if h.NUMANodes != nil && *h.NUMANodes > 1 {
		parts = append(parts, fmt.Sprintf("%d memory nodes", *h.NUMANodes))
	}
	if h.CPUQuota != nil {
		parts = append(parts, fmt.Sprintf("quota of %.3g CPUs", *h.CPUQuota))
	}
	return strings.Join(parts, ", ")
}
