package main

import (
	"slices"

	"fmt"

	"decodegap/cmd/internal/term"
	"decodegap/probes"
	allprobes "decodegap/probes/all"
	"decodegap/probes/audit"
	"decodegap/probes/decode"
	"decodegap/reports/records"
	"decodegap/roofline"
	"decodegap/roofline/hardware"
	"decodegap/roofline/layout"
	"decodegap/roofline/model"
	"decodegap/traces/all"
	"decodegap/traces/bench"
)

var listModels = listing{
	Kind: "models", Doc: "models whose shapes are known by name, counted against the published totals",
	Columns: []term.Column{{Title: "name"}, {Title: "counted B", Align: term.Right}, {Title: "published B", Align: term.Right},
		{Title: "diff %", Align: term.Right}, {Title: "read/token B", Align: term.Right}, {Title: "checkpoint", Shrink: true}},
	Rows: func(items []map[string]any) [][]string {
		rows := columns("name", "counted_b", "published_b", "difference_pct", "read_b", "checkpoint")(items)
		for i, it := range items {
			if pct, ok := it["difference_pct"].(float64); ok {
				rows[i][3] = fmt.Sprintf("%+.2f", pct)
			}
		}
		return rows
	},
	Items: func() ([]map[string]any, error) {
		var items []map[string]any
		for _, e := range model.Catalogue() {
			l, err := model.Load("catalogue:"+e.Name, "", model.Options{})
			if err != nil {
				return nil, err
			}
			it := map[string]any{
				"name": e.Name, "checkpoint": e.Of, "class": e.Class, "architecture": l.Architecture, "layers": l.Layers,
				"params_total": l.Params(), "params_active_read": l.ActiveParams(), "source": e.Source,
				"counted_b": float64(l.Params()) / 1e9, "read_b": float64(l.ActiveParams()) / 1e9,
			}
			if e.Published > 0 {
				it["params_published"] = e.Published
				it["published_b"] = float64(e.Published) / 1e9
				it["difference_pct"] = 100 * (float64(l.Params())/float64(e.Published) - 1)
			}
			if e.Note != "" {
				it["note"] = e.Note
			}
			items = append(items, it)
		}
		return items, nil
	},
}

var listHardware = listing{
	Kind: "hardware", Doc: "this machine's CPUs and GPUs, then GPUs with their sheet figures; dense rates, absent where unknown",
	Machine: thisMachineHas,
	Columns: []term.Column{{Title: "name"}, {Title: "memory"}, {Title: "GB", Align: term.Right}, {Title: "GB/s", Align: term.Right},
		{Title: "BF16 TFLOPS", Align: term.Right}, {Title: "FP8", Align: term.Right}, {Title: "FP4", Align: term.Right}, {Title: "CC"}},
	Rows: columns("name", "memory_kind", "memory_gb", "bandwidth_gbs", "bf16_tflops", "fp8_tflops", "fp4_tflops", "compute_capability"),
	Items: func() ([]map[string]any, error) {
		var items []map[string]any
		for _, d := range hardware.Catalogue() {
			it := map[string]any{"name": d.Name, "vendor": d.Vendor, "memory_kind": d.MemoryKind.Value, "device": d}
			put := func(name string, f *hardware.Figure) {
				if f != nil {
					it[name] = f.String()
				}
			}
			put("memory_gb", &d.MemoryGB)
			put("bandwidth_gbs", &d.BandwidthGBs)
			put("bf16_tflops", d.BF16TFLOPS)
			put("fp8_tflops", d.FP8TFLOPS)
			put("fp4_tflops", d.FP4TFLOPS)
			if d.ComputeCapability != nil {
				it["compute_capability"] = d.ComputeCapability.Value
			}
			items = append(items, it)
		}
		return items, nil
	},
}

var listFormats = listing{
	Kind: "formats", Doc: "benchmark and trace files that are understood, and what TPOT means in the former",
	Columns: []term.Column{{Title: "name"}, {Title: "kind"}, {Title: "what", Shrink: true}, {Title: "found by", Shrink: true}},
	Rows:    columns("name", "kind", "doc", "found_by"),
	Items: func() ([]map[string]any, error) {
		var items []map[string]any
		for _, f := range bench.All {
			items = append(items, map[string]any{"name": f.Name, "kind": "benchmark", "doc": f.Doc, "found_by": f.Looks, "tpot": f.TPOT})
		}
		for _, f := range all.All {
			items = append(items, map[string]any{"name": f.Name, "kind": "trace", "doc": f.Doc, "found_by": "content"})
		}
		return items, nil
	},
}

var listChecks = listing{
	Kind: "checks", Doc: "checks of an inference server's launch command",
	Columns: []term.Column{{Title: "name"}, {Title: "what", Shrink: true}},
	Rows:    columns("name", "doc"),
	Items: func() ([]map[string]any, error) {
		var items []map[string]any
		for _, c := range audit.All {
			items = append(items, map[string]any{"name": c.Name, "doc": c.Doc})
		}
		return items, nil
	},
}

var listProbes = listing{
	Kind: "probes", Doc: "decode components that can be timed on this machine",
	Columns: []term.Column{{Title: "name"}, {Title: "times", Shrink: true}, {Title: "bytes", Shrink: true}, {Title: "checked", Shrink: true}, {Title: "here", Shrink: true}},
	Rows:    columns("name", "doc", "formula", "checked", "here"),
	Items: func() ([]map[string]any, error) {
		items := []map[string]any{}
		host := probes.Detect(probes.ThisHost(allprobes.ISAs()), 0)
		for _, p := range append(slices.Clone(allprobes.All), allprobes.Step(nil, decode.Point{}, probes.Case{})) {
			it := map[string]any{"name": p.Name, "doc": p.Doc, "formula": p.Formula, "checked": p.Checked, "here": "yes", "supported": true}
			if len(p.Provides) > 0 {
				it["provides"] = p.Provides
			}
			if p.Check != nil {
				if err := p.Check(host); err != nil {
					it["here"], it["supported"], it["reason"] = "no: "+err.Error(), false, err.Error()
				}
			}
			items = append(items, it)
		}
		return items, nil
	},
}

var listEngines = listing{
	Kind: "engines", Doc: "sharding layouts, with what each rank repeats",
	Columns: []term.Column{{Title: "name"}, {Title: "layout", Shrink: true}},
	Rows:    columns("name", "doc"),
	Items: func() ([]map[string]any, error) {
		var items []map[string]any
		for _, e := range layout.All {
			rules := []map[string]string{}
			for _, r := range e.Listed() {
				rules = append(rules, map[string]string{"role": string(r.Role), "shard": r.Shard.String(), "source": r.Source})
			}
			it := map[string]any{"name": e.Name, "doc": e.Doc, "rules": rules}
			if len(e.Differences) > 0 {
				it["differences"] = e.Differences
			}
			items = append(items, it)
		}
		return items, nil
	},
}

var listComponents = listing{
	Kind: "components", Doc: "the parts of a decode step that ledgers and traces name",
	Columns: []term.Column{{Title: "name"}, {Title: "what", Shrink: true}},
	Rows:    columns("name", "doc"),
	Items: func() ([]map[string]any, error) {
		var items []map[string]any
		for _, c := range roofline.Components {
			items = append(items, map[string]any{"name": string(c.Name), "doc": c.Doc})
		}
		return items, nil
	},
}

var listRecords = listing{
	Kind: "records", Doc: "best publicly known results, with sources",
	Columns: []term.Column{{Title: "model"}, {Title: "hardware", Shrink: true}, {Title: "GPUs", Align: term.Right}, {Title: "engine", Shrink: true},
		{Title: "spec."}, {Title: "conc.", Align: term.Right}, {Title: "tok/s", Align: term.Right}},
	Rows: columns("model", "hardware", "gpus", "engine", "speculation", "concurrency", "output_tok_s"),
	Items: func() ([]map[string]any, error) {
		var items []map[string]any
		for _, r := range records.All() {
			items = append(items, map[string]any{
				"model": r.Model, "hardware": r.Hardware, "gpus": r.GPUs, "engine": r.Engine, "speculation": r.Speculation,
				"concurrency": r.Concurrency, "output_tok_s": r.OutputTokPerS, "source": r.Source, "note": r.Note,
			})
		}
		return items, nil
	},
}
