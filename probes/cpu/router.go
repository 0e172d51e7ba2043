//go:build cgo && linux

package cpu

// #include "kernels.h"
import "C"

import (
	"context"
	"fmt"

	"decodegap/probes"
)

// Router is the choice of experts.
var Router = probes.Probe{
	Name:    "cpu/router",
	Doc:     "choice of the top-k experts from the logits of a mixture of experts, biases and groups included; its time is the result",
	Formula: "none: logits lie in the cache",
	Checked: "every token's experts and weights against float64 on the same logits",
	Check:   func(probes.Host) error { return nil },
	Plan: func(probes.Host) []probes.Case {
		return []probes.Case{
			routerCase("sigmoid, 8 of 256 in 4 of 8 groups, 1 token", 1, router{experts: 256, topK: 8, groups: 8, kept: 4, sigmoid: true}),
			routerCase("softmax, 8 of 128, 1 token", 1, router{experts: 128, topK: 8}),
			routerCase("softmax, 10 of 512, 1 token", 1, router{experts: 512, topK: 10}),
			routerCase("sigmoid, 8 of 256 in 4 of 8 groups, 16 tokens", 16, router{experts: 256, topK: 8, groups: 8, kept: 4, sigmoid: true}),
		}
	},
	Prepare: prepareRouter,
}

func routerCase(name string, tokens int, r router) probes.Case {
	shape := map[string]int{"m": tokens, "experts": r.experts, "top_k": r.topK}
	if r.groups > 1 {
		shape["groups"], shape["groups_kept"] = r.groups, r.kept
	}
	if r.sigmoid {
		shape["sigmoid"] = 1
	}
	return probes.Case{Name: name, Shape: shape}
}

func prepareRouter(ctx context.Context, h probes.Host, c probes.Case) (probes.Subject, error) {
	size, err := values(c, "m", "experts", "top_k")
	if err != nil {
		return nil, err
	}
	tokens := size[0]
	r := router{
		experts: size[1], topK: size[2], groups: c.Shape["groups"], kept: c.Shape["groups_kept"],
		sigmoid: c.Shape["sigmoid"] == 1, two: c.Shape["sigmoid"] == 1, renormalise: true, scale: 2.5,
	}
	var logits, bias, weights []float32
	var ids *memory
	s, err := newChain(ctx, h, c, C.DG_ROUTE, 1, func(m maker, s *subject, _ int) ([]op, error) {
		x, values, err := s.float32s(tokens*r.experts, 4, 1)
		if err != nil {
			return nil, err
		}
		b, biases, err := s.float32s(r.experts, 0.1, 2)
		if err != nil {
			return nil, err
		}
		w, out, err := s.float32s(tokens*r.topK, 1, 3)
		if err != nil {
			return nil, err
		}
		if ids, err = s.allocate(int64(4 * tokens * r.topK)); err != nil {
			return nil, err
		}
		logits, bias, weights = values, biases, out
		s.poison = out
		o, err := m.route(r, tokens, x.at, b.at, ids.at, w.at)
		return []op{o}, err
	})
	if err != nil {
		return nil, err
	}
	s.verify = func(context.Context, int) (probes.Correctness, error) {
		for token := range tokens {
			err := routedAs(r, logits[token*r.experts:][:r.experts], bias,
				of[int32](ids)[token*r.topK:][:r.topK], weights[token*r.topK:][:r.topK])
			if err != nil {
				return probes.Correctness{}, fmt.Errorf("token %d: %w", token, err)
			}
		}
		right := exact(true)
		right.Values, right.Comment = tokens*r.topK, "experts and weights as float64 has them"
		return right, nil
	}
	return s, nil
}
