//go:build cgo && linux

package cpu

// #include "sample.h"
import "C"

import (
	"fmt"
	"unsafe"

	"decodegap/probes"
	"decodegap/probes/reference"
)

// argmaxScratch is the bytes that argmax needs beside its operands.
func (m maker) argmaxScratch(tokens int) int64 {
	return int64(tokens*m.threads) * int64(unsafe.Sizeof(C.dg_highest{}))
}

// argmax writes the int32 index of each row's highest logit to ids: the first
// of equals. Two operations.
func (m maker) argmax(tokens, size int, logits, ids, scratch unsafe.Pointer) ([]op, error) {
	o, err := m.op(C.DG_HIGHEST)
	o.m, o.cols, o.x, o.y, o.scratch = C.int64_t(tokens), C.int64_t(size), logits, ids, scratch
	pick := o
	pick.run = C.dg_find(C.DG_PICK, C.DG_SCALAR)
	return []op{o, pick}, err
}

// sampleScratch is the bytes that sample needs beside its operands.
func (m maker) sampleScratch(tokens, size int) int64 {
	o := C.dg_op{m: C.int64_t(tokens), cols: C.int64_t(size)}
	return int64(C.dg_sample_scratch(&o, C.int(m.threads)))
}

// sample writes the int32 token that each row's number of random, float32 in
// [0, 1), draws: tokens ordered by falling logit, of equals the first. Three
// operations.
func (m maker) sample(how reference.Sampling, tokens, size int, logits, random, ids, scratch unsafe.Pointer) ([]op, error) {
	if !(how.Temperature > 0) || how.TopK < 0 || !(how.TopP > 0) {
		return nil, fmt.Errorf("sampling with %+v", how)
	}
	if size > 1<<31-1 {
		return nil, fmt.Errorf("%w: a vocabulary of %d", probes.ErrUnsupported, size)
	}
	ops := make([]op, 3)
	for i, kind := range []C.int{C.DG_HIGHEST, C.DG_TALLY, C.DG_DRAW} {
		o, err := m.op(kind)
		if err != nil {
			return nil, err
		}
		o.m, o.cols, o.n0 = C.int64_t(tokens), C.int64_t(size), C.int64_t(how.TopK)
		o.x, o.x3, o.y, o.scratch = logits, random, ids, scratch
		o.f0, o.f1 = C.float(1/how.Temperature), C.float(how.TopP)
		ops[i] = o
	}
	return ops, nil
}

// router is how tokens choose experts.
type router struct {
	experts, topK int
	groups, kept  int  // experts are chosen from the kept best groups; 0: from all
	sigmoid       bool // scores are sigmoids, else a softmax
	two           bool // a group counts its two best experts, else the best
	renormalise   bool
	scale         float32 // of the weights, 0: 1
}

// route writes each token's experts, best first, to ids (int32) and their
// weights, [tokens][topK] both. bias, float32 or nil, counts in the choice
// alone. Of equals the first expert is chosen.
func (m maker) route(r router, tokens int, logits, bias, ids, weights unsafe.Pointer) (op, error) {
	o, err := m.op(C.DG_ROUTE)
	if err != nil {
		return o, err
	}
	from := r.experts
	if r.groups > 1 {
		if r.experts%r.groups != 0 || r.kept < 1 || r.kept > r.groups {
			return o, fmt.Errorf("%d experts in %d groups of which %d are kept", r.experts, r.groups, r.kept)
		}
		from = r.experts / r.groups * r.kept
	}
	if r.topK < 1 || r.topK > from {
		return o, fmt.Errorf("%d of %d experts", r.topK, from)
	}
	if r.experts > C.DG_EXPERTS {
		return o, fmt.Errorf("%w: a router over %d experts: %d are the most", probes.ErrUnsupported, r.experts, C.DG_EXPERTS)
	}
	if r.scale == 0 {
		r.scale = 1
	}
	for _, f := range []struct {
		set  bool
		flag C.int64_t
	}{{r.sigmoid, C.DG_ROUTE_SIGMOID}, {r.two, C.DG_ROUTE_TWO}, {r.renormalise, C.DG_ROUTE_RENORMALISE}} {
		if f.set {
			o.n3 |= f.flag
		}
	}
	o.m, o.cols, o.n0 = C.int64_t(tokens), C.int64_t(r.experts), C.int64_t(r.topK)
	o.n1, o.n2, o.f0 = C.int64_t(r.groups), C.int64_t(r.kept), C.float(r.scale)
	o.x, o.w, o.y, o.y2 = logits, bias, ids, weights
	return o, nil
}

// reduce adds the threads' rows of size values, stride apart at x, into a row
// of each thread at y: at once, or, where slices has room for a row, a slice a
// thread first.
func (m maker) reduce(size, stride int, x, slices, y unsafe.Pointer) ([]op, error) {
	kinds := []C.int{C.DG_REDUCE}
	if slices != nil {
		kinds = []C.int{C.DG_REDUCE_SLICE, C.DG_REDUCE_SPREAD}
	}
	ops := make([]op, len(kinds))
	for i, kind := range kinds {
		o, err := m.op(kind)
		if err != nil {
			return nil, err
		}
		o.cols, o.n0, o.x, o.y, o.y2 = C.int64_t(size), C.int64_t(stride), x, y, slices
		ops[i] = o
	}
	return ops, nil
}
