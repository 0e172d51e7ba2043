package schema_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"decodegap/reports"
	"decodegap/reports/gate"
	"decodegap/reports/schema"
	"decodegap/reports/schema/schematest"
	"decodegap/roofline"
)

// documents lists each kind's Go type, filled and empty.
var documents = []struct {
	kind        string
	full, least any
}{
	{"run", schematest.Run(), schematest.MinimalRun()},
	{"floor", schematest.Floor(), &reports.FloorDocument{Schema: reports.FloorSchema, Model: reports.Model{BytesSource: "config"}}},
	{"bench", schematest.Bench(), &reports.BenchDocument{Schema: reports.BenchSchema, Results: []reports.BenchResult{{}}}},
	{"trace", schematest.Trace(), &reports.TraceDocument{Schema: reports.TraceSchema}},
	{"ceilings", schematest.Ceilings(), &reports.CeilingsDocument{Schema: reports.CeilingsSchema, When: "2026-01-02T03:04:05Z", Host: reports.ProbedHost{Cores: 1, Threads: 1}}},
	{"gate", schematest.Gate(), &reports.GateDocument{Schema: reports.GateSchema, Verdict: "not_comparable", Floor: reports.FloorName{Kind: "ideal", Basis: "sheet"}}},
	{"compare", schematest.Compare(), &reports.CompareDocument{Schema: reports.CompareSchema}},
	{"merge", schematest.Merge(), &reports.MergeDocument{Schema: reports.MergeSchema}},
	{"list", schematest.List(), &reports.ListDocument{Schema: reports.ListSchema}},
}

func TestDocumentsAreValid(t *testing.T) {
	// The policy is read, not printed from a struct: package gate tests it.
	if len(documents)+1 != len(schema.All) {
		t.Errorf("%d documents tested, %d schemas", len(documents), len(schema.All))
	}
	for _, d := range documents {
		schematest.Validate(t, d.kind, marshal(t, d.full))
		schematest.Validate(t, d.kind, marshal(t, d.least))
		if empty := unfilled(reflect.ValueOf(d.full), d.kind); len(empty) > 0 {
			t.Errorf("the full %s document leaves fields empty: %s", d.kind, strings.Join(empty, ", "))
		}
	}
}

// TestSchemasReject holds the schemas to refuse what the structs never print.
func TestSchemasReject(t *testing.T) {
	for _, c := range []struct{ kind, old, new string }{
		{"run", `"closes":true`, `"closes":true,"extra":1`},
		{"run", `"component":"moe.experts"`, `"component":"moe.expert"`},
		{"run", `"cause":"host"`, `"cause":"magic"`},
		{"run", `"kind":"ideal"`, `"kind":"best"`},
		{"run", `"basis":"probed"`, `"basis":"hoped"`},
		{"run", `"batch":1,`, `"batch":0,`},
		{"run", `"batch":1,`, `"batch":1.5,`},
		{"run", `"batch":1,`, ``},
		{"run", `"value_ms":95.14`, `"value_ms":"95.14"`},
		{"run", `"value_ms":95.14`, `"value_ms":0`},
		{"run", `decodegap/run/1`, `decodegap/run/2`},
		{"run", `"role":"trace"`, `"role":"rumour"`},
		{"floor", `"bound":"memory"`, `"bound":"fate"`},
		{"bench", `"tpot_ms":{`, `"tpot_ms":{"p50":1,`},
		{"bench", `"backend":"sglang"`, `"backend":1`},
		{"trace", `"truncated":true`, `"truncated":1`},
		{"trace", `"kernels":12,`, `"kernels":-1,`},
		{"gate", `"verdict":"pass"`, `"verdict":"passed"`},
		{"gate", `"interval":[`, `"interval":[0,`},
		{"ceilings", `"outcome":"measured"`, `"outcome":"hoped"`},
		{"ceilings", `"verdict":"noisy"`, `"verdict":"fine"`},
		{"ceilings", `"basis":"probed"`, `"basis":"sheet"`},
		{"ceilings", `"device":"cpu",`, ``},
		{"compare", `"verdict":"not_comparable"`, `"verdict":"pass"`},
		{"merge", `"kind":"gpu"`, `"kind":"rack"`},
	} {
		for _, d := range documents {
			if d.kind != c.kind {
				continue
			}
			doc := string(marshal(t, d.full))
			if !strings.Contains(doc, c.old) {
				t.Errorf("%s: %s is not in the document", c.kind, c.old)
			}
			if err := schematest.Check(c.kind, []byte(strings.Replace(doc, c.old, c.new, 1))); err == nil {
				t.Errorf("%s: %s in place of %s is still valid", c.kind, c.new, c.old)
			}
		}
	}
}

// TestSchemasMatchStructs holds every schema to the Go struct's fields, both
// ways: names, which of them are always there, and types.
func TestSchemasMatchStructs(t *testing.T) {
	for _, d := range documents {
		text, err := schema.Get(d.kind)
		if err != nil {
			t.Fatal(err)
		}
		var root map[string]any
		if err := json.Unmarshal(text, &root); err != nil {
			t.Fatalf("%s: %v", d.kind, err)
		}
		if got, want := root["$schema"], "https://json-schema.org/draft/2020-12/schema"; got != want {
			t.Errorf("%s: $schema %v, want %s", d.kind, got, want)
		}
		m := matcher{t: t, defs: object(root["$defs"]), used: map[string]bool{}}
		m.match(reflect.TypeOf(d.full).Elem(), root, d.kind, false)
		for name := range m.defs {
			if !m.used[name] {
				t.Errorf("%s: $defs/%s is not used", d.kind, name)
			}
		}
	}
}

type matcher struct {
	t    *testing.T
	defs map[string]any
	used map[string]bool
}

func (m *matcher) match(typ reflect.Type, s map[string]any, at string, nullable bool) {
	if ref, ok := s["$ref"].(string); ok {
		name := strings.TrimPrefix(ref, "#/$defs/")
		if m.used[name] {
			return
		}
		m.used[name] = true
		s = object(m.defs[name])
	}
	if typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	if _, constant := s["const"]; constant || typ.Kind() == reflect.Interface {
		return
	}
	want := map[reflect.Kind]string{
		reflect.String: "string", reflect.Bool: "boolean", reflect.Int: "integer", reflect.Int64: "integer", reflect.Uint32: "integer", reflect.Uint64: "integer", reflect.Float64: "number",
		reflect.Slice: "array", reflect.Array: "array", reflect.Map: "object", reflect.Struct: "object",
	}[typ.Kind()]
	if nullable {
		want = fmt.Sprint([]any{want, "null"})
	}
	if got := fmt.Sprint(s["type"]); got != want {
		m.t.Errorf("%s: type %s in the schema, %s in Go", at, got, want)
	}
	switch typ.Kind() {
	case reflect.Slice, reflect.Array:
		m.match(typ.Elem(), object(s["items"]), at+"[]", typ.Elem().Kind() == reflect.Pointer)
	case reflect.Map:
		m.match(typ.Elem(), object(s["additionalProperties"]), at+"{}", false)
	case reflect.Struct:
		m.matchStruct(typ, s, at)
	}
}

func (m *matcher) matchStruct(typ reflect.Type, s map[string]any, at string) {
	if s["additionalProperties"] != false {
		m.t.Errorf("%s: additionalProperties is not false", at)
	}
	properties := object(s["properties"])
	var names, always []string
	for _, f := range reflect.VisibleFields(typ) {
		if f.Anonymous {
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, name)
		omit := strings.Contains(options, "omitempty")
		if !omit {
			always = append(always, name)
		}
		if p, ok := properties[name]; ok {
			k := f.Type.Kind()
			m.match(f.Type, object(p), at+"."+name, !omit && (k == reflect.Slice || k == reflect.Map || k == reflect.Pointer))
		}
	}
	var required []string
	if list, ok := s["required"].([]any); ok {
		for _, r := range list {
			required = append(required, r.(string))
		}
	}
	if d := cmp.Diff(sorted(names), slices.Sorted(maps.Keys(properties))); d != "" {
		m.t.Errorf("%s: fields (-Go +schema):\n%s", at, d)
	}
	if d := cmp.Diff(sorted(always), sorted(required)); d != "" {
		m.t.Errorf("%s: fields always there (-Go +schema):\n%s", at, d)
	}
}

// TestEnums holds the closed lists in the schemas to the lists in Go.
func TestEnums(t *testing.T) {
	var components []string
	for _, c := range roofline.Components {
		components = append(components, string(c.Name))
	}
	for _, c := range []struct {
		kind, def, field string
		want             []string
	}{
		{"run", "ComponentRow", "component", components},
		{"floor", "ComponentRow", "component", components},
		{"run", "TracedOperation", "component", components},
		{"run", "CounterRow", "component", components},
		{"run", "Rung", "component", append([]string{""}, components...)},
		{"run", "StepPart", "component", components},
		{"ceilings", "StepPart", "component", components},
		{"run", "Rung", "cause", reports.Causes},
		{"run", "Floor", "kind", reports.FloorKinds},
		{"run", "Floor", "basis", reports.Bases},
		{"run", "FloorName", "kind", reports.FloorKinds},
		{"run", "FloorName", "basis", reports.Bases},
		{"run", "Ceiling", "basis", reports.Bases},
		{"ceilings", "ProbeResult", "verdict", reports.ProbeVerdicts},
		{"ceilings", "ProbedCeiling", "verdict", reports.ProbeVerdicts},
		{"gate", "FloorName", "kind", reports.FloorKinds},
		{"gate", "GateRule", "verdict", gate.Verdicts},
		{"gate", "", "verdict", gate.Verdicts},
	} {
		text, err := schema.Get(c.kind)
		if err != nil {
			t.Fatal(err)
		}
		var at map[string]any
		if err := json.Unmarshal(text, &at); err != nil {
			t.Fatal(err)
		}
		if c.def != "" {
			at = object(object(at["$defs"])[c.def])
		}
		var got []string
		for _, v := range object(object(at["properties"])[c.field])["enum"].([]any) {
			got = append(got, v.(string))
		}
		if d := cmp.Diff(sorted(c.want), sorted(got)); d != "" {
			t.Errorf("%s: %s.%s (-Go +schema):\n%s", c.kind, c.def, c.field, d)
		}
	}
}

func TestGetUnknown(t *testing.T) {
	for _, kind := range []string{"", "rum", "../run", "run.json"} {
		if _, err := schema.Get(kind); err == nil || !strings.Contains(err.Error(), "run") {
			t.Errorf("Get(%q): error %v, want one that names the kinds", kind, err)
		}
	}
}

// unfilled lists the fields of v that are at their zero value everywhere they
// appear, so that a new field cannot be left out of the documents above.
func unfilled(v reflect.Value, at string) []string {
	seen := map[string]bool{} // path → filled somewhere
	var walk func(v reflect.Value, at string)
	walk = func(v reflect.Value, at string) {
		switch v.Kind() {
		case reflect.Pointer:
			if !v.IsNil() {
				walk(v.Elem(), at)
			}
		case reflect.Slice:
			for i := range v.Len() {
				walk(v.Index(i), at)
			}
		case reflect.Struct:
			for i := range v.NumField() {
				f := v.Type().Field(i)
				path := at
				if !f.Anonymous {
					path = v.Type().Name() + "." + f.Name
					seen[path] = seen[path] || !v.Field(i).IsZero()
				}
				walk(v.Field(i), path)
			}
		}
	}
	walk(v, at)
	var out []string
	for path, filled := range seen {
		// Zero is a figure like any other for these, or the only true value.
		if !filled && !slices.Contains([]string{"Comparison.Comparable", "ComponentRow.KVBytes", "ComponentRow.CommBytes",
			"Operating.DraftTokens", "Floor.CommMs", "Floor.LaunchMs"}, path) {
			out = append(out, path)
		}
	}
	return sorted(out)
}

func object(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

func sorted(s []string) []string { return slices.Sorted(slices.Values(s)) }

func marshal(t *testing.T, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
