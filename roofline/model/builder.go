package model

import (
	"fmt"
	"strconv"
	"strings"

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
	head             string      // its name
	mlpBias          bool        // of families whose feed-forward blocks have biases under another field
	prefix           string      // of the current layer
	here             *exclusions // narrowed to the current layer

	at   int                        // number of the current layer, roofline.Ends outside of all
	last map[roofline.Component]int // at + 2 where the component was met last

	tensors map[roofline.Tensor]int // by everything but Name and Repeat
	caches  map[roofline.Cache]int
	kernels map[roofline.Kernels]int
}

func newBuilder(c *Config, q *Quant, d *roofline.Decoder, assume *Format) *Builder {
	root := c.root
	if root == "" {
		root = "model"
	}
	return &Builder{
		c: c, q: q, d: d, assume: assume, root: root, head: "lm_head", at: roofline.Ends, last: map[roofline.Component]int{},
		tensors: map[roofline.Tensor]int{}, caches: map[roofline.Cache]int{}, kernels: map[roofline.Kernels]int{},
	}
}

// layer starts decoder block i.
func (b *Builder) layer(i int) {
	if b.h != nil && b.h.rooted {
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
		*b.d.Tensors[i].At = append(*b.d.Tensors[i].At, b.at)
		return
	}
	b.tensors[key] = len(b.d.Tensors)
	t.Repeat, t.At = 1, &roofline.Places{b.at}
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
	t.Bytes, t.Format, t.Math, t.Evidence = unit.Bytes(params)*f.Bytes, f.Name, f.Math, from
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
	t.Bytes, t.Format, t.Evidence = unit.Bytes(t.Params)*f.Bytes, f.Name, b.q.From
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
// matrix of each parameters under each of the names. Where they are stored in
// several formats, one tensor per format.
func (b *Builder) experts(module string, each int64, names ...string) {
	path := b.prefix + module
	params := int64(b.d.Experts) * int64(len(names)) * each
	var portions []portion
	missing := params
	if b.h != nil && b.assume == nil {
		var weights int64
		var hidden bool
		portions, weights, hidden = b.h.takeBelow(b.h.below(path + "."))
		switch {
		case len(portions) == 0:
			b.h.missing = append(b.h.missing, path)
		case hidden && b.h.lacks(path+"."): // how much is missing cannot be told
			b.h.missing = append(b.h.missing, path)
			portions = nil
		case hidden:
			portions, missing = []portion{merged(portions, params)}, 0
		case weights > params:
			b.h.notes = append(b.h.notes, fmt.Sprintf("%s holds %d weights, the configuration implies %d", path, weights, params))
			portions, missing = []portion{merged(portions, params)}, 0
		default:
			missing = params - weights
		}
		if len(portions) > 0 && missing > 0 {
			b.h.missing = append(b.h.missing, fmt.Sprintf("%d of the %d weights of %s", missing, params, path))
		}
	}
	if missing > 0 {
		for _, p := range b.impliedExperts(path+".", each, names) {
			share := float64(missing) / float64(params)
			p.bytes *= share
			p.weights = int64(float64(p.weights)*share + 0.5)
			portions = append(portions, p)
		}
	}
	for _, p := range portions {
		b.add(roofline.Tensor{
			Role: roofline.RoleExpert, Component: roofline.MoEExperts, Name: path, Params: p.weights, Each: each, Matrix: true,
			Bytes: unit.Bytes(p.bytes), Format: p.format.Name, Math: p.format.Math, Evidence: p.from,
		})
	}
}

// merged is one portion of all, where the weights of each cannot be told: in
// the format of the largest.
func merged(portions []portion, params int64) portion {
	all := portion{weights: params, from: roofline.FromHeaders}
	most := 0.0
	for _, p := range portions {
		all.bytes += p.bytes
		if p.bytes > most {
			most, all.format = p.bytes, p.format
		}
	}
	return all
}

// impliedExperts are a layer's experts as configuration and side file say they
// are stored.
func (b *Builder) impliedExperts(base string, each int64, names []string) []portion {
	e, count := b.d.Experts, 1
	if b.assume == nil && b.q.perExpert(b.here, base) {
		count = e
	}
	var portions []portion
	for j := range count {
		for _, n := range names {
			f, from := b.stored(base + strconv.Itoa(j) + "." + n)
			portions = addPortion(portions, portion{f, float64(f.Bytes) * float64(each), each, from})
		}
	}
	if count != e {
		for i := range portions {
			portions[i].bytes *= float64(e)
			portions[i].weights *= int64(e)
		}
	}
	return portions
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
		*b.d.Caches[i].At = append(*b.d.Caches[i].At, b.at)
		return
	}
	b.caches[c] = len(b.d.Caches)
	key := c
	key.Repeat, key.At = 1, &roofline.Places{b.at}
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
		*b.d.Kernels[i].At = append(*b.d.Kernels[i].At, b.at)
		return
	}
	b.kernels[k] = len(b.d.Kernels)
	k.Repeat, k.At = 1, &roofline.Places{b.at}
	b.d.Kernels = append(b.d.Kernels, k)
}

// ends adds embedding, final norm and head. The head is read in full, tied to
// the embedding or not; a tied table is counted once, as the head.
func (b *Builder) ends(tied bool) {
	b.at = roofline.Ends
	b.prefix = ""
	params := int64(b.d.Vocab) * int64(b.d.Hidden)
	embed, norm := join(b.root, "embed_tokens"), join(b.root, "norm")
	if b.embed != "" {
		embed, norm = join(b.root, b.embed), join(b.root, b.finalNorm)
	}
	b.whole(roofline.Tensor{Role: roofline.RoleEmbed, Component: roofline.Embedding, Name: embed, Params: params, Uncounted: tied}, BF16)
	b.norm(b.d.Hidden, norm)
	name := b.headName()
	head := roofline.Tensor{Role: roofline.RoleHead, Component: roofline.LMHead, Name: name, Params: params, Matrix: true, Math: roofline.BF16}
	switch {
	case b.assume != nil:
		head.Bytes, head.Format, head.Math = unit.Bytes(params)*b.assume.Bytes, b.assume.Name, b.assume.Math
		head.Evidence = roofline.FromAssumption
		b.add(head)
	case tied && b.h != nil && b.h.modules[name] == nil:
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

// headName is the path of the output head: "lm_head", or below the language
// model where a checkpoint has towers beside it.
func (b *Builder) headName() string {
	name := b.head
	if b.h == nil || b.h.modules[name] != nil {
		return name
	}
	for root := b.h.layers; root != ""; {
		if path := root + "." + name; b.h.modules[path] != nil {
			return path
		}
		i := strings.LastIndexByte(root, '.')
		root = root[:max(i, 0)]
	}
	return name
}

// note records something the reader had to assume.
func (b *Builder) note(format string, args ...any) {
	b.d.Notes = append(b.d.Notes, fmt.Sprintf(format, args...))
}
