package roofline

import "decodegap/roofline/unit"

// Op is the work of one component in one decode step on the busiest rank,
// identical layers folded together.
type Op struct {
	Component Component
	Repeat    int // layers that have it
	Weights   unit.Bytes
	KVRead    unit.Bytes
	KVWrite   unit.Bytes
	Work      Work
	Comm      *Collective
	Launches  int
	From      Evidence
	Format    string
}

// Memory is all the op moves to and from memory.
func (o Op) Memory() unit.Bytes { return o.Weights + o.KVRead + o.KVWrite }

// FLOPs is the op's arithmetic over all operand types.
func (o Op) FLOPs() unit.FLOPs {
	var sum unit.FLOPs
	for _, w := range o.Work {
		sum += w.FLOPs
	}
	return sum
}

// Work is arithmetic by the narrowest lossless operand type, each type once, in
// the order they were added.
type Work []TypedWork

// TypedWork is the arithmetic on operands of one type.
type TypedWork struct {
	Type  DType
	FLOPs unit.FLOPs
}

// Add counts arithmetic on operands of type d.
func (w *Work) Add(d DType, f unit.FLOPs) {
	for i := range *w {
		if (*w)[i].Type == d {
			(*w)[i].FLOPs += f
			return
		}
	}
	*w = append(*w, TypedWork{d, f})
}

// Collective is a repeated exchange between the GPUs of a group.
type Collective struct {
	Kind  Component // AllReduce, AllGather, ReduceScatter or AllToAll
	Count int
	// Bytes is the message of one exchange: the tensor that every GPU has
	// before a sum (all-reduce, reduce-scatter) or after an all-gather; for an
	// all-to-all what one GPU sends to others.
	Bytes unit.Bytes
	GPUs  int // ranks that take part
}

// Step is what one decode step must do on one GPU.
type Step struct {
	Ops      []Op
	Distinct float64 // distinct experts a MoE layer reads, over the group; 0 for dense models
	Busiest  float64 // the same on the busiest expert-parallel rank

	// With pipeline stages Ops is the work of a GPU of the busiest one, and
	// Elsewhere that of the others, which a token passes one after another.
	Elsewhere [][]Op
}

// Weights is what one GPU reads of the weights.
func (s Step) Weights() unit.Bytes {
	return s.sum(func(o Op) unit.Bytes { return o.Weights })
}

// KVRead is what one GPU reads of caches and states.
func (s Step) KVRead() unit.Bytes { return s.sum(func(o Op) unit.Bytes { return o.KVRead }) }

// KVWrite is what one GPU writes of caches and states.
func (s Step) KVWrite() unit.Bytes { return s.sum(func(o Op) unit.Bytes { return o.KVWrite }) }

func (s Step) sum(part func(Op) unit.Bytes) unit.Bytes {
	var total unit.Bytes
	for _, o := range s.Ops {
		total += part(o)
	}
	return total
}

// FLOPs is one GPU's arithmetic.
func (s Step) FLOPs() unit.FLOPs {
	var total unit.FLOPs
	for _, o := range s.Ops {
		total += o.FLOPs()
	}
	return total
}

// Launches is the number of dependent kernels on a token's path.
func (s Step) Launches() int {
	n := launches(s.Ops)
	for _, ops := range s.Elsewhere {
		n += launches(ops)
	}
	return n
}

func launches(ops []Op) (n int) {
	for _, o := range ops {
		n += o.Launches
	}
	return n
}

// AllReduces returns how many all-reduces one GPU takes part in and the message of
// each; the largest message where they differ.
func (s Step) AllReduces() (count int, each unit.Bytes) {
	for _, o := range s.Ops {
		if o.Component == AllReduce && o.Comm != nil {
			count += o.Comm.Count
			each = max(each, o.Comm.Bytes)
		}
	}
	return count, each
}
