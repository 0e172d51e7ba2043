package reports

import (
	"maps"
	"slices"
)

// provenance says where every figure of the report comes from.
func provenance(run *Run) []Block {
	return []Block{modelTable(run), ceilingTable(&run.Hardware), factTable(&run.Hardware), inputTable(run.Inputs), fingerprintTable(&run.Fingerprint)}
}

func modelTable(run *Run) *Table {
	m := &run.Model
	t := &Table{ID: "model", Title: "The model as counted", Columns: []Column{{Title: "what"}, {Title: "value"}}}
	add := func(what, value string) {
		if value != "" && value != absent {
			t.Rows = append(t.Rows, Row{Cells: []string{what, value}})
		}
	}
	add("name", name(m.Name))
	add("architecture", name(m.Architecture))
	if m.Layers > 0 {
		add("layers", whole(int64(m.Layers)))
	}
	if m.Hidden > 0 {
		add("hidden size", whole(int64(m.Hidden)))
	}
	if m.Experts > 0 {
		add("experts", whole(int64(m.Experts))+", "+whole(int64(m.ExpertsPerToken))+" a token")
	}
	add("parameters, counted here", counted(m.ParamsTotal))
	published := counted(m.ParamsPublished)
	if published != absent {
		published = joined(" · ", published, text(m.PublishedSource))
	}
	t.Rows = append(t.Rows, Row{Cells: []string{"parameters, published", published}})
	add("parameters read for one token", counted(m.ParamsActiveRead))
	add("bytes taken from", name(m.BytesSource))
	add("formats", text(m.Formats))
	for _, n := range m.Notes {
		add("note", text(n))
	}
	return t
}

func counted(n int64) string {
	if n <= 0 {
		return absent
	}
	if n < 1e6 {
		return whole(n)
	}
	return parameters(n) + " (" + whole(n) + ")"
}

func ceilingTable(h *Hardware) *Table {
	t := &Table{ID: "ceilings", Title: "Ceilings: what each resource can reach", Columns: []Column{
		{Title: "resource"}, {Title: "value", Right: true}, {Title: "basis"}, {Title: "source"}}}
	for _, c := range h.Ceilings {
		t.Rows = append(t.Rows, Row{Cells: []string{name(c.Resource), scaled(c.Value, OneLine(c.Unit, 12)), c.Basis, orAbsent(c.Source)}})
	}
	return t
}

func factTable(h *Hardware) *Table {
	t := &Table{ID: "hardware", Title: "The hardware", Columns: []Column{{Title: "fact"}, {Title: "value"}, {Title: "source"}}}
	for _, f := range h.Facts {
		t.Rows = append(t.Rows, Row{Cells: []string{name(f.Name), orAbsent(f.Value), orAbsent(f.Source)}})
	}
	if h.Topology != "" {
		t.Rows = append(t.Rows, Row{Cells: []string{"topology", name(h.Topology), absent}})
	}
	return t
}

func inputTable(inputs []Input) *Table {
	t := &Table{ID: "inputs", Title: "Inputs", Columns: []Column{{Title: "role"}, {Title: "path"}, {Title: "SHA-256", Whole: true}}}
	for _, in := range inputs {
		t.Rows = append(t.Rows, Row{Cells: []string{orAbsent(name(in.Role)), orAbsent(in.Path), orAbsent(name(in.SHA256))}})
	}
	return t
}

func fingerprintTable(f *Fingerprint) *Table {
	t := &Table{ID: "fingerprint", Title: "What must agree for another run to be comparable", Columns: []Column{{Title: "fact"}, {Title: "value"}}}
	t.Rows = append(t.Rows, Row{Cells: []string{"decodegap", orAbsent(name(f.ToolVersion))}})
	for _, key := range slices.Sorted(maps.Keys(f.Facts)) {
		t.Rows = append(t.Rows, Row{Cells: []string{name(key), orAbsent(f.Facts[key])}})
	}
	return t
}
