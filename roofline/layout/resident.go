package layout

import (
	"decodegap/roofline"
	"decodegap/roofline/unit"
)

// Resident is what one GPU must hold: its share of all weights, whole
// embedding and all experts included, and the caches of its sequences. It
// leaves out activations, graphs and the engine's own buffers.
func (e Engine) Resident(d *roofline.Decoder, w roofline.Workload) (weights, caches unit.Bytes, err error) {
	if err := e.check(d, w); err != nil {
		return 0, 0, err
	}
	for _, stage := range e.stages(d, w) {
		stageWeights, stageCaches := e.resident(stage, w)
		if stageWeights+stageCaches > weights+caches {
			weights, caches = stageWeights, stageCaches
		}
	}
	return weights, caches, nil
}

// resident is what one GPU of a stage holds.
func (e Engine) resident(d *roofline.Decoder, w roofline.Workload) (weights, caches unit.Bytes) {
	b := newBuilder(e, d, w)
	if !e.Even {
		b.sequences = ceilDiv(w.Batch, w.DP) // of all slots: a stage keeps the caches of each
	}
	for _, t := range d.Tensors {
		share := t.Bytes * unit.Bytes(t.Repeat)
		switch {
		case t.Role == roofline.RoleEmbed:
			share *= unit.Bytes(b.tableShare())
		case t.Role == roofline.RoleExpertOutBias:
			share /= unit.Bytes(w.EP)
		case t.IsExpert():
			share /= unit.Bytes(b.moe)
		default:
			parts, _ := b.spreadOf(b.rule(t))
			share /= unit.Bytes(parts)
		}
		weights += share
	}
	for _, c := range d.Caches {
		c.TopK, c.Chunk = 0, 0 // these read less, but all is kept; a window frees what is older
		b.cache(c)
	}
	for _, o := range b.ops {
		caches += o.KVRead
	}
	return weights, caches
}

// tableShare is how much of the input embedding one GPU holds.
func (b *builder) tableShare() float64 {
	if !b.engine.Even {
		switch b.engine.table(b.d) {
		case TableWhole:
			return 1
		case TableHost:
			return 0
		}
	}
	return 1 / float64(b.n)
}
