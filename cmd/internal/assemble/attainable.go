package assemble

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"decodegap/probes"
	"decodegap/probes/decode"
	"decodegap/reports"
	"decodegap/roofline"
	"decodegap/roofline/layout"
	"decodegap/roofline/unit"
)

// Attainable is a model's decode step as it can be run on this machine.
type Attainable struct {
	Probe probes.Probe

	model   string
	at      decode.Point
	formats []string
	layers  int
	bytes   map[roofline.Component]unit.Bytes // what the layout floor counts
	total   unit.Bytes
}

// StepProbe makes the probe that runs a plan: all.Step outside tests.
type StepProbe func(*decode.Plan, decode.Point, probes.Case) probes.Probe

// NewAttainable makes the step of a decoder at one operating point of one
// device. A part that no kernel is written for is the probe's reason, not an
// error.
func NewAttainable(d *roofline.Decoder, e layout.Engine, w roofline.Workload, run StepProbe) (*Attainable, error) {
	step, err := e.Build(d, w)
	if err != nil {
		return nil, err
	}
	a := &Attainable{model: d.Name, at: decode.Point{Batch: w.Batch, Context: w.Context, KV: w.KVType},
		layers: d.Layers, bytes: map[roofline.Component]unit.Bytes{}}
	var flops unit.FLOPs
	for _, op := range step.Ops {
		a.bytes[op.Component] += op.Memory()
		a.total += op.Memory()
		flops += op.FLOPs()
	}
	c := probes.Case{Shape: map[string]int{"batch": w.Batch, "context": w.Context}, Bytes: a.total, FLOPs: flops}
	plan, err := decode.Of(d)
	switch {
	case w.GPUs() > 1 || w.DraftTokens > 0:
		err = fmt.Errorf("%w: a step is run on one device and without drafts", probes.ErrUnsupported)
	case err == nil && w.KVType != roofline.BF16 && w.KVType != roofline.FP8:
		err = fmt.Errorf("%w: no kernel for a cache in %s", probes.ErrUnsupported, w.KVType)
	}
	if errors.Is(err, probes.ErrUnsupported) {
		reason := err
		a.Probe = probes.Probe{Name: probes.StepName("cpu"), Check: func(probes.Host) error { return reason }}
		return a, nil
	}
	if err != nil {
		return nil, err
	}
	a.formats = plan.Formats()
	c.Format = strings.Join(a.formats, ", ")
	c.Name = fmt.Sprintf("%s, batch %d, context %d, %s cache", d.Name, w.Batch, w.Context, strings.ToUpper(string(w.KVType)))
	a.Probe = run(plan, a.at, c)
	return a, nil
}

// result is the step as it was measured; nil where it has no number.
func (a *Attainable) result(r probes.Result, when time.Time) *reports.AttainableStep {
	if r.Outcome != probes.Measured || r.Share == nil || r.Parts == nil {
		return nil
	}
	ms := 1e3 * r.Time.Median
	out := &reports.AttainableStep{
		Model: a.model, Batch: a.at.Batch, Context: a.at.Context, KVType: string(a.at.KV), Formats: a.formats, Layers: a.layers,
		Bytes: float64(a.total), Ms: ms, OverFloor: 1 / r.Share.Median, FloorMs: ms * r.Share.Median,
		Verdict: string(r.Verdict), Kernel: r.Kernel,
		Source: fmt.Sprintf("run %s by decodegap %s, %s", when.UTC().Format("2006-01-02 15:04 UTC"), r.Probe, r.Kernel),
		Parts:  []reports.StepPart{},
	}
	if r.Time.Lo != nil {
		lo, hi := 1e3**r.Time.Lo, 1e3**r.Time.Hi
		out.LoMs, out.HiMs = &lo, &hi
	}
	for _, c := range roofline.Components {
		seconds, ran := r.Parts[c.Name]
		bytes := a.bytes[c.Name]
		if !ran && bytes == 0 {
			continue
		}
		out.Parts = append(out.Parts, reports.StepPart{Component: string(c.Name), Ms: 1e3 * seconds,
			FloorMs: ms * r.Share.Median * float64(bytes/a.total)})
	}
	return out
}

// StepOf is the step of a ceilings document that is of this model and point,
// nil if there is none.
func StepOf(doc *reports.CeilingsDocument, d *roofline.Decoder, e layout.Engine, w roofline.Workload) *reports.AttainableStep {
	if doc == nil || w.GPUs() > 1 || w.DraftTokens > 0 {
		return nil
	}
	step, err := e.Build(d, w)
	if err != nil {
		return nil
	}
	var bytes unit.Bytes
	for _, op := range step.Ops {
		bytes += op.Memory()
	}
	i := slices.IndexFunc(doc.Results, func(r reports.ProbeResult) bool {
		s := r.Step
		return s != nil && s.Model == d.Name && s.Batch == w.Batch && s.Context == w.Context && s.KVType == string(w.KVType) &&
			math.Abs(s.Bytes-float64(bytes)) <= 1e-6*float64(bytes)
	})
	if i < 0 {
		return nil
	}
	return doc.Results[i].Step
}
