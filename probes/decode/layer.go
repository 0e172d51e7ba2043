package decode

import (
	"errors"
	"fmt"

	"decodegap/roofline"
	"decodegap/roofline/unit"
)

// contents is what lies in one decoder block.
type contents struct {
	tensors []roofline.Tensor // one entry an instance
	caches  []roofline.Cache
}

// byLayer unfolds a decoder.
func byLayer(d *roofline.Decoder) map[int]*contents {
	at := map[int]*contents{roofline.Ends: {}}
	for i := range d.Layers {
		at[i] = &contents{}
	}
	for _, t := range d.Tensors {
		for _, i := range *t.At {
			if at[i] != nil {
				at[i].tensors = append(at[i].tensors, t)
			}
		}
	}
	for _, c := range d.Caches {
		for _, i := range *c.At {
			if at[i] != nil {
				at[i].caches = append(at[i].caches, c)
			}
		}
	}
	return at
}

// layer shapes one block; an error names the part that has no place.
func layer(d *roofline.Decoder, c *contents) (Layer, error) {
	found := map[roofline.Role][]roofline.Tensor{}
	biased := map[roofline.Component]map[roofline.Role]bool{}
	norms := 0
	for _, t := range c.tensors {
		switch {
		case t.Role == roofline.RoleNorm:
			norms++
		case !t.Matrix && (t.Role == roofline.RoleSinks || t.Role == roofline.RoleState || t.IsExpert()):
			return Layer{}, fmt.Errorf("has vectors of role %s", t.Role)
		case !t.Matrix:
			if biased[t.Component] == nil {
				biased[t.Component] = map[roofline.Role]bool{}
			}
			biased[t.Component][t.Role] = true
		default:
			found[t.Role] = append(found[t.Role], t)
		}
	}
	a, err := attention(d, found, c.caches, norms)
	if err != nil {
		return Layer{}, err
	}
	qkv := biased[roofline.AttentionQKV]
	a.Q.Bias, a.K.Bias, a.V.Bias = qkv[roofline.RoleQ], qkv[roofline.RoleK], qkv[roofline.RoleV]
	a.O.Bias = biased[roofline.AttentionOut][roofline.RoleOBias]
	l := Layer{Attention: a}
	switch dense, routed := found[roofline.RoleMLP], found[roofline.RoleExpert]; {
	case len(dense) > 0 && len(routed) == 0:
		l.Dense, err = feedForward(d, dense)
		if mlp := biased[roofline.MLPDense]; err == nil && len(mlp) > 0 {
			l.Dense.Up.Bias, l.Dense.Down.Bias = mlp[roofline.RoleMLP], mlp[roofline.RoleOBias]
			if l.Dense.Gate != nil {
				l.Dense.Gate.Bias = l.Dense.Up.Bias
			}
		}
	case len(routed) == 1 && len(dense) == 0:
		l.Mixture, err = mixture(d, found, routed[0])
	case len(routed) > 1:
		err = errors.New("has experts in several formats")
	case len(dense) > 0:
		err = errors.New("has a dense block beside its experts")
	default:
		err = errors.New("has no feed-forward block")
	}
	if err != nil {
		return Layer{}, err
	}
	for _, role := range []roofline.Role{roofline.RoleQ, roofline.RoleK, roofline.RoleV, roofline.RoleO, roofline.RoleMLP,
		roofline.RoleRouter, roofline.RoleExpert, roofline.RoleShared, roofline.RoleSharedGate} {
		delete(found, role)
	}
	for role := range found {
		return Layer{}, fmt.Errorf("has a %s matrix", role)
	}
	return l, nil
}

func attention(d *roofline.Decoder, found map[roofline.Role][]roofline.Tensor, caches []roofline.Cache, norms int) (Attention, error) {
	if len(caches) != 1 || caches[0].Kind != roofline.CacheKV {
		for _, c := range caches {
			if c.Kind != roofline.CacheKV {
				return Attention{}, fmt.Errorf("keeps a cache of kind %q", c.Kind)
			}
		}
		return Attention{}, fmt.Errorf("has %d caches, one was expected", len(caches))
	}
	c := caches[0]
	if c.Chunk > 0 {
		return Attention{}, errors.New("attends in chunks")
	}
	a := Attention{Heads: c.Heads, KVHeads: c.KVHeads, HeadDim: c.HeadDim, Window: c.Window, NormQK: norms == 4}
	if norms != 2 && norms != 4 {
		return Attention{}, fmt.Errorf("has %d norms; two, or four with query and key norms, were expected", norms)
	}
	for _, m := range []struct {
		role       roofline.Role
		to         *Matrix
		rows, cols int
	}{
		{roofline.RoleQ, &a.Q, c.Heads * c.HeadDim, d.Hidden},
		{roofline.RoleK, &a.K, c.KVHeads * c.HeadDim, d.Hidden},
		{roofline.RoleV, &a.V, c.KVHeads * c.HeadDim, d.Hidden},
		{roofline.RoleO, &a.O, d.Hidden, c.Heads * c.HeadDim},
	} {
		ts := found[m.role]
		if len(ts) != 1 {
			return Attention{}, fmt.Errorf("has %d %s matrices, one was expected", len(ts), m.role)
		}
		var err error
		if *m.to, err = matrix(ts[0], m.rows, m.cols); err != nil {
			return Attention{}, err
		}
	}
	return a, nil
}

// matrix gives a tensor its shape.
func matrix(t roofline.Tensor, rows, cols int) (Matrix, error) {
	if int64(rows)*int64(cols) != t.Params {
		return Matrix{}, fmt.Errorf("has a %s matrix of %d weights where %d×%d was expected", t.Role, t.Params, rows, cols)
	}
	return Matrix{Component: t.Component, Rows: rows, Cols: cols, Format: t.Format, Bytes: t.Bytes}, nil
}

// feedForward shapes two matrices (up, down) or three (gate, up, down).
func feedForward(d *roofline.Decoder, ts []roofline.Tensor) (*FeedForward, error) {
	if len(ts) != 2 && len(ts) != 3 {
		return nil, fmt.Errorf("has %d feed-forward matrices; two, or three with a gate, were expected", len(ts))
	}
	width := int(ts[0].Params / int64(d.Hidden))
	shaped := make([]Matrix, len(ts))
	for i, t := range ts {
		rows, cols := width, d.Hidden
		if i == len(ts)-1 {
			rows, cols = cols, rows
		}
		var err error
		if shaped[i], err = matrix(t, rows, cols); err != nil {
			return nil, err
		}
	}
	f := &FeedForward{Up: shaped[len(ts)-2], Down: shaped[len(ts)-1]}
	if len(ts) == 3 {
		f.Gate = &shaped[0]
	}
	return f, nil
}

func mixture(d *roofline.Decoder, found map[roofline.Role][]roofline.Tensor, routed roofline.Tensor) (*Mixture, error) {
	routers := found[roofline.RoleRouter]
	if len(routers) != 1 {
		return nil, fmt.Errorf("has %d routers, one was expected", len(routers))
	}
	m := &Mixture{Experts: d.Experts, TopK: d.TopK, SharedGate: len(found[roofline.RoleSharedGate]) > 0}
	var err error
	if m.Router, err = matrix(routers[0], d.Experts, d.Hidden); err != nil {
		return nil, err
	}
	if routed.Each <= 0 || routed.Params%(routed.Each*int64(d.Experts)) != 0 {
		return nil, fmt.Errorf("has experts of %d weights that are not %d times matrices of %d", routed.Params, d.Experts, routed.Each)
	}
	count := int(routed.Params / (routed.Each * int64(d.Experts)))
	one := routed
	one.Params, one.Bytes = routed.Each, routed.Bytes/unit.Bytes(count*d.Experts)
	ts := make([]roofline.Tensor, count)
	for i := range ts {
		ts[i] = one
	}
	f, err := feedForward(d, ts)
	if err != nil {
		return nil, err
	}
	m.Expert = *f
	if shared := found[roofline.RoleShared]; len(shared) > 0 {
		if m.Shared, err = feedForward(d, shared); err != nil {
			return nil, err
		}
	}
	return m, nil
}
