package fleet

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"decodegap/reports"
)

// generated are the records of hosts with eight GPUs each: normal noise of 0.5 %
// a device and case, ten cases and seven links each. slow tells how much slower
// a device, host or link is in a case.
func generated(seed uint64, hosts int, slow func(host, gpu, peer int, probe string) float64) []Record {
	rng := rand.New(rand.NewPCG(seed, 1))
	var out []Record
	for h := range hosts {
		for g := range 8 {
			local := g
			doc := &reports.CeilingsDocument{Schema: reports.CeilingsSchema, Device: fmt.Sprintf("cuda:%d", g), Hardware: "NVIDIA H200",
				Rank: &reports.Rank{Index: 8*h + g, Of: 8 * hosts, Local: &local, Launcher: "slurm", Host: fmt.Sprintf("node%03d", h)}}
			one := func(probe, name string, shape map[string]int, time, factor float64) {
				time *= factor * (1 + 0.005*rng.NormFloat64())
				lo, hi := time*0.999, time*1.001
				doc.Results = append(doc.Results, reports.ProbeResult{Probe: probe, Case: name, Shape: shape, Outcome: "measured", Verdict: "good",
					TimeS: &reports.Sample{Median: time, Lo: &lo, Hi: &hi}})
			}
			for c := range 10 {
				probe := fmt.Sprintf("cuda/p%d", c)
				one(probe, "case", nil, 1e-5*float64(c+1), slow(h, g, -1, probe))
			}
			for p := range 8 {
				if p != g {
					one("cuda/peer_copy", fmt.Sprintf("GPU %d → GPU %d", g, p), map[string]int{"from": g, "to": p}, 1e-3, slow(h, g, p, "cuda/peer_copy"))
				}
			}
			out = append(out, Record{Path: fmt.Sprintf("r%d.json", 8*h+g), Doc: doc})
		}
	}
	return out
}

func healthy(int, int, int, string) float64 { return 1 }

// found by kind and name.
func units(doc *reports.MergeDocument) []string {
	var out []string
	for _, s := range doc.Slow {
		out = append(out, s.Kind+" "+s.Name)
	}
	slices.Sort(out)
	return out
}

// TestPlanted: three slow GPUs and a slow link among a thousand are found, and
// nothing else.
func TestPlanted(t *testing.T) {
	for seed := range uint64(20) {
		doc := Merge(generated(seed, 125, func(h, g, p int, probe string) float64 {
			switch {
			case p < 0 && (h == 3 && g == 7 || h == 77 && g == 0):
				return 1.06
			case h == 100 && g == 4 && probe == "cuda/p2":
				return 1.1
			case h == 40 && g == 1 && p == 5:
				return 1.3
			}
			return 1
		}))
		want := []string{"gpu node003 cuda:7", "gpu node077 cuda:0", "gpu node100 cuda:4", "link node040 GPU 1 → GPU 5"}
		if got := units(doc); !slices.Equal(got, want) {
			t.Errorf("seed %d: %q", seed, got)
		}
		if doc.Records != 1000 || doc.GPUs != 1000 || doc.Hosts != 125 || len(doc.Missing) > 0 || len(doc.Warnings) > 0 {
			t.Errorf("%+v", doc.Warnings)
		}
		if s := doc.Slow[0]; s.Kind != "link" || s.Slower < 1.25 || s.Cases != 1 || s.Score < s.Limit {
			t.Errorf("%+v", s)
		}
	}
}

// TestHealthy: of healthy fleets of every size none is called slow.
func TestHealthy(t *testing.T) {
	for _, hosts := range []int{1, 2, 5, 30, 125} {
		for seed := range uint64(10) {
			if doc := Merge(generated(seed+50, hosts, healthy)); len(doc.Slow) > 0 {
				t.Errorf("%d hosts, seed %d: %q", hosts, seed, units(doc))
			}
		}
	}
}

// TestHost: where most GPUs of a host are slow, the host is, once.
func TestHost(t *testing.T) {
	doc := Merge(generated(9, 40, func(h, g, p int, probe string) float64 {
		if h == 12 && g != 3 && p < 0 {
			return 1.08
		}
		return 1
	}))
	if got := units(doc); !slices.Equal(got, []string{"host node012"}) {
		t.Errorf("%q", got)
	}
}

// TestFew: two GPUs of a kind judge nobody, and say so; ranks without a record
// are named; so are devices that have two.
func TestFew(t *testing.T) {
	all := generated(1, 1, func(h, g, p int, _ string) float64 { return 1 + float64(g) })
	doc := Merge([]Record{all[0], all[6], all[6]})
	if len(doc.Slow) > 0 || !slices.Equal(doc.Missing, []int{1, 2, 3, 4, 5, 7}) || len(doc.Warnings) != 2 || doc.Warnings[0].Code != "twice" || doc.Warnings[1].Code != "few" {
		t.Errorf("%+v", doc)
	}
	if c := doc.Cases[0]; c.Count != 2 || c.SlowestIs != "node000 cuda:6" || c.SlowestS < c.MedianS || c.FastestS > c.MedianS {
		t.Errorf("%+v", c)
	}
}

// TestHostile: one device many times is one, and what no job or clock can have
// is left out and told.
func TestHostile(t *testing.T) {
	all := generated(3, 1, func(h, g, p int, _ string) float64 { return map[bool]float64{true: 2, false: 1}[g == 1] })
	twice := []Record{all[1]}
	for range 20 {
		twice = append(twice, all[0])
	}
	if doc := Merge(twice); len(doc.Slow) > 0 || doc.Cases[0].Count != 2 {
		t.Errorf("%q, %+v", units(doc), doc.Cases[0])
	}
	all[2].Doc.Rank.Index = -1
	all[3].Doc.Rank.Of = 1 << 40
	all[4].Doc.Results[0].TimeS.Median = 1e308
	all[5].Doc.Results[10].Shape = map[string]int{"from": -1, "to": -2}
	doc := Merge(all)
	if len(doc.Missing) != 2 || len(doc.Warnings) < 2 || doc.Warnings[0].Code != "no-time" || doc.Warnings[1].Code != "no-rank" {
		t.Errorf("missing %v, %+v", doc.Missing, doc.Warnings)
	}
}

// TestUnreliable: what outside evidence speaks against calls nobody slow.
func TestUnreliable(t *testing.T) {
	all := generated(2, 5, func(h, g, p int, _ string) float64 { return map[bool]float64{true: 2, false: 1}[h == 1 && g == 1] })
	for i := range all[9].Doc.Results {
		all[9].Doc.Results[i].Verdict = "unreliable"
	}
	if doc := Merge(all); len(doc.Slow) > 0 {
		t.Errorf("%q", units(doc))
	}
}
