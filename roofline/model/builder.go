package model

import (
	"fmt"
	"strconv"

	"decodegap/roofline"
	"decodegap/roofline/unit"
)

// Builder puts a decoder together, layer by layer, folding identical weights.
// Families use it to say which matrices a layer has; it decides how each is
// stored.
type Builder struct {
	c *Config
	q *Quant
	d *roofline.Decoder

	h                *headers    // nil without tensor headers
	assume           *Format     // --weights: every matrix in this format, router left out
	root             string      // module path above "layers"
	embed, finalNorm string      // of families that name them otherwise
	prefix           string      // of the current layer
	here             *exclusions // narrowed to the current layer

	at   int                        // number of the current layer, −1 outside of all
	last map[roofline.Component]int // at + 2 where the component was met last

	tensors map[roofline.Tensor]int // by everything but Name and Repeat
	caches  map[roofline.Cache]int
	kernels map[roofline.Kernels]int
}

func newBuilder(c *Config, q *Quant, d *roofline.Decoder, assume *Format) *Builder {
	return &Builder{
		c: c, q: q, d: d, assume: assume, root: "model", at: -1, last: map[roofline.Component]int{},
		tensors: map[roofline.Tensor]int{}, caches: map[roofline.Cache]int{}, kernels: map[roofline.Kernels]int{},
	}
}

// layer starts decoder block i.
func (b *Builder) layer(i int) {
	if b.h != nil {
		b.root = b.h.layers // names of one model differ between releases of the library
	}
	b.prefix = join(b.root, "layers.") + strconv.Itoa(i) + "."
	b.at = i
	if b.q.excluded != nil {
		b.here = b.q.excluded.under(b.prefix)
	}
}

// mark notes that the current layer has a component.
func (b *Builder) mark(c roofline.Component) {
	if b.d.LayersWith == nil {
		b.d.LayersWith = map[roofline.Component]int{}
	}
	if b.last[c] != b.at+2 {
		b.last[c] = b.at + 2
		b.d.LayersWith[c]++
	}
}

// add folds one weight in.
func (b *Builder) add(t roofline.Tensor) {
	b.mark(t.Component)
	key := t
	key.Name, key.Repeat = "", 0
	if i, ok := b.tensors[key]; ok {
		b.d.Tensors[i].Repeat++
		return
	}
	b.tensors[key] = len(b.d.Tensors)
	t.Repeat = 1
	b.d.Tensors = append(b.d.Tensors, t)
}

// matrix adds a 2-D projection of the current layer that a checkpoint may
// quantize. Module is its path below the layer.
func (b *Builder) matrix(role roofline.Role, c roofline.Component, module string, params int64) {
	path := b.prefix + module
	t := roofline.Tensor{Role: role, Component: c, Name: path, Params: params, Matrix: true}
	if bytes, f, ok := b.header(path, params); ok {
		b.exact(t, bytes, f)
		return
	}
	f, from := b.stored(path)
	t.Bytes, t.Format, t.Math, t.Evidence = unit.Bytes(float64(params)*f.Bytes), f.Name, f.Math, from
	b.add(t)
}

// header takes a module's bytes from the tensor headers, if there are any.
func (b *Builder) header(path string, params int64) (float64, Format, bool) {
	if b.h == nil || b.assume != nil {
		return 0, Format{}, false
	}
	bytes, f, ok := b.h.take(path, params)
	if !ok {
		b.h.missing = append(b.h.missing, path)
	}
	return bytes, f, ok
}

// exact adds a tensor whose bytes the headers state.
func (b *Builder) exact(t roofline.Tensor, bytes float64, f Format) {
	t.Bytes, t.Format, t.Math, t.Evidence = unit.Bytes(bytes), f.Name, f.Math, roofline.FromHeaders
	b.add(t)
}

// stored is the format of one quantizable module and what says so.
func (b *Builder) stored(module string) (Format, roofline.Evidence) {
	if b.assume != nil {
		return *b.assume, roofline.FromAssumption
	}
	return b.q.of(b.here, module), b.q.From
}

// plain adds a matrix that no checkpoint quantizes, in the given format.
func (b *Builder) plain(role roofline.Role, c roofline.Component, module string, params int64, f Format) {
	b.whole(roofline.Tensor{Role: role, Component: c, Name: b.prefix + module, Params: params, Matrix: true, Math: f.Math}, f)
}

// whole adds a tensor that is not quantized: from the headers, else in format f.
func (b *Builder) whole(t roofline.Tensor, f Format) {
	if bytes, stored, ok := b.header(t.Name, t.Params); ok {
		stored.Math = t.Math
		b.exact(t, bytes, stored)
		return
	}
	t.Bytes, t.Format, t.Evidence = unit.Bytes(float64(t.Params)*f.Bytes), f.Name, b.q.From
	b.add(t)
}

// vector adds counted parameters that multiply nothing: biases, sinks.
func (b *Builder) vector(role roofline.Role, c roofline.Component, module string, params int64) {
	if params > 0 {
		b.whole(roofline.Tensor{Role: role, Component: c, Name: b.prefix + module, Params: params}, BF16)
	}
}

// norm adds norm weights of the current layer, by convention uncounted: the
// same number under each name.
func (b *Builder) norm(params int, modules ...string) {
	for _, m := range modules {
		b.whole(roofline.Tensor{Role: roofline.RoleNorm, Component: roofline.Norm, Name: b.prefix + m, Params: int64(params), Uncounted: true}, BF16)
	}
}

// indexNorm adds the weight and bias of a norm that only the sparse-attention
// index needs.
func (b *Builder) indexNorm(module string, params int) {
	for _, part := range []string{"", ".bias"} {
		b.whole(roofline.Tensor{Role: roofline.RoleNorm, Component: roofline.Norm, Name: b.prefix + module + part,
			Params: int64(params), Uncounted: true, IndexNorm: true}, BF16)
	}
}

// experts adds the routed experts of the current layer: for each expert, one
// matrix of each parameters under each of the names.
func (b *Builder) experts(module string, each int64, names ...string) {
	e := b.d.Experts
	base := b.prefix + module + "."
	t := roofline.Tensor{
		Role: roofline.RoleExpert, Component: roofline.MoEExperts, Name: b.prefix + module,
		Params: int64(e) * int64(len(names)) * each, Matrix: true,
	}
	if b.h != nil && b.assume == nil {
		if bytes, f, ok := b.h.takeBelow(t.Name, b.h.below(base), t.Params); ok {
			b.exact(t, bytes, f)
			return
		}
		b.h.missing = append(b.h.missing, t.Name)
	}
	var bytes float64
	var first Format
	var from roofline.Evidence
	mixed := false
	count := 1
	if b.assume == nil && b.q.perExpert(b.here, base) {
		count = e
	}
	for j := range count {
		for _, n := range names {
			f, ev := b.stored(base + strconv.Itoa(j) + "." + n)
			mixed = mixed || (first.Name != "" && f.Name != first.Name)
			first, from = f, ev
			bytes += f.Bytes * float64(each)
		}
	}
	bytes *= float64(e) / float64(count)
	label := first.Name
	if mixed {
		label = "mixed"
	}
	t.Bytes, t.Format, t.Math, t.Evidence = unit.Bytes(bytes), label, first.Math, from
	b.add(t)
}

// router adds the router matrix; moe_router_dtype float32 stores it in FP32.
// An assumed format leaves the router's bytes out and says so.
func (b *Builder) router(module string) {
	if b.assume != nil {
		params := int64(b.d.Hidden) * int64(b.d.Experts)
		b.add(roofline.Tensor{Role: roofline.RoleRouter, Component: roofline.MoERouter, Name: b.prefix + module,
			Params: params, Format: "left out", Math: roofline.BF16, Evidence: roofline.FromAssumption, Matrix: true})
		return
	}
	f := BF16
	if b.c.String("moe_router_dtype") == "float32" {
		f = FP32
	}
	b.plain(roofline.RoleRouter, roofline.MoERouter, module, int64(b.d.Hidden)*int64(b.d.Experts), f)
}

// cache folds one layer's cache in.
func (b *Builder) cache(c roofline.Cache) {
	b.mark(c.Component)
	c.Repeat = 0
	if i, ok := b.caches[c]; ok {
		b.d.Caches[i].Repeat++
		return
	}
	b.caches[c] = len(b.d.Caches)
	key := c
	key.Repeat = 1
	b.d.Caches = append(b.d.Caches, key)
}

// launch adds kernels to the current layer's critical path.
func (b *Builder) launch(c roofline.Component, count int) {
	b.foldKernels(roofline.Kernels{Component: c, Count: count})
}

// launchDense adds kernels that run only without the sparse index.
func (b *Builder) launchDense(c roofline.Component, count int) {
	b.foldKernels(roofline.Kernels{Component: c, Count: count, OnlyDense: true})
}

func (b *Builder) foldKernels(k roofline.Kernels) {
	b.mark(k.Component)
	if i, ok := b.kernels[k]; ok {
		b.d.Kernels[i].Repeat++
		return
	}
	b.kernels[k] = len(b.d.Kernels)
	k.Repeat = 1
	b.d.Kernels = append(b.d.Kernels, k)
}

// ends adds embedding, final norm and head. The head is read in full, tied to
// the embedding or not; a tied table is counted once, as the head.
func (b *Builder) ends(tied bool) {
	b.at = -1
	b.prefix = ""
	params := int64(b.d.Vocab) * int64(b.d.Hidden)
	embed, norm := join(b.root, "embed_tokens"), join(b.root, "norm")
	if b.embed != "" {
		embed, norm = join(b.root, b.embed), join(b.root, b.finalNorm)
	}
	b.whole(roofline.Tensor{Role: roofline.RoleEmbed, Component: roofline.Embedding, Name: embed, Params: params, Uncounted: tied}, BF16)
	b.norm(b.d.Hidden, norm)
	head := roofline.Tensor{Role: roofline.RoleHead, Component: roofline.LMHead, Name: "lm_head", Params: params, Matrix: true, Math: roofline.BF16}
	switch {
	case b.assume != nil:
		head.Bytes, head.Format, head.Math = unit.Bytes(float64(params)*b.assume.Bytes), b.assume.Name, b.assume.Math
		head.Evidence = roofline.FromAssumption
		b.add(head)
	case tied && b.h != nil && b.h.modules["lm_head"] == nil:
		if s := b.h.modules[embed]; s != nil { // the table is the head
			b.exact(head, float64(s.bytes), s.format)
			break
		}
		fallthrough
	default:
		f := BF16
		if b.q.head {
			f = b.q.Default
			head.Math = f.Math
		}
		b.whole(head, f)
	}
	b.launch(roofline.Embedding, 1)
	b.launch(roofline.Norm, 1)
	b.launch(roofline.LMHead, 1)
	b.launch(roofline.Sampling, 1)
}

// note records something the reader had to assume.
func (b *Builder) note(format string, args ...any) {
	b.d.Notes = append(b.d.Notes, fmt.Sprintf(format, args...))
}
