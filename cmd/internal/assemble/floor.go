package assemble

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"decodegap/reports"
	"decodegap/roofline"
	"decodegap/roofline/gap"
	"decodegap/roofline/model"
)

// Point is one operating point with its floors computed.
type Point struct {
	Scenario gap.Scenario
	Ideal    roofline.Floor
	Layout   roofline.Floor
	Latency  *roofline.Floor // nil where a latency is not known

	// Probed are the same floors at probed ceilings; empty without probes,
	// and where the three above are at probed ceilings themselves.
	Probed []roofline.Floor

	idealStep, layoutStep roofline.Step
	Warnings              []reports.Warning
}

// NewPoint computes the three floors of a scenario. A latency floor that lacks
// a ceiling is left out with a warning; the others must exist.
// Probed is the machine with probed ceilings, nil without probes.
func NewPoint(s gap.Scenario, probed *roofline.Machine) (*Point, error) {
	p := &Point{Scenario: s}
	var err error
	if p.idealStep, err = s.Step(roofline.Ideal); err != nil {
		return nil, err
	}
	if p.layoutStep, err = s.Step(roofline.Layout); err != nil {
		return nil, err
	}
	if p.Ideal, err = roofline.Compute(p.idealStep, s.Machine, roofline.Ideal); err != nil {
		return nil, err
	}
	if p.Layout, err = roofline.Compute(p.layoutStep, s.Machine, roofline.Layout); err != nil {
		return nil, err
	}
	latency, err := roofline.Compute(p.layoutStep, s.Machine, roofline.Latency)
	var missing *roofline.MissingError
	switch {
	case err == nil:
		p.Latency = &latency
	case errors.As(err, &missing):
		p.warn("latency-floor-absent", "no latency floor: %v", err)
	default:
		return nil, err
	}
	if probed != nil {
		if err := p.atProbed(*probed); err != nil {
			return nil, err
		}
	}
	if !p.Layout.ComputeKnown {
		known := "published"
		if p.Layout.Basis == roofline.Probed {
			known = "published or probed"
		}
		p.warn("compute-unknown", "no dense matrix rate is %s for %s in a format this model needs: its floors count memory only", known, s.Machine.Name)
	}
	for _, text := range s.Engine.Hypothetical(s.Decoder, s.Workload) {
		p.warn("hypothetical-layout", "%s", text)
	}
	if n := s.Decoder.MaxContext; n > 0 && s.Workload.Context > n {
		p.warn("context-beyond-model", "context %d is beyond the %d positions the model's files state", s.Workload.Context, n)
	}
	return p, nil
}

// atProbed computes the floors at probed ceilings; a latency that is missing
// there is missing at the sheet too, which has been said.
func (p *Point) atProbed(m roofline.Machine) error {
	for _, k := range []struct {
		step roofline.Step
		kind roofline.Kind
	}{{p.idealStep, roofline.Ideal}, {p.layoutStep, roofline.Layout}, {p.layoutStep, roofline.Latency}} {
		f, err := roofline.Compute(k.step, m, k.kind)
		var missing *roofline.MissingError
		if errors.As(err, &missing) && k.kind == roofline.Latency {
			return nil
		} else if err != nil {
			return err
		}
		p.Probed = append(p.Probed, f)
	}
	return nil
}

// probed is the floor of a kind at probed ceilings; nil without.
func (p *Point) probed(kind roofline.Kind) *roofline.Floor {
	for i := range p.Probed {
		if p.Probed[i].Kind == kind {
			return &p.Probed[i]
		}
	}
	return nil
}

func (p *Point) warn(code, format string, args ...any) {
	p.Warnings = append(p.Warnings, reports.Warning{Code: code, Text: fmt.Sprintf(format, args...)})
}

// Operating is the shared part of a floor point and a run point.
func (p *Point) Operating() reports.Operating {
	w, d := p.Scenario.Workload, p.Scenario.Decoder
	count, each := p.layoutStep.AllReduces()
	o := reports.Operating{
		Batch: w.Batch, Context: w.Context, TP: w.TP, EP: w.EP, DP: w.DP, PP: w.PP,
		KVType: string(w.KVType), Engine: p.Scenario.Engine.Name,
		DraftTokens: w.DraftTokens, AcceptedTokens: w.AcceptedTokens,
		AllReduceCount: count, AllReduceBytesEach: float64(each),
		WeightBytesIdeal: float64(p.idealStep.Weights()), WeightBytesLayout: float64(p.layoutStep.Weights()),
		KVReadBytes: float64(p.layoutStep.KVRead()), KVWriteBytes: float64(p.layoutStep.KVWrite()),
		KVReadBytesIdeal: float64(p.idealStep.KVRead()), KVWriteBytesIdeal: float64(p.idealStep.KVWrite()),
		FLOPs: float64(p.layoutStep.FLOPs()),
	}
	if d.StateHeads > 0 {
		o.StateType = string(w.StateType)
	}
	if d.Indexed {
		o.Attention = "sparse"
		if w.DenseAttention {
			o.Attention = "dense"
		}
	}
	if d.Experts > 0 {
		distinct, busiest := p.layoutStep.Distinct, p.layoutStep.Busiest
		o.DistinctExperts, o.ExpertsBusiestRank = &distinct, &busiest
	}
	o.Floors = []reports.Floor{p.floor(p.Ideal), p.floor(p.Layout)}
	if p.Latency != nil {
		o.Floors = append(o.Floors, p.floor(*p.Latency))
	}
	for _, f := range p.Probed {
		o.Floors = append(o.Floors, p.floor(f))
	}
	return o
}

func (p *Point) floor(f roofline.Floor) reports.Floor {
	w := p.Scenario.Workload
	ms := f.PerToken(w).Millis()
	out := reports.Floor{
		Kind: string(f.Kind), Basis: string(f.Basis), MsPerToken: ms, TokPerS: 1000 * float64(w.Batch) / ms,
		MemoryMs: f.Memory.Millis(), CommMs: f.Comm.Millis(), LaunchMs: f.Launch.Millis(),
	}
	if f.Pipeline > 0 {
		wait := f.Pipeline.Millis()
		out.PipelineMs = &wait
	}
	if f.ComputeKnown {
		c := f.Compute.Millis()
		out.ComputeMs = &c
	}
	return out
}

// Components is the ledger by component of the busiest rank, per step. Its
// bytes and FLOPs add up to the point's per GPU, its times to the layout floor
// without the rows that only have exchanges, and with them and the floor's
// launches to the latency floor. The row comm.p2p is the wait while a token is
// in other pipeline stages; their launches are in it too.
func (p *Point) Components() []reports.ComponentRow {
	rows := map[roofline.Component]*reports.ComponentRow{}
	longest := map[roofline.Component]float64{} // of the op that decides the bound
	terms := p.Layout.Terms
	if p.Latency != nil {
		terms = p.Latency.Terms
	}
	for _, t := range terms {
		c := t.Op.Component
		ms := (t.Time - t.Launch).Millis()
		r := rows[c]
		if r == nil {
			r = &reports.ComponentRow{Component: string(c), Bound: string(t.Bound)}
			rows[c] = r
		}
		r.Repeat = t.Op.Repeat
		r.WeightBytes += float64(t.Op.Weights)
		r.KVBytes += float64(t.Op.KVRead + t.Op.KVWrite)
		r.FLOPs += float64(t.Op.FLOPs())
		r.Launches += t.Op.Launches
		r.Ms += ms
		if t.Op.Memory() > 0 || r.Evidence == "" {
			r.Evidence = string(t.Op.From)
		}
		if r.Format == "" {
			r.Format = t.Op.Format
		}
		if ms >= longest[c] {
			longest[c], r.Bound = ms, string(t.Bound)
		}
		if t.Op.Comm != nil {
			r.CommBytes += float64(t.Op.Comm.Count) * float64(t.Op.Comm.Bytes)
			if t.Op.Memory() == 0 {
				r.Bound = string(roofline.BoundLatency)
			}
		}
	}
	for _, t := range p.Ideal.Terms {
		if r := rows[t.Op.Component]; r != nil {
			r.IdealMs += t.Time.Millis()
		}
	}
	var out []reports.ComponentRow
	for _, c := range roofline.Components {
		if r := rows[c.Name]; r != nil {
			out = append(out, *r)
		}
	}
	return out
}

// Collectives lists the exchanges of the step, for their ceilings.
func (p *Point) Collectives() []roofline.Collective {
	var all []roofline.Collective
	for _, op := range p.layoutStep.Ops {
		if op.Comm != nil {
			all = append(all, *op.Comm)
		}
	}
	return all
}

// Model is the model part of a document.
func Model(l *model.Loaded) reports.Model {
	return reports.Model{
		Name: l.Name, Architecture: l.Architecture, Layers: l.Layers,
		ParamsTotal: l.Params(), ParamsActiveRead: l.ActiveParams(),
		ParamsPublished: l.Published, PublishedSource: l.PublishedBy,
		BytesSource: string(l.BytesSource), Formats: formats(l.Decoder), Hidden: l.Hidden,
		Experts: l.Experts, ExpertsPerToken: l.TopK, Notes: notes(l),
	}
}

// notes are what the reader had to assume.
func notes(l *model.Loaded) []string {
	if l.DraftNote == "" {
		return l.Notes
	}
	return append(slices.Clip(l.Notes), l.DraftNote)
}

// formats says which components are stored how: "NVFP4: moe.experts, …".
func formats(d *roofline.Decoder) string {
	by := map[string][]string{}
	var order []string
	for _, c := range roofline.Components {
		for _, t := range d.Tensors {
			if t.Component != c.Name || !t.Matrix || slices.Contains(by[t.Format], string(c.Name)) {
				continue
			}
			if by[t.Format] == nil {
				order = append(order, t.Format)
			}
			by[t.Format] = append(by[t.Format], string(c.Name))
		}
	}
	sort.Strings(order)
	var parts []string
	for _, f := range order {
		parts = append(parts, f+": "+strings.Join(by[f], ", "))
	}
	return strings.Join(parts, "; ")
}
