package chart

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"decodegap/reports"
)

// swept is a floor document of a made-up model: weights that take 8 ms at tp
// 1, a cache that grows with batch and context, arithmetic that takes over
// from batch 200 where there is no cache to read.
func swept(batches, contexts, tps []int) *reports.FloorDocument {
	doc := &reports.FloorDocument{Schema: reports.FloorSchema, Model: reports.Model{Name: "made-up-8b"}, Hardware: reports.Hardware{Name: "GPU <X>", Count: 1}}
	for _, tp := range tps {
		for _, context := range contexts {
			for _, batch := range batches {
				memory := (8 + float64(batch)*float64(context)*1e-4) / float64(tp)
				ms := max(memory, float64(batch)*0.04/float64(tp))
				p := reports.FloorPoint{Operating: reports.Operating{Batch: batch, Context: context, TP: tp, EP: 1, DP: 1, PP: 1, KVType: "bf16", Engine: "vllm", AcceptedTokens: 1}}
				for _, f := range []struct {
					kind string
					ms   float64
				}{{"ideal", ms}, {"layout", ms}, {"latency", ms + 1.5}} {
					p.Floors = append(p.Floors, reports.Floor{Kind: f.kind, Basis: "sheet", MsPerToken: f.ms, TokPerS: 1000 * float64(batch) / f.ms})
				}
				doc.Points = append(doc.Points, p)
			}
			if context == 0 {
				doc.Ridges = append(doc.Ridges, reports.Ridge{TP: tp, Component: "mlp.dense", Batch: 150}, reports.Ridge{TP: tp, Batch: 200})
			}
		}
	}
	return doc
}

func upTo(n int) []int {
	var out []int
	for b := 1; b <= n; b *= 2 {
		out = append(out, b)
	}
	return out
}

// sweeps are documents of every shape that a chart can be asked for.
func sweeps() map[string]*reports.FloorDocument {
	crowd := swept([]int{1, 2, 4, 8, 16, 64, 256, 300, 1000}, []int{0, 1, 2, 3, 4096, 16384, 65536}, []int{1, 2, 4, 8})
	crowd.Ridges = nil
	for i, p := range crowd.Points {
		crowd.Ridges = append(crowd.Ridges, reports.Ridge{Context: p.Context, TP: p.TP, Batch: 180 + 7*(i/9)})
	}
	crowd.Warnings = []reports.Warning{{Code: "does-not-fit"}}
	var all []int
	for i := range 300 {
		all = append(all, i)
	}
	ridges := swept(upTo(1024), []int{0, 1, 2, 3}, []int{1, 2})
	ridges.Ridges = nil
	for i := range 8 {
		ridges.Ridges = append(ridges.Ridges, reports.Ridge{Context: i / 2, TP: 1 + i%2, Batch: []int{2, 2, 3, 5, 250, 260, 700, 1024}[i]})
	}
	gaps := swept([]int{4}, []int{0}, []int{1, 2, 4, 8})
	gaps.Points[2].Floors = gaps.Points[2].Floors[:2] // the latency is not known at tp 4
	return map[string]*reports.FloorDocument{
		"batch":       swept(upTo(512), []int{0, 16384}, []int{4, 8}),
		"context":     swept([]int{8}, []int{0, 4096, 16384, 32768, 131072}, []int{4, 8}),
		"two":         swept([]int{1, 2}, []int{4096}, []int{1}),
		"crowd":       crowd,
		"ridges":      ridges,
		"tp":          gaps,
		"manyContext": swept([]int{1}, all, []int{1}),
		"manyBatch":   swept(all, []int{0}, []int{1}),
		"long":        long(swept([]int{1, 9}, []int{5}, []int{7})),
	}
}

// long gives the document texts that no figure can show.
func long(doc *reports.FloorDocument) *reports.FloorDocument {
	text := strings.Repeat("<very>&long\"]]>\x1b[31m\u202e", 300)
	doc.Model.Name, doc.Hardware.Name = text, text
	for i := range doc.Points {
		doc.Points[i].Engine, doc.Points[i].KVType = text, text
		doc.Points[i].Floors[1].Basis = text
	}
	return doc
}

func sweepFigure(t *testing.T, doc *reports.FloorDocument) *Figure {
	t.Helper()
	f, err := Sweep(doc)
	if err != nil || f == nil {
		t.Fatalf("no figure: %v", err)
	}
	return f
}

func TestSweepGolden(t *testing.T) {
	docs := sweeps()
	for _, name := range []string{"batch", "context", "tp"} {
		f := sweepFigure(t, docs[name])
		svg, err := f.Document("made-up-8b on GPU <X>")
		if err != nil {
			t.Fatal(err)
		}
		if again, _ := sweepFigure(t, docs[name]).Document("made-up-8b on GPU <X>"); again != svg {
			t.Errorf("%s: two drawings differ", name)
		}
		path := filepath.Join("testdata", "sweep-"+name+".svg")
		if *update {
			if err := os.WriteFile(path, []byte(svg), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatalf("%v (run the test with -update to write it)", err)
		}
		if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(svg, "\n")); diff != "" {
			t.Errorf("%s differs (-want +got):\n%s", path, diff)
		}
	}
}

// TestSweepLabels checks that no text leaves its figure and that no two cover
// each other.
func TestSweepLabels(t *testing.T) {
	for name, doc := range sweeps() {
		f := sweepFigure(t, doc)
		svg, err := f.Document(strings.Repeat(doc.Model.Name+" ", 20))
		if err != nil {
			t.Fatal(err)
		}
		all := labels(t, svg)
		if len(all) < 7 {
			t.Errorf("%s: only %d texts", name, len(all))
		}
		const margins = 32
		for i, l := range all {
			if l.x0 < 0 || l.x1 > float64(f.Width)+margins || l.y0 < 0 || l.y1 > float64(f.Height)+margins+26 {
				t.Errorf("%s: %q leaves the figure: %+v", name, l.text, l)
			}
			for _, other := range all[:i] {
				if l.x0 < other.x1 && other.x0 < l.x1 && l.y0 < other.y1 && other.y0 < l.y1 {
					t.Errorf("%s: %q and %q cover each other", name, l.text, other.text)
				}
			}
		}
	}
}

func TestSweepSays(t *testing.T) {
	docs := sweeps()
	for _, c := range []struct {
		doc         string
		keys        []string
		alt, note   string
		never, xaxe string
	}{
		{"batch", []string{"context 0, tp 4", "context 0, tp 8", "context 16k, tp 4", "context 16k, tp 8", "latency floor, context 0, tp 4"},
			"context 0, tp 4: 2.000 ms at batch 1,", "engine vllm, KV cache bf16, ceilings: sheet", "not drawn", "batch: "},
		{"context", []string{"tp 4", "tp 8", "latency floor, tp 4"}, "tp 4: 2.000 ms at context 0, 2.819 ms at context 4k,", "batch 8, engine vllm", "compute-bound", "context: "},
		{"tp", []string{"layout floor", "latency floor"}, "latency floor: 9.500 ms at tp 1, 5.500 ms at tp 2, 2.500 ms at tp 8.", "batch 4, context 0", "at tp 4, 2.5", "tp: "},
		{"crowd", nil, "made-up-8b on GPU <X>", "not drawn: 20 more combinations of context and tp; some points do not fit the memory; engine", "NaN", "batch: "},
	} {
		f := sweepFigure(t, docs[c.doc])
		if !strings.Contains(f.Alt, c.alt) || strings.Contains(f.Alt, c.never) {
			t.Errorf("%s: want %q and not %q in: %s", c.doc, c.alt, c.never, f.Alt)
		}
		if !strings.Contains(f.Note, c.note) || strings.Contains(f.Note, c.never) {
			t.Errorf("%s: want %q and not %q in: %s", c.doc, c.note, c.never, f.Note)
		}
		if !strings.HasPrefix(f.XName, c.xaxe) {
			t.Errorf("%s: x is %q", c.doc, f.XName)
		}
		var keys []string
		for _, k := range f.Keys {
			keys = append(keys, k.Text)
		}
		if diff := cmp.Diff(c.keys, keys); c.keys != nil && diff != "" {
			t.Errorf("%s: keys differ (-want +got):\n%s", c.doc, diff)
		}
	}
}

// TestSweepRidges: only the ridge of the step as a whole is marked, where it
// lies within the line.
func TestSweepRidges(t *testing.T) {
	const mark = ">compute-bound from batch 200<"
	for most, want := range map[int]int{512: 1, 128: 0} {
		svg, err := sweepFigure(t, swept(upTo(most), []int{0, 16384}, []int{4, 8})).SVG()
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(svg, mark); got != want {
			t.Errorf("up to batch %d: %d times %q, want %d", most, got, mark, want)
		}
		if strings.Contains(svg, "from batch 150") {
			t.Error("a component's ridge is marked")
		}
	}
}

func TestSweepNothingToDraw(t *testing.T) {
	spoilt := func(ms float64) *reports.FloorDocument {
		doc := swept([]int{1, 2}, []int{0}, []int{1})
		doc.Points[1].Floors[1].MsPerToken = ms
		return doc
	}
	same := swept([]int{1, 1}, []int{0}, []int{1})
	for name, doc := range map[string]*reports.FloorDocument{
		"nil": nil, "empty": {}, "one": swept([]int{1}, []int{0}, []int{1}), "the same twice": same,
		"zero": spoilt(0), "negative": spoilt(-1), "NaN": spoilt(math.NaN()), "infinite": spoilt(math.Inf(1)), "no batch": swept([]int{0, 1}, []int{0}, []int{1}),
	} {
		if f, err := Sweep(doc); f != nil || err != nil {
			t.Errorf("%s: %v, %v", name, f, err)
		}
	}
}

// TestSweepHuge: a document of many points makes a figure of few marks.
func TestSweepHuge(t *testing.T) {
	many := func(n, step int) []int {
		out := make([]int, n)
		for i := range out {
			out[i] = 1 + i*step
		}
		return out
	}
	for name, doc := range map[string]*reports.FloorDocument{
		"one long line":  swept(many(1e5, 1), []int{0}, []int{1}),
		"many lines":     swept([]int{1, 2}, many(5e4, 3), []int{1}),
		"one long sweep": swept([]int{1}, append(many(1e5, 1), 0), []int{1}),
	} {
		for i := range doc.Points {
			if i%5 == 4 {
				doc.Points[i].Floors[1].MsPerToken = []float64{0, math.NaN(), math.Inf(-1), -3, 1e300}[i/5%5]
			}
		}
		for i := range 100000 {
			doc.Ridges = append(doc.Ridges, reports.Ridge{Context: i, TP: 1, Batch: i})
		}
		svg, err := sweepFigure(t, doc).SVG()
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(svg, "<g "); len(svg) > 300<<10 || n < 10 || n > 900 {
			t.Errorf("%s: %d bytes, %d groups", name, len(svg), n)
		}
		for _, bad := range []string{"NaN", "Inf", "1e+300"} {
			if strings.Contains(svg, bad) {
				t.Errorf("%s: %s is drawn", name, bad)
			}
		}
		labels(t, svg)
	}
}

func TestSpreadOut(t *testing.T) {
	lines := make([]floorLine, 100)
	for i := range lines {
		lines[i] = floorLine{key: [2]int{i}, dots: []floorDot{{ms: math.Exp(float64(i))}, {ms: math.Exp(float64(i))}}}
	}
	var got []int
	for _, l := range spreadOut(lines, 5) {
		got = append(got, l.key[0])
	}
	if diff := cmp.Diff([]int{0, 24, 49, 74, 99}, got); diff != "" {
		t.Errorf("lines differ (-want +got):\n%s", diff)
	}
}

func TestFloorTicks(t *testing.T) {
	for _, r := range [][2]float64{{9, 11}, {4.5, 48}, {1.6, 640}, {0.01, 0.02}, {1e-9, 1e9}, {1e-90, 1e90}, {3, 2900}, {99, 101}} {
		named, seen := 0, map[string]bool{}
		for _, tick := range (floorTicks{}).Ticks(r[0], r[1]) {
			if tick.Label != "" {
				named++
				if seen[tick.Label] {
					t.Errorf("%v: %s twice", r, tick.Label)
				}
				seen[tick.Label] = true
			}
		}
		if named < 3 || named > 20 {
			t.Errorf("%v: %d labels", r, named)
		}
	}
}

// FuzzSweep draws documents of arbitrary figures: refused or well-formed.
func FuzzSweep(f *testing.F) {
	f.Add("x", 1, 0, 8, 5.0, 6.0, 200)
	f.Add("<b>", 1<<62, 1<<62, 1<<62, 1e99, 1e-99, -1)
	f.Add("\xff", -1, -1, 0, math.Inf(1), math.NaN(), 1)
	f.Fuzz(func(t *testing.T, name string, batch, context, tp int, layout, latency float64, ridge int) {
		if len(name) > 1<<10 {
			return
		}
		doc := swept([]int{1, 4}, []int{0, 8192}, []int{8})
		p := doc.Points[0]
		p.Batch, p.Context, p.TP, p.Engine, p.KVType = batch, context, tp, name, name
		p.AcceptedTokens, p.DraftTokens = latency, batch
		p.Floors = []reports.Floor{{Kind: "layout", MsPerToken: layout, TokPerS: latency, Basis: name}, {Kind: "latency", MsPerToken: latency}}
		doc.Points = append(doc.Points, p)
		doc.Model.Name = name
		doc.Ridges = append(doc.Ridges, reports.Ridge{Context: context, TP: tp, Batch: ridge})
		for _, points := range [][]reports.FloorPoint{doc.Points, doc.Points[3:]} {
			part := *doc
			part.Points = points
			fig, err := Sweep(&part)
			if err != nil {
				t.Fatal(err)
			}
			if fig == nil {
				continue
			}
			svg, err := fig.Document(fmt.Sprint(name, batch))
			if err != nil {
				t.Fatal(err)
			}
			labels(t, svg)
		}
	})
}
