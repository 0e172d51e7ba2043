//go:build cgo && linux

package cpu

import (
	"fmt"
	"math"
	"testing"

	"decodegap/probes/reference"
)

func TestRoute(t *testing.T) {
	routers := []router{
		{experts: 8, topK: 2},
		{experts: 8, topK: 8, renormalise: true},
		{experts: 17, topK: 3, sigmoid: true},
		{experts: 128, topK: 8, renormalise: true},
		{experts: 160, topK: 6, groups: 8, kept: 3, scale: 16},
		{experts: 256, topK: 8, groups: 8, kept: 4, sigmoid: true, two: true, renormalise: true, scale: 2.5},
		{experts: 72, topK: 9, groups: 9, kept: 1 + 1, sigmoid: true, two: true},
		{experts: 512, topK: 10, renormalise: true},
		{experts: 512, topK: 22, groups: 512, kept: 30, two: true},
	}
	everywhere(t, func(b bench) {
		for i, r := range routers {
			const tokens = 5
			x, at := b.random(tokens*r.experts, 4, uint64(i))
			for e := range r.experts {
				x[r.experts+e] = 0    // all alike
				x[2*r.experts+e] *= 8 // sigmoids near 0 and 1
				if e%2 == 1 {
					x[3*r.experts+e] = float32(math.Inf(-1)) // masked
				}
				x[4*r.experts+e] *= 1e4
			}
			bias, biasAt := b.random(r.experts, 0.5, 99)
			for _, biased := range []bool{false, true} {
				ids := b.memory(int64(4 * tokens * r.topK))
				for k := range of[int32](ids) {
					of[int32](ids)[k] = -1
				}
				weights, weightsAt := b.poisoned(tokens * r.topK)
				p, values := biasAt, bias
				if !biased {
					p, values = nil, nil
				}
				b.run(one(b.route(r, tokens, at, p, ids.at, weightsAt)))
				for token := range tokens {
					err := routedAs(r, x[token*r.experts:][:r.experts], values, of[int32](ids)[token*r.topK:][:r.topK], weights[token*r.topK:][:r.topK])
					if err != nil {
						b.Errorf("%+v, biased %v, token %d: %v", r, biased, token, err)
					}
				}
			}
		}
	})
}

func TestRouteRefuses(t *testing.T) {
	for _, r := range []router{
		{experts: 8, topK: 9}, {experts: 8}, {experts: 1 << 20, topK: 1}, {experts: 9, topK: 1, groups: 2, kept: 1},
		{experts: 8, topK: 5, groups: 2, kept: 1}, {experts: 8, topK: 1, groups: 2},
	} {
		if _, err := (maker{threads: 1}).route(r, 1, nil, nil, nil, nil); err == nil {
			t.Errorf("%+v: no error", r)
		}
	}
}

func TestSample(t *testing.T) {
	numbers := []float32{0, 1e-9, 0.1, 0.5, 0.9, 0.999999, math.Nextafter32(1, 0)}
	everywhere(t, func(b bench) {
		sizes := []int{1, 15, 17, 1000, 20011}
		if testing.Short() { // under sanitizers, where a sort takes a hundred times as long
			sizes = sizes[:4]
		}
		for _, size := range sizes {
			for _, kind := range []string{"near", "far", "alike", "masked"} {
				tokens := len(numbers)
				x, at := b.random(tokens*size, 8, uint64(size))
				for i := range x {
					switch {
					case kind == "far":
						x[i] *= 100
					case kind == "alike":
						x[i] = -3
					case kind == "masked" && i%size%3 != 1 && size > 1:
						x[i] = float32(math.Inf(-1))
					}
				}
				random := b.memory(int64(4 * tokens))
				copy(of[float32](random), numbers)
				_, scratch := b.poisoned(int((b.sampleScratch(tokens, size) + 3) / 4))
				for _, how := range []reference.Sampling{{Temperature: 1, TopP: 1},
					{Temperature: 0.7, TopK: 50, TopP: 1},
					{Temperature: 1, TopP: 0.9},
					{Temperature: 2, TopK: 20, TopP: 0.8},
					{Temperature: 0.01, TopP: 0.5},
					{Temperature: 1, TopK: 1, TopP: 1},
					{Temperature: 30, TopP: 0.999}} {
					ids := b.memory(int64(4 * tokens))
					for i := range of[int32](ids) {
						of[int32](ids)[i] = -1
					}
					b.run(b.sample(how, tokens, size, at, random.at, ids.at, scratch))
					for i, u := range numbers {
						if err := reference.Drawn(how, x[i*size:][:size], u, of[int32](ids)[i]); err != nil {
							b.Fatalf("%s, %d logits, %+v, u %g: %v", kind, size, how, u, err)
						}
					}
				}
			}
		}
		if _, err := b.sample(reference.Sampling{TopP: 1}, 1, 1, nil, nil, nil, nil); err == nil {
			b.Error("a temperature of 0: no error")
		}
	})
}

func TestReduce(t *testing.T) {
	everywhere(t, func(b bench) {
		for _, size := range widths {
			stride := (size + 15) / 16 * 16
			x, at := b.random(stride*b.threads, 1, uint64(size))
			for _, shots := range []int{1, 2} {
				y, yAt := b.poisoned(stride * b.threads)
				_, slices := b.poisoned(size)
				if shots == 1 {
					slices = nil
				}
				b.run(b.reduce(size, stride, at, slices, yAt))
				want := make([]float64, size)
				for p := range b.threads {
					for i := range want {
						want[i] += float64(x[p*stride+i])
					}
				}
				for p := range b.threads {
					b.near(fmt.Sprintf("%d shots of %d, thread %d", shots, size, p), y[p*stride:][:size], want, 1e-6)
				}
			}
		}
	})
}
