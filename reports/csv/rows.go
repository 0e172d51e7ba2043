package csv

import (
	"fmt"
	"maps"
	"slices"

	"decodegap/reports"
)

// rows are all figures of the record, in the order of a report.
func rows(run *reports.Run) []row {
	var out []row
	for i := range run.Points {
		for _, r := range pointRows(&run.Points[i]) {
			r.point, r.index = &run.Points[i], i
			out = append(out, r)
		}
	}
	for _, l := range run.Levers {
		out = append(out, row{table: "lever", name: l.Change, value: l.Ms, lo: l.LoMs, hi: l.Ms, unit: "ms", evidence: l.Evidence})
	}
	for _, w := range run.Warnings {
		out = append(out, row{table: "warning", name: w.Code, text: w.Text})
	}
	for _, f := range run.Findings {
		out = append(out, row{table: "finding", name: f.Check, basis: f.Severity, evidence: f.Where, text: join(f.Text, f.Advice, f.Cost)})
	}
	for _, a := range run.Assumptions {
		basis := "assumption"
		if a.Honest {
			basis = "holds"
		}
		for _, f := range []struct {
			name  string
			value float64
			unit  string
		}{{"weights", a.WeightGB, "GB"}, {"bandwidth", a.Bandwidth, "GB/s"}, {"ms_per_token", a.MsPerToken, "ms"}, {"tok_s", a.TokPerS, "tok/s"}} {
			out = append(out, row{table: "assumption", name: f.name, component: a.Name, value: at(f.value), unit: f.unit, basis: basis, text: a.Text})
		}
	}
	for _, s := range run.Series {
		out = append(out, seriesRows(s)...)
	}
	out = append(out, comparisonRows(run)...)
	for _, b := range run.Records {
		text := join(b.Model, b.Hardware, b.Engine, "speculation: "+b.Speculation, b.Note)
		out = append(out, row{table: "record", name: "output_tok_s", value: at(b.OutputTokPerS), unit: "tok/s", evidence: b.Source, text: text},
			row{table: "record", name: "concurrency", value: whole(b.Concurrency), unit: "1", evidence: b.Source, text: text},
			row{table: "record", name: "gpus", value: whole(b.GPUs), unit: "1", evidence: b.Source, text: text},
			row{table: "record", name: "ms_per_token", value: b.MsPerToken, unit: "ms", evidence: b.Source, text: text})
	}
	return append(out, provenance(run)...)
}

func pointRows(p *reports.RunPoint) []row {
	var out []row
	if m := p.Measured; m != nil {
		out = append(out, row{table: "measured", name: "tpot", value: at(m.ValueMs), lo: m.LoMs, hi: m.HiMs, unit: "ms", basis: m.Statistic, evidence: m.Source},
			row{table: "measured", name: "rate_one_sequence", value: at(m.TokPerS), unit: "tok/s", basis: m.Statistic, evidence: m.Source})
		for _, s := range summary(m.TPOT) {
			out = append(out, row{table: "measured", name: "tpot." + s.name, value: s.value, unit: "ms", evidence: m.Source})
		}
	}
	for _, f := range p.Floors {
		for _, v := range []struct {
			name  string
			value *float64
			unit  string
		}{
			{"ms_per_token", &f.MsPerToken, "ms"}, {"tok_s", &f.TokPerS, "tok/s"}, {"memory", &f.MemoryMs, "ms"},
			{"compute", f.ComputeMs, "ms"}, {"comm", &f.CommMs, "ms"}, {"launch", &f.LaunchMs, "ms"},
		} {
			out = append(out, row{table: "floor", name: f.Kind + "." + v.name, value: v.value, unit: v.unit, basis: f.Basis})
		}
	}
	for _, e := range p.Efficiency {
		out = append(out, row{table: "efficiency", name: e.Floor.Kind, value: at(e.Ratio), lo: e.Lo, hi: e.Hi, unit: "1", basis: e.Floor.Basis})
	}
	if l := p.Ledger; l != nil {
		out = append(out, row{table: "ledger", name: "floor." + l.Floor.Kind, value: at(l.FloorMs), unit: "ms", basis: l.Floor.Basis})
		for _, r := range l.Rungs {
			out = append(out, row{table: "ledger", name: r.Cause, component: r.Component, value: at(r.Ms), lo: at(r.LoMs), hi: at(r.HiMs),
				unit: "ms", evidence: r.Evidence, text: r.Text})
		}
		out = append(out, row{table: "ledger", name: "measured", value: at(l.MeasuredMs), unit: "ms"})
	}
	for _, v := range []struct {
		name  string
		value float64
		unit  string
	}{
		{"weight_bytes_ideal_per_gpu", p.WeightBytesIdeal, "B"}, {"weight_bytes_layout_per_gpu", p.WeightBytesLayout, "B"},
		{"kv_read_bytes_ideal_per_gpu", p.KVReadBytesIdeal, "B"}, {"kv_read_bytes_per_gpu", p.KVReadBytes, "B"},
		{"kv_write_bytes_ideal_per_gpu", p.KVWriteBytesIdeal, "B"}, {"kv_write_bytes_per_gpu", p.KVWriteBytes, "B"},
		{"flops_per_gpu", p.FLOPs, "FLOP"}, {"allreduce_count", float64(p.AllReduceCount), "1"}, {"allreduce_bytes_each", p.AllReduceBytesEach, "B"},
	} {
		out = append(out, row{table: "step", name: v.name, value: at(v.value), unit: v.unit})
	}
	for _, c := range p.Components {
		for _, v := range []struct {
			name  string
			value float64
			unit  string
		}{
			{"weight_bytes", c.WeightBytes, "B"}, {"kv_bytes", c.KVBytes, "B"}, {"flops", c.FLOPs, "FLOP"}, {"comm_bytes", c.CommBytes, "B"},
			{"launches", float64(c.Launches), "1"}, {"repeat", float64(c.Repeat), "1"}, {"ms", c.Ms, "ms"}, {"ideal_ms", c.IdealMs, "ms"},
		} {
			out = append(out, row{table: "component", name: v.name, component: c.Component, value: at(v.value), unit: v.unit,
				basis: c.Bound, evidence: c.Evidence, text: c.Format})
		}
		for _, v := range []struct {
			name  string
			value *float64
			unit  string
		}{{"actual_ms", c.ActualMs, "ms"}, {"achieved_gbs", c.AchievedGBs, "GB/s"}, {"ceiling_share", c.CeilingShare, "1"}} {
			if v.value != nil {
				out = append(out, row{table: "component", name: v.name, component: c.Component, value: v.value, unit: v.unit, evidence: "trace"})
			}
		}
		if c.AttainableMs != nil {
			out = append(out, row{table: "component", name: "attainable_ms", component: c.Component, value: c.AttainableMs, unit: "ms", basis: "probed"})
		}
	}
	if p.Traced != nil {
		out = append(out, tracedRows(p.Traced)...)
	}
	for _, w := range p.Worth {
		out = append(out, row{table: "worth", name: w.Change, value: at(w.Ms), unit: "ms"})
	}
	return out
}

// tracedRows are the traced steps, their idle times and operations, and what
// counters say of them.
func tracedRows(t *reports.Traced) []row {
	var out []row
	for _, s := range t.Steps {
		where := fmt.Sprintf("rank %d, device %d", s.Rank, s.Device)
		out = append(out, row{table: "trace", series: where, name: "median_ms", value: at(s.MedianMs), unit: "ms", evidence: s.FoundBy, text: s.Kind})
		for _, kind := range slices.Sorted(maps.Keys(s.IdleMs)) {
			out = append(out, row{table: "trace", series: where, name: "idle." + kind, value: at(s.IdleMs[kind]), unit: "ms"})
		}
		for _, o := range s.Operations {
			out = append(out, row{table: "trace", series: where, name: "operation", component: o.Component, value: at(o.Ms), unit: "ms", basis: o.Library, text: o.Name})
		}
	}
	for _, c := range t.Counters {
		for _, v := range []struct {
			name  string
			value *float64
			unit  string
		}{{"read_bytes", &c.ReadBytes, "B"}, {"write_bytes", c.WriteBytes, "B"}, {"counted_bytes", c.CountedBytes, "B"}, {"ratio", c.Ratio, "1"}, {"coverage", &c.Coverage, "1"}} {
			if v.value != nil {
				out = append(out, row{table: "counter", name: v.name, component: c.Component, value: at(*v.value), unit: v.unit})
			}
		}
	}
	return out
}

type statistic struct {
	name  string
	value *float64
}

// summary lists the statistics that the source states.
func summary(s reports.Summary) []statistic {
	var out []statistic
	for _, v := range []statistic{{"mean", s.Mean}, {"median", s.Median}, {"p90", s.P90}, {"p95", s.P95}, {"p99", s.P99}, {"std", s.Std}} {
		if v.value != nil {
			out = append(out, v)
		}
	}
	return out
}

func seriesRows(s reports.Series) []row {
	var out []row
	for i := range s.Points {
		p := &s.Points[i]
		add := func(name string, v *float64, unit string) {
			if v != nil {
				out = append(out, row{table: "series", series: s.Name, name: name, component: "concurrency " + number(&p.Concurrency), value: v, unit: unit, evidence: s.Source})
			}
		}
		add("output_tok_s", p.OutputTokPerS, "tok/s")
		add("achieved_concurrency", p.Achieved, "1")
		add("input_tokens", p.InputTokens, "1")
		add("output_tokens", p.OutputTokens, "1")
		if p.Requests != nil {
			add("requests", whole(*p.Requests), "1")
		}
		for _, v := range summary(p.TPOT) {
			add("tpot."+v.name, v.value, "ms")
		}
	}
	return out
}

func comparisonRows(run *reports.Run) []row {
	c := run.Comparison
	if c == nil {
		return nil
	}
	var out []row
	for _, r := range c.Reasons {
		out = append(out, row{table: "comparison", name: "not_comparable", text: r})
	}
	for i := range c.Rows {
		r := &c.Rows[i]
		for n, v := range r.ChangePct {
			series := indexed("series", n)
			if n < len(run.Series) {
				series = run.Series[n].Name
			}
			if v != nil {
				out = append(out, row{table: "comparison", series: series, name: "change", component: "concurrency " + number(&r.Concurrency), value: v, unit: "%", basis: r.Verdict})
			}
		}
	}
	for _, x := range c.Crossovers {
		out = append(out, row{table: "comparison", name: "crossover", value: at(x.At), lo: at(x.Between[0]), hi: at(x.Between[1]), unit: "1", text: join(x.A, x.B, x.Text)})
	}
	return out
}

func provenance(run *reports.Run) []row {
	m := &run.Model
	out := []row{
		{table: "model", name: "name", text: m.Name}, {table: "model", name: "architecture", text: m.Architecture},
		{table: "model", name: "params_total", value: positive(m.ParamsTotal), unit: "1"},
		{table: "model", name: "params_published", value: positive(m.ParamsPublished), unit: "1", evidence: m.PublishedSource},
		{table: "model", name: "params_active_read", value: positive(m.ParamsActiveRead), unit: "1"},
		{table: "model", name: "layers", value: positive(m.Layers), unit: "1"},
		{table: "model", name: "bytes_source", text: m.BytesSource}, {table: "model", name: "formats", text: m.Formats},
		{table: "hardware", name: "count", value: whole(run.Hardware.Count), unit: "1", text: run.Hardware.Name},
	}
	for _, n := range m.Notes {
		out = append(out, row{table: "model", name: "note", text: n})
	}
	for _, f := range run.Hardware.Facts {
		out = append(out, row{table: "hardware", name: f.Name, text: f.Value, evidence: f.Source})
	}
	for _, c := range run.Hardware.Ceilings {
		out = append(out, row{table: "ceiling", name: c.Resource, value: at(c.Value), unit: c.Unit, basis: c.Basis, evidence: c.Source})
	}
	for _, in := range run.Inputs {
		out = append(out, row{table: "input", name: in.Role, text: in.Path, evidence: in.SHA256})
	}
	out = append(out, row{table: "fingerprint", name: "decodegap", text: run.Fingerprint.ToolVersion})
	for _, key := range slices.Sorted(maps.Keys(run.Fingerprint.Facts)) {
		out = append(out, row{table: "fingerprint", name: key, text: run.Fingerprint.Facts[key]})
	}
	return out
}

// join joins the parts that are not empty.
func join(parts ...string) string {
	s := ""
	for _, p := range parts {
		switch {
		case p == "":
		case s == "":
			s = p
		default:
			s += "; " + p
		}
	}
	return s
}
