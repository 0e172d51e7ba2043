package classify

import "decodegap/roofline"

// feedForward places [lo,hi), from the norm behind attention to the norm that
// ends the layer.
func (s *sequence) feedForward(lo, hi int) {
	for i := lo; i < hi; i++ {
		it := &s.items[i]
		f := it.word.family()
		if it.expert() || f == "moe_routing" || f == "moe_permute" || f == "moe_finalize" ||
			f == "sort_topk" && it.generic() || f == "alltoall_ep" || f == "gemm_router" {
			s.experts(lo, hi)
			return
		}
	}
	s.gating(lo, hi)
	for i := lo; i < hi; i++ {
		if it := &s.items[i]; it.isMatmul() {
			it.place(roofline.MLPDense, "between the norms of a layer without experts")
		}
	}
}

// gating gives the product behind an activation to it: silu(gate) × up, with
// the up projection possibly between.
func (s *sequence) gating(lo, hi int) {
	pending := false
	gemms := 0
	for i := lo; i < hi; i++ {
		it := &s.items[i]
		switch {
		case it.word.family() == "activation":
			pending, gemms = true, 0
		case it.gemmLike():
			if gemms++; gemms > 1 {
				pending = false
			}
		case pending && it.word == "elementwise:mul" && it.generic():
			it.place(roofline.Activation, "product with the activated gate")
			pending = false
		}
	}
}

// routing is where the parts of an expert layer lie.
type routing struct {
	router    int // the router's product, -1 if not among open ones
	top, done int // first and last kernel of the top-k and its weights, -1 if none
	from, to  int // first and last product over the experts, -1 if none
	last      int // last product that belongs to the experts, -1 if none
}

// experts places a layer with routed experts.
func (s *sequence) experts(lo, hi int) {
	r := s.route(lo, hi)
	r.last = r.to
	for j := hi - 1; r.to < 0 && r.done >= 0 && j > r.done; j-- {
		if s.items[j].gemmLike() { // experts run one by one
			r.last = j
			break
		}
	}
	s.gating(lo, hi)
	for i := lo; i < hi; i++ {
		it := &s.items[i]
		switch {
		case it.isMatmul():
			s.expertProduct(i, r)
		case it.generic() && it.component != roofline.Activation:
			s.expertGeneric(i, r, hi)
		}
	}
}

// route finds the parts.
func (s *sequence) route(lo, hi int) routing {
	r := routing{router: -1, top: -1, done: -1, from: -1, to: -1, last: -1}
	for i := lo; i < hi; i++ {
		it := &s.items[i]
		f := it.word.family()
		if r.top < 0 && (f == "moe_routing" || f == "sort_topk" && it.generic()) {
			r.top = i
		}
		if it.expert() {
			if r.from < 0 {
				r.from = i
			}
			r.to = i
		}
		if r.top < 0 && (it.isMatmul() || it.word == "gemm_router" || it.word == "moe.router") {
			r.router = i
		}
	}
	if r.top < 0 {
		if n := s.openGemms(lo, r.from); n != 1 {
			r.router = -1 // which of several is the router is not known
		}
		return r
	}
	r.done = r.top
	for i := r.top + 1; i < hi; i++ {
		it := &s.items[i]
		f := it.word.family()
		again := f == "moe_routing" || f == "sort_topk" && it.word != "sort_topk:fused" && i == r.done+1
		weights := it.word == "reduce:sum" || it.word == "elementwise:div" || it.word == "copy_cast:copy" && i == r.done+1
		if !again && !weights || i > r.done+3 {
			break
		}
		r.done = i
	}
	return r
}

func (s *sequence) openGemms(lo, hi int) int {
	n := 0
	for i := lo; i < hi; i++ {
		if s.items[i].isMatmul() {
			n++
		}
	}
	return n
}

// expertProduct places a dense product in an expert layer.
func (s *sequence) expertProduct(i int, r routing) {
	it := &s.items[i]
	switch {
	case i == r.router:
		it.place(roofline.MoERouter, "the last product ahead of the top-k")
	case r.top < 0 && r.router < 0 && i < r.from:
		// router or shared expert: not known
	case r.from >= 0:
		it.place(roofline.MoEShared, "a dense product in a layer with routed experts")
	case i > r.top && r.top >= 0:
		it.place(roofline.MoEExperts, "a product behind the top-k, expert by expert")
	case r.top >= 0:
		it.place(roofline.MoEShared, "a dense product ahead of the router")
	}
}

// expertGeneric places an elementary operation in an expert layer.
func (s *sequence) expertGeneric(i int, r routing, hi int) {
	it := &s.items[i]
	f := it.word.family()
	switch {
	case r.router >= 0 && i < r.router, r.router < 0 && r.top >= 0 && i < r.top && f != "softmax":
		// ahead of the router: whose it is is not known
	case r.top >= 0 && i <= r.done:
		if (f == "fill" || f == "copy_cast") && s.quantised(i, hi) {
			it.place(roofline.MoEDispatch, "pads the tokens ahead of their quantisation for the experts")
			return
		}
		it.place(roofline.MoERouter, "between the router's product and the end of its top-k")
	case r.last >= 0 && i > r.last:
		if it.word == "elementwise:add" && i+1 < len(s.items) && s.normSoon(i) {
			return // the residual
		}
		it.place(roofline.MoECombine, "behind the last product over the experts")
	case r.from >= 0 && i > r.from:
		it.place(roofline.MoEExperts, "between the products over the experts")
	case r.from >= 0:
		it.place(roofline.MoEDispatch, "between the top-k and the experts")
	case f != "scatter" && f != "reduce" && it.word != "elementwise:mul" && it.word != "elementwise:add":
		it.place(roofline.MoEDispatch, "picks tokens for experts run one by one")
	default:
		it.place(roofline.MoECombine, "adds up experts run one by one")
	}
}

// quantised: the next kernels, at most three, end in a quantisation.
func (s *sequence) quantised(i, hi int) bool {
	for j := i + 1; j < hi && j <= i+3; j++ {
		if s.items[j].word.family() == "quantize" {
			return true
		}
		if f := s.items[j].word.family(); f != "fill" && f != "copy_cast" {
			return false
		}
	}
	return false
}

// normSoon: a norm begins within two kernels.
func (s *sequence) normSoon(i int) bool {
	for j := i + 1; j < len(s.items) && j <= i+2; j++ {
		if s.items[j].norm() {
			return true
		}
	}
	return false
}
