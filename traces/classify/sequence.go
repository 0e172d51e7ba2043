package classify

import (
	"strings"

	"decodegap/roofline"
)

// item is one kernel on its way to a class.
type item struct {
	k *Kernel
	named
	inNorm bool // part of a norm built from elementary kernels
}

// sequence is the kernels of one device in start order.
type sequence struct {
	c       *Classifier
	items   []item
	parents map[parentKey]string
}

func newSequence(c *Classifier, ks []Kernel) *sequence {
	s := &sequence{c: c, items: make([]item, len(ks)), parents: map[parentKey]string{}}
	for i := range ks {
		s.items[i] = item{k: &ks[i], named: c.named(ks[i].Name)}
	}
	return s
}

// setWord gives the kernel another class word, with the reason.
func (it *item) setWord(w word, why string) {
	c, phase, ok := lookupWord(w)
	if !ok {
		return
	}
	it.word, it.component, it.why = w, c, why
	if phase != "" {
		it.phase = phase
	}
}

// place puts the kernel into a component by its place; the word stays.
func (it *item) place(c roofline.Component, why string) {
	if it.final {
		return
	}
	it.component, it.why = c, why
}

// isMatmul: a matrix product whose place is still open.
func (it *item) isMatmul() bool {
	return it.component == matmul && it.word != "gemm_splitk_reduce"
}

// gemmLike: any matrix product, placed or not.
func (it *item) gemmLike() bool {
	f := it.word.family()
	switch {
	case f == "gemm_splitk_reduce", f == "moe_gemm_setup":
		return false
	case strings.HasPrefix(f, "gemm"), strings.HasPrefix(f, "gemv"), f == "ambiguous_cutlass":
		return true
	}
	switch roofline.Component(f) { // placed by an operator or the user
	case roofline.AttentionQKV, roofline.AttentionOut, roofline.MLPDense, roofline.LMHead,
		roofline.MoERouter, roofline.MoEShared, roofline.MoEExperts:
		return true
	}
	return it.expert()
}

// expert: a product over the routed experts.
func (it *item) expert() bool {
	f := it.word.family()
	return strings.HasPrefix(f, "moe_gemm") && f != "moe_gemm_setup" || f == "moe_mega" || it.word == "moe.experts"
}

// mixer: what a layer is built around, attention or a recurrence.
func (it *item) mixer() bool {
	switch it.word.family() {
	case "attention_decode", "attention_prefill", "attention_unified", "mla_decode", "mla_prefill", "ssm_gdn":
		return true
	}
	return false
}

// norm: a whole norm, or a part of one built from elementary kernels.
func (it *item) norm() bool {
	return it.inNorm || it.word == "norm" || it.word == "allreduce_norm_fused"
}

// generic: an elementary operation that may still be given to what surrounds
// it.
func (it *item) generic() bool { return !it.final && !it.inNorm && it.word.generic() }

// norms finds norms built from elementary kernels around their reciprocal
// root: cast, square, mean, add epsilon, rsqrt, product, cast, weight.
func (s *sequence) norms() {
	for i := range s.items {
		if s.items[i].word != "elementwise:rsqrt" {
			continue
		}
		lo := i
		for _, step := range []string{"elementwise:addscalar", "reduce:mean", "elementwise:pow", "copy_cast:copy"} {
			if lo > 0 && (s.items[lo-1].word == word(step) ||
				step == "elementwise:pow" && s.items[lo-1].word == "elementwise:mul") {
				lo--
			} else if step == "reduce:mean" {
				break
			}
		}
		hi := i
		for _, step := range []string{"elementwise:mul", "copy_cast:copy", "elementwise:mul"} {
			if hi+1 < len(s.items) && s.items[hi+1].word == word(step) {
				hi++
			}
		}
		if i-lo < 2 {
			continue // no mean ahead of it: not a norm
		}
		for j := lo; j <= hi; j++ {
			s.items[j].inNorm = true
			s.items[j].place(roofline.Norm, "square, mean, rsqrt and product in a row")
		}
	}
}

// eagerAttention finds attention written as product, softmax, product.
func (s *sequence) eagerAttention() {
	for i := range s.items {
		if s.items[i].word != "softmax" || s.items[i].component != roofline.Elementwise {
			continue
		}
		a, b := s.near(i, -1, 5), s.near(i, +1, 5)
		if a < 0 || b < 0 || s.topkSoon(i, 6) {
			continue
		}
		// Without operators a third product behind them, the output
		// projection, must come before a norm.
		bare := len(s.items[a].k.Parent) == 0 && len(s.items[b].k.Parent) == 0 && s.near(b, +1, 5) >= 0
		if !bare && (!s.batched(a) || !s.batched(b)) {
			continue
		}
		for j := a; j <= b; j++ {
			it := &s.items[j]
			if it.isMatmul() || it.generic() {
				it.setWord("attention_unified", "softmax between two products")
			}
		}
	}
}

// near is the nearest open product before or after i, or -1.
func (s *sequence) near(i, dir, most int) int {
	for n, j := 0, i+dir; n < most && j >= 0 && j < len(s.items); n, j = n+1, j+dir {
		if s.items[j].isMatmul() {
			return j
		}
		if s.items[j].norm() {
			return -1
		}
	}
	return -1
}

// batched: the operator above says so; without operators nothing does.
func (s *sequence) batched(i int) bool {
	for _, p := range s.items[i].k.Parent {
		if p == "aten::bmm" || p == "aten::baddbmm" || p == "aten::einsum" {
			return true
		}
		if p == "aten::linear" || p == "aten::addmm" {
			return false
		}
	}
	return false
}

func (s *sequence) topkSoon(i, most int) bool {
	for j := i; j < len(s.items) && j <= i+most; j++ {
		if f := s.items[j].word.family(); f == "sort_topk" || f == "moe_routing" {
			return true
		}
	}
	return false
}

// splitK gives each reduction of a split product the class of its product.
func (s *sequence) splitK() {
	last := -1
	for i := range s.items {
		it := &s.items[i]
		if it.word == "gemm_splitk_reduce" && it.component == matmul {
			if last >= 0 && i-last <= 4 {
				it.component = s.items[last].component
				it.why = "reduces the split product ahead of it"
			}
			continue
		}
		if it.gemmLike() || it.isMatmul() || strings.HasPrefix(string(it.word), "gem") {
			last = i
		}
	}
}

// classes turns the items into the answer.
func (s *sequence) classes() []Class {
	out := make([]Class, len(s.items))
	for i := range s.items {
		it := &s.items[i]
		c := Class{Component: it.component, Word: it.word.family(), Library: it.library,
			Precision: it.precision, Phase: it.phase, Known: true, Why: it.why}
		if !it.final && !c.Component.IsComm() && s.draft(it) {
			c.Component, c.Why = roofline.Draft, "annotation of the draft model"
		}
		if c.Component == matmul {
			c.Component = roofline.Other
			c.Why = "a matrix product whose place in the layer is not known"
		}
		if c.Component == roofline.Other {
			c.Known = it.final // a user may call a kernel other
		}
		out[i] = c
	}
	return out
}

func (s *sequence) draft(it *item) bool {
	for i, p := range it.k.Parent {
		if i == maxParents {
			break
		}
		if len(p) > maxName {
			p = p[:maxName]
		}
		key := parentKey{"draft\x00" + p, false, false}
		v, ok := s.parents[key]
		if !ok {
			if draftScope.MatchString(p) {
				v = "draft"
			}
			if len(s.parents) >= maxSeen {
				clear(s.parents)
			}
			s.parents[key] = v
		}
		if v != "" {
			return true
		}
	}
	return false
}
