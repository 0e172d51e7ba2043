package classify

import (
	"strings"

	"decodegap/roofline"
)

// core is a run of attention or recurrence kernels without a product between
// them: split attention and its combine, or prefill beside decode.
type core struct {
	first, last int
	ssm, mla    bool
}

// cores finds what the layers are built around.
func (s *sequence) cores() []core {
	var out []core
	gemm := true
	for i := range s.items {
		it := &s.items[i]
		switch {
		case it.mixer():
			f := it.word.family()
			if gemm || len(out) == 0 {
				out = append(out, core{first: i})
			}
			c := &out[len(out)-1]
			c.last = i
			c.ssm = c.ssm || f == "ssm_gdn"
			c.mla = c.mla || strings.HasPrefix(f, "mla_")
			gemm = false
		case it.gemmLike():
			gemm = true
		}
	}
	return out
}

// layers walks from core to core. Between two of them lie, in this order, the
// output projection, a norm, the feed-forward part, a norm, and what leads to
// the next core: its projections, or the head and the next step's embedding.
// The norm that ends a part is the first with a product ahead of it in that
// part, so norms over queries and keys, and doubled norms, do no harm.
func (s *sequence) layers() {
	cores := s.cores()
	if len(cores) == 0 {
		return
	}
	s.opening(cores[0])
	for i, c := range cores {
		hi, next := len(s.items), (*core)(nil)
		if i+1 < len(cores) {
			next = &cores[i+1]
			hi = next.first
		}
		s.between(c, c.last+1, hi, next)
	}
	for _, c := range cores {
		for i := c.first; i <= c.last; i++ {
			if it := &s.items[i]; it.generic() {
				it.place(roofline.AttentionCore, "between the kernels of one attention")
			}
		}
	}
}

// opening handles what lies before the first core: a step's beginning, or
// the rest of a layer where the capture began inside one.
func (s *sequence) opening(c core) {
	mid := -1
	for i := 0; i < c.first; i++ {
		if it := &s.items[i]; it.word.family() == "activation" || it.expert() {
			mid = i
		}
	}
	if mid < 0 {
		s.approach(0, c.first, &c)
		return
	}
	n2 := s.nextNorm(mid, c.first)
	if n2 < 0 {
		return
	}
	// Only the product beside the activation is certain: what comes earlier
	// may still be the output projection of a layer that is not whole.
	lo := 0
	for i := mid; i >= 0; i-- {
		if s.items[i].norm() {
			lo = i
			break
		}
	}
	s.feedForward(lo, n2)
	s.approach(n2, c.first, &c)
}

// between handles [lo,hi), from the end of one core to the next.
func (s *sequence) between(c core, lo, hi int, next *core) {
	n1 := s.normAfterGemm(lo, hi)
	if n1 < 0 {
		s.output(c, lo, hi, true)
		return
	}
	if act := s.first(lo, n1, "activation"); act >= 0 {
		// Attention and feed-forward side by side, one norm for both.
		s.output(c, lo, n1, true)
		s.approach(n1, hi, next)
		return
	}
	s.output(c, lo, n1, false)
	n2 := s.normAfterGemm(n1, hi)
	if n2 < 0 {
		if next == nil {
			s.feedForward(n1, hi)
		}
		return
	}
	s.feedForward(n1, n2)
	s.approach(n2, hi, next)
}

// normAfterGemm is the first norm in [lo,hi) with a product ahead of it.
func (s *sequence) normAfterGemm(lo, hi int) int {
	gemm := false
	for i := lo; i < hi; i++ {
		switch it := &s.items[i]; {
		case it.gemmLike():
			gemm = true
		case gemm && it.norm():
			return i
		}
	}
	return -1
}

func (s *sequence) nextNorm(lo, hi int) int {
	for i := lo; i < hi; i++ {
		if s.items[i].norm() {
			return i
		}
	}
	return -1
}

// first is the first kernel of a family in [lo,hi), or -1.
func (s *sequence) first(lo, hi int, family string) int {
	for i := lo; i < hi; i++ {
		if s.items[i].word.family() == family {
			return i
		}
	}
	return -1
}

// output places the projection behind a core. onlyFirst: nothing separates it
// from what follows, so only the first product is certain.
func (s *sequence) output(c core, lo, hi int, onlyFirst bool) {
	var open []int
	for i := lo; i < hi; i++ {
		if s.items[i].isMatmul() {
			open = append(open, i)
		}
	}
	for n, i := range open {
		it := &s.items[i]
		switch {
		case c.ssm:
			it.place(roofline.SSM, "projection behind the recurrence")
		case c.mla && n == 0 && len(open) > 1:
			it.place(roofline.AttentionQKV, "behind latent attention, ahead of the output projection: kv_b absorbed")
		case !onlyFirst || n == 0 || c.mla && n == 1:
			it.place(roofline.AttentionOut, "between attention and the next norm")
		}
	}
	end := hi
	if len(open) > 0 {
		end = open[0]
	}
	for i := lo; i < end; i++ {
		if it := &s.items[i]; it.generic() && it.word.family() == "copy_cast" && len(open) > 0 {
			it.place(roofline.AttentionCore, "between attention and its output projection")
		}
	}
}

// approach handles what lies between the norm that ends a layer and the next
// core: projections; or, where a token is picked or an embedding read, the
// head first and then the next step's beginning.
func (s *sequence) approach(lo, hi int, next *core) {
	if next == nil {
		s.head(lo, hi)
		return
	}
	start := s.stepStart(lo, hi)
	if start > lo {
		s.head(lo, start)
	}
	s.projections(start, hi, *next)
}

// stepStart is where in [lo,hi) a step begins: behind the last sampling
// kernel, else at an embedding; lo where no step begins.
func (s *sequence) stepStart(lo, hi int) int {
	start, gemm := lo, false
	for i := lo; i < hi; i++ {
		it := &s.items[i]
		switch f := it.word.family(); {
		case f == "sampling":
			start = i + 1
		case start == lo && gemm && (f == "embedding" || f == "gather" && s.beforeNorm(i, hi)):
			start = i
		case start == lo && f == "embedding" && i > lo:
			start = i
		case start == lo && gemm && it.norm() && strings.Contains(it.named.norm, "embedding"):
			start = i
		case it.gemmLike():
			gemm = true
		}
	}
	return start
}

// beforeNorm: a norm comes before the next product. What lies far off is not
// looked at, which also bounds the work.
func (s *sequence) beforeNorm(i, hi int) bool {
	for j := i + 1; j < hi && j <= i+64; j++ {
		if s.items[j].norm() {
			return true
		}
		if s.items[j].gemmLike() {
			return false
		}
	}
	return false
}

// head places the output head and what picks the token.
func (s *sequence) head(lo, hi int) {
	last := -1
	for i := lo; i < hi; i++ {
		if it := &s.items[i]; it.isMatmul() {
			it.place(roofline.LMHead, "behind the last norm, with no attention after it")
			last = i
		} else if it.gemmLike() {
			last = i
		}
	}
	if last < 0 {
		return
	}
	for i := last + 1; i < hi; i++ {
		it := &s.items[i]
		switch it.word.family() {
		case "softmax", "sort_topk", "reduce", "random", "scan", "copy_cast", "scatter", "gather":
			if it.generic() {
				it.place(roofline.Sampling, "behind the output head")
			}
		}
	}
}

// projections places what leads to a core: the step's beginning if it is
// there, query, key and value products, rotary embedding, cache write.
func (s *sequence) projections(lo, hi int, next core) {
	indexer := s.first(lo, hi, "dsa_indexer") >= 0
	edge := lo // behind it only the attention call is being prepared
	for i := lo; i < hi; i++ {
		it := &s.items[i]
		switch {
		case it.isMatmul() && s.angles(i, lo, hi):
			it.place(roofline.Rope, "product of positions and frequencies: rotary angles")
		case it.isMatmul() && next.ssm:
			it.place(roofline.SSM, "projection ahead of the recurrence")
		case it.isMatmul() && indexer:
			// the indexer's own projections stand among them
		case it.isMatmul():
			it.place(roofline.AttentionQKV, "between a norm and attention")
		case it.generic() && it.word.family() == "gather" && s.beforeNorm(i, hi):
			it.place(roofline.Embedding, "row gather ahead of the first norm")
		case it.generic() && (it.word == "elementwise:cos" || it.word == "elementwise:sin"):
			s.angleChain(i, lo, hi)
		case it.generic() && it.word == "elementwise:neg":
			s.rotation(i, lo, hi)
		}
		if it.gemmLike() || it.norm() {
			edge = i + 1
		}
	}
	if next.ssm {
		return
	}
	for i := edge; i < hi; i++ {
		it := &s.items[i]
		if f := it.word.family(); it.component == roofline.Rope || f == "rope" || f == "rope_quant_fused" || f == "kv_cache_write" {
			edge = i + 1
		}
		if it.generic() && it.component == roofline.Elementwise &&
			(it.word.family() == "scatter" || it.word == "copy_cast:cat" && edge > lo) {
			it.place(roofline.KVWrite, "grows or fills the cache ahead of attention")
			edge = i + 1
		}
	}
	for i := edge; i < hi && edge > lo; i++ {
		if it := &s.items[i]; it.generic() {
			it.place(roofline.AttentionCore, "prepares the attention call")
		}
	}
}

// angles: a small single-precision product near sine and cosine.
func (s *sequence) angles(i, lo, hi int) bool {
	it := &s.items[i]
	if it.word != "gemm_fp32" && it.precision != "fp32" && !s.batched(i) {
		return false
	}
	if i > lo && strings.Contains(s.items[i-1].named.norm, "arange_bmm") {
		return true
	}
	for j := i + 1; j < hi && j <= i+4; j++ {
		if w := s.items[j].word; w == "elementwise:cos" || w == "elementwise:sin" {
			return true
		}
	}
	return false
}

// angleChain places sine or cosine with the concatenation ahead of it and the
// scaling and casts behind it.
func (s *sequence) angleChain(i, lo, hi int) {
	const why = "sine and cosine of the positions"
	s.items[i].place(roofline.Rope, why)
	if i > lo && s.items[i-1].word == "copy_cast:cat" && s.items[i-1].generic() {
		s.items[i-1].place(roofline.Rope, why)
	}
	for j := i + 1; j < hi && j <= i+3; j++ {
		it := &s.items[j]
		if !it.generic() || it.inNorm || it.word != "elementwise:scale" && it.word != "copy_cast:copy" {
			break
		}
		it.place(roofline.Rope, why)
	}
}

// rotation places the eager rotary embedding around its negation: product,
// negation, concatenation, product, sum.
func (s *sequence) rotation(i, lo, hi int) {
	const why = "product, negation, concatenation, product and sum: rotary embedding"
	if i+1 >= hi || s.items[i+1].word != "copy_cast:cat" {
		return
	}
	for j, w := range map[int]word{i - 1: "elementwise:mul", i: "elementwise:neg", i + 1: "copy_cast:cat", i + 2: "elementwise:mul", i + 3: "elementwise:add"} {
		if j >= lo && j < hi && s.items[j].word == w && s.items[j].generic() {
			s.items[j].place(roofline.Rope, why)
		}
	}
}
