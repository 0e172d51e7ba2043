package assemble

import (
	"fmt"
	"math"

	"decodegap/reports"
	"decodegap/roofline/model"
)

// ModelWarnings says what about the model's reading changes how its numbers
// must be taken: a count far from the published one, assumptions, weights that
// do not fit.
func ModelWarnings(l *model.Loaded, opt model.Options) []reports.Warning {
	var out []reports.Warning
	if l.Published > 0 {
		if off := float64(l.Params())/float64(l.Published) - 1; math.Abs(off) > 0.03 {
			out = append(out, reports.Warning{Code: "params-differ", Text: fmt.Sprintf(
				"the configuration counts %.2f B parameters, %+.1f %% against the published %.2f B (%s): it may be misread, so treat every figure with suspicion",
				float64(l.Params())/1e9, 100*off, float64(l.Published)/1e9, l.PublishedBy)})
		}
	}
	if opt.Assume != nil {
		out = append(out, reports.Warning{Code: "assumed-format", Text: fmt.Sprintf(
			"assumption: every attention, indexer, MLP, expert and head matrix in %s and evenly split, router bytes left out; the checkpoint's own formats are not used", opt.Assume.Name)})
	}
	for _, n := range notes(l) {
		out = append(out, reports.Warning{Code: "model-note", Text: n})
	}
	return out
}

// MemoryWarning says if the busiest GPU cannot hold its share.
func (p *Point) MemoryWarning(m *Machine) []reports.Warning {
	weights, caches, err := p.Scenario.Engine.Resident(p.Scenario.Decoder, p.Scenario.Workload)
	if err != nil || m.Device.MemoryGB.Hi == 0 {
		return nil
	}
	// Marketed gigabytes are binary for most parts: only what exceeds those too
	// certainly does not fit.
	if limit := m.Device.MemoryGB.Hi * (1 << 30); float64(weights+caches) > limit {
		return []reports.Warning{{Code: "does-not-fit", Text: fmt.Sprintf(
			"%.1f GB of weights and %.1f GB of cache a GPU do not fit the %.0f GB of %s: this point cannot run as described",
			float64(weights)/1e9, float64(caches)/1e9, m.Device.MemoryGB.Hi, m.Device.Name)}}
	}
	return nil
}
