package roofline

import "decodegap/roofline/unit"

// Resource names what a ceiling limits.
type Resource string

// The resources a floor may be bound by.
const (
	DRAMRead   Resource = "dram.read"         // B/s per GPU
	TensorFP4  Resource = "tensor.fp4"        // dense FLOP/s per GPU
	TensorFP8  Resource = "tensor.fp8"        // dense FLOP/s per GPU
	TensorINT8 Resource = "tensor.int8"       // dense OP/s per GPU
	TensorBF16 Resource = "tensor.bf16"       // dense FLOP/s per GPU
	TensorFP16 Resource = "tensor.fp16"       // dense FLOP/s per GPU
	GraphNode  Resource = "launch.graph_node" // s between dependent kernels of a CUDA graph
	LinkOneWay Resource = "link.oneway"       // B/s per GPU and direction
)

// The resources of one exchange of a given message over a given group.
const (
	AllReduceLatency     Resource = "link.allreduce"     // s
	AllGatherLatency     Resource = "link.allgather"     // s
	ReduceScatterLatency Resource = "link.reducescatter" // s
	AllToAllLatency      Resource = "link.alltoall"      // s
)

// LatencyOf is the resource that an exchange of this kind takes.
func LatencyOf(kind Component) Resource {
	switch kind {
	case AllGather:
		return AllGatherLatency
	case ReduceScatter:
		return ReduceScatterLatency
	case AllToAll:
		return AllToAllLatency
	}
	return AllReduceLatency
}

// Basis says where a ceiling comes from.
type Basis string

// A ceiling is published, measured on this machine, or given on the command line.
const (
	Sheet  Basis = "sheet"
	Probed Basis = "probed"
	Given  Basis = "given"
)

// Ceiling is the rate (or latency) one resource reaches.
type Ceiling struct {
	Resource Resource `json:"resource"`
	Value    float64  `json:"value"` // base units: B/s, FLOP/s, s
	Unit     string   `json:"unit"`
	Basis    Basis    `json:"basis"`
	Source   string   `json:"source"`
}

// Machine is one GPU's ceilings plus the latency of the collectives between
// the GPUs of one group. A resource that is not known is absent.
type Machine struct {
	Name     string
	Ceilings map[Resource]Ceiling

	// AllReduce gives the time of one all-reduce of message bytes over n
	// GPUs; nil or false where it is not known.
	AllReduce func(message unit.Bytes, n int) (Ceiling, bool)

	// Exchange gives the time of one exchange of another kind; nil or false
	// where it is not known. It is never guessed from an all-reduce's.
	Exchange func(kind Component, message unit.Bytes, n int) (Ceiling, bool)
}

// Latency is the time of one exchange of c, false if none is known.
func (m Machine) Latency(c Collective) (Ceiling, bool) {
	switch {
	case c.Kind == AllReduce && m.AllReduce != nil:
		return m.AllReduce(c.Bytes, c.GPUs)
	case c.Kind != AllReduce && m.Exchange != nil:
		return m.Exchange(c.Kind, c.Bytes, c.GPUs)
	}
	return Ceiling{}, false
}

// Bandwidth is the memory bandwidth, false if the machine has no such ceiling.
func (m Machine) Bandwidth() (unit.BytesPerSecond, bool) {
	c, ok := m.Ceilings[DRAMRead]
	return unit.BytesPerSecond(c.Value), ok && c.Value > 0
}

// Compute is the fastest dense rate that can multiply values of type d without
// losing any: the format's own unit or a wider one. False if no rate is known.
func (m Machine) Compute(d DType) (unit.FLOPsPerSecond, Resource, bool) {
	var order []Resource
	switch d {
	case FP4:
		order = []Resource{TensorFP4, TensorFP8, TensorBF16, TensorFP16}
	case FP8:
		order = []Resource{TensorFP8, TensorBF16, TensorFP16}
	case INT8:
		order = []Resource{TensorINT8, TensorFP8, TensorBF16, TensorFP16}
	default:
		order = []Resource{TensorBF16, TensorFP16}
	}
	var best Ceiling
	for _, r := range order {
		if c, ok := m.Ceilings[r]; ok && c.Value > best.Value {
			best = c
		}
	}
	return unit.FLOPsPerSecond(best.Value), best.Resource, best.Value > 0
}
