package roofline

import (
	"math"

	"decodegap/roofline/unit"
)

// Algorithm is a way to do an all-reduce, with its time as a function of the
// per-step latency α, the one-way bandwidth β of a GPU, n GPUs and a message
// of M bytes.
type Algorithm struct {
	Name string
	Doc  string
	Time func(link Link, n int, message unit.Bytes) unit.Seconds
}

// Link is what connects a GPU to the others of its group.
type Link struct {
	Alpha unit.Seconds        // one hop, from store to seen
	Beta  unit.BytesPerSecond // one direction, per GPU
}

// AllReduceAlgorithms lists the algorithms engines use. The formulas are those
// of docs/theory/allreduce.md.
var AllReduceAlgorithms = []Algorithm{
	{"ring", "2(n−1) hops, each of M/n bytes", func(l Link, n int, m unit.Bytes) unit.Seconds {
		hops := unit.Seconds(2 * (n - 1))
		return hops*l.Alpha + (unit.Bytes(2*float64(n-1)/float64(n)) * m).At(l.Beta)
	}},
	{"tree", "2·⌈log₂ n⌉ hops, 2M bytes", func(l Link, n int, m unit.Bytes) unit.Seconds {
		return unit.Seconds(2*math.Ceil(math.Log2(float64(n))))*l.Alpha + (2 * m).At(l.Beta)
	}},
	{"one-shot", "one hop: each GPU reads the message of the n−1 others", func(l Link, n int, m unit.Bytes) unit.Seconds {
		return l.Alpha + (unit.Bytes(n-1) * m).At(l.Beta)
	}},
	{"two-shot", "two hops: reduce-scatter, then all-gather", func(l Link, n int, m unit.Bytes) unit.Seconds {
		return 2*l.Alpha + (unit.Bytes(2*float64(n-1)/float64(n)) * m).At(l.Beta)
	}},
	{"in-switch", "one hop: the switch adds; each GPU sends M and receives M/n", func(l Link, n int, m unit.Bytes) unit.Seconds {
		return l.Alpha + (unit.Bytes(1+1/float64(n)) * m).At(l.Beta)
	}},
}

// FastestAllReduce is the algorithm that takes the least time without a switch
// that computes, and that time; zero for one GPU.
func FastestAllReduce(l Link, n int, message unit.Bytes) (Algorithm, unit.Seconds) {
	if n < 2 {
		return Algorithm{}, 0
	}
	var best Algorithm
	least := unit.Seconds(math.Inf(1))
	for _, a := range AllReduceAlgorithms {
		if a.Name == "in-switch" {
			continue // needs hardware that only some links have
		}
		if t := a.Time(l, n, message); t < least {
			best, least = a, t
		}
	}
	return best, least
}

// ExchangeTime is the time of one exchange that is no all-reduce, in one hop:
// an all-gather brings each GPU (n−1)/n of the message, a reduce-scatter takes
// as much away, and an all-to-all's message is what one GPU sends. False for
// other kinds.
func ExchangeTime(l Link, kind Component, n int, message unit.Bytes) (unit.Seconds, bool) {
	switch {
	case n < 2:
		return 0, false
	case kind == AllGather, kind == ReduceScatter:
		return l.Alpha + (unit.Bytes(float64(n-1)/float64(n)) * message).At(l.Beta), true
	case kind == AllToAll:
		return l.Alpha + message.At(l.Beta), true
	}
	return 0, false
}

// RanksHit is the expected number of ranks that hold at least one of the k
// experts a token chooses of e, spread over n ranks: n·(1 − C(e−e/n, k)/C(e, k)).
func RanksHit(n, e, k int) float64 {
	logs := logFactorials(e)
	rest := e - e/n
	if k > rest {
		return float64(n)
	}
	return float64(n) * -math.Expm1(choose(logs, rest, k)-choose(logs, e, k))
}
