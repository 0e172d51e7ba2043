//go:build cgo && linux

package cuda

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"

	"decodegap/probes"
	"decodegap/probes/cuda/driver"
	"decodegap/probes/reference"
	"decodegap/roofline/unit"
)

// vocabulary is Qwen's, the largest in wide use.
const vocabulary = 151936

// The shape of sampling.cu.
const (
	buckets      = 1024
	perNat       = 32
	tallyVectors = 5
	mostLogits   = 1 << 18
)

// Sampling is choosing the next token from the logits of a vocabulary.
var Sampling = probes.Probe{
	Name:    "cuda/sampling",
	Doc:     "the highest of float32 logits, or a draw with temperature, top-k and top-p, of logits that are read from memory",
	Formula: "M·(4·size + 4), and 4·M for a draw's numbers",
	Checked: "every token against a sort of the whole vocabulary in float64",
	Check:   checkGPU,
	Plan: func(h probes.Host) []probes.Case {
		var out []probes.Case
		for _, s := range []struct {
			name          string
			m, topK, topP int
		}{
			{"argmax", 1, 0, 0}, {"temperature 0.7, top-k 50, top-p 0.9", 1, 50, 90}, {"argmax", 64, 0, 0}, {"temperature 0.7, top-k 50, top-p 0.9", 64, 50, 90},
			{"temperature 0.7, top-p 0.95", 1, 0, 95}, {"argmax", 16, 0, 0}, {"temperature 0.7, top-k 50, top-p 0.9", 16, 50, 90}, {"temperature 0.7, top-p 0.95", 64, 0, 95},
		} {
			c := probes.Case{
				Name:  fmt.Sprintf("%s, M=%d × %d", s.name, s.m, vocabulary),
				Shape: map[string]int{"m": s.m, "size": vocabulary, "temperature_percent": 70, "top_k": s.topK, "top_p_percent": s.topP},
				Bytes: unit.Bytes(s.m * (4*vocabulary + 4)),
			}
			if s.topK > 0 || s.topP > 0 {
				c.Bytes += unit.Bytes(4 * s.m)
			}
			out = append(out, both(h, c)...)
		}
		return out
	},
	Prepare: prepareSampling,
}

// logitRows are rows as after a projection, a few tokens standing out.
func logitRows(m, size int) []float32 {
	values, random := make([]float32, m*size), seed()
	for i := range values {
		v := float32(int32(word(random, uint64(i)))) / (1 << 31)
		values[i] = v * (6 + 12*v*v)
	}
	return values
}

// hardRows are such rows of which some have equals at the top, hidden tokens,
// or are all alike.
func hardRows(m, size int) []float32 {
	values := logitRows(m, size)
	infinite := float32(math.Inf(-1))
	for row := range m {
		x := values[row*size:][:size]
		switch row % 12 {
		case 4: // equals at the top
			for _, i := range rand.Perm(size)[:3] {
				x[i] = 20
			}
		case 5: // hidden but for every 1000th
			for i := range x {
				if i%1000 != 7 {
					x[i] = infinite
				}
			}
		case 6: // all alike
			for i := range x {
				x[i] = -1.5
			}
		case 7: // few values, all with many equals
			for i := range x {
				x[i] = float32(math.Round(float64(x[i])))
			}
		case 8: // one alone
			for i := range x {
				x[i] = infinite
			}
			x[size-1] = 3
		case 9: // all hidden
			for i := range x {
				x[i] = infinite
			}
		case 10: // far apart
			for i := range x {
				x[i] *= 1000
			}
		}
	}
	return values
}

func prepareSampling(ctx context.Context, h probes.Host, c probes.Case) (probes.Subject, error) {
	s, err := newSmall(h, c)
	if err != nil {
		return nil, err
	}
	m, size := c.Shape["m"], c.Shape["size"]
	if m < 1 || size < 4*32 || size%4 != 0 || size > mostLogits {
		return nil, fmt.Errorf("%w: sampling is written for vocabularies in multiples of 4 up to %d", probes.ErrUnsupported, mostLogits)
	}
	how := reference.Sampling{Temperature: float32(c.Shape["temperature_percent"]) / 100, TopK: c.Shape["top_k"], TopP: float32(c.Shape["top_p_percent"]) / 100}
	greedy := how.TopK == 0 && how.TopP == 0
	if greedy {
		how = reference.Greedy()
	} else if how.TopP == 0 {
		how.TopP = 1
	}
	each := 4 * m * size
	if s.copies, err = copies(h, unit.Bytes(each)); err != nil {
		return nil, err
	}
	logits := logitRows(m, size)
	if c.Shape["hard"] == 1 {
		logits, s.copies = hardRows(m, size), 1
	}
	all := s.room(s.copies * each)
	for copy := 0; copy < s.copies && s.failed == nil; copy++ {
		s.fail(driver.Write(all, int64(copy*each), logits))
	}
	numbers := make([]float32, m)
	for i := range numbers {
		numbers[i] = rand.Float32()
	}
	numbers[0] *= 0.5
	random, ids := upload(s, numbers, 4), s.room(4*m)
	s.output = ids
	at := func(copy int) uint64 { return all.Address(int64(copy * each)) }
	verify := func() (probes.Correctness, error) { return checkTokens(how, logits, numbers, ids, size) }
	if greedy {
		return s.highest(ctx, at, ids, m, size, verify)
	}
	return s.draw(ctx, how, at, random, ids, m, size, verify)
}

// highest is one node: the last block of a row compares what all found.
func (s *small) highest(ctx context.Context, logits func(copy int) uint64, ids *driver.Memory, m, size int, verify func() (probes.Correctness, error)) (probes.Subject, error) {
	const most = 32
	counters := upload(s, make([]uint32, m), 4)
	best := s.room(8 * m * most)
	var all []variant
	for _, parts := range []int{4, 8, 16, most} {
		for _, v := range []struct{ threads, flight int }{{256, 8}, {512, 4}, {512, 8}, {1024, 2}, {1024, 4}} {
			if each := size / 4 / parts / v.threads; each >= v.flight-1 || v.flight == 2 {
				all = append(all, variant{entry: fmt.Sprintf("highest_%d", v.flight), warps: v.threads / 32, resident: 1, blocks: m * parts})
			}
		}
	}
	return s.ready(ctx, "sampling", orders(all), func(k *driver.Kernel, v variant, copy int) []*driver.Launch {
		return []*driver.Launch{v.launch(k, v.blocks, logits(copy), best.Address(0), counters.Address(0), ids.Address(0), uint32(size), uint32(v.blocks/m))}
	}, verify)
}

// draw is two nodes: tokens into buckets, then where the bounds fall.
func (s *small) draw(ctx context.Context, how reference.Sampling, logits func(copy int) uint64, random, ids *driver.Memory, m, size int, verify func() (probes.Correctness, error)) (probes.Subject, error) {
	const most = 32
	said, tallies, lists := s.room(16*m*most), s.room(8*m*most*buckets), s.room(8*m*size)
	var all []variant
	for _, v := range []struct{ threads, parts int }{{512, 16}, {256, 32}, {512, 32}} {
		if (size/4+v.parts-1)/v.parts <= tallyVectors*v.threads {
			all = append(all, variant{entry: fmt.Sprintf("tally_%d", v.threads/32), second: fmt.Sprintf("draw_%d", v.parts), warps: v.threads / 32, resident: 1, blocks: m * v.parts})
		}
	}
	second := map[string]*driver.Kernel{}
	for _, v := range all {
		k, err := s.m.kernel("sampling", v.second, 0)
		if err != nil {
			s.fail(err)
		}
		second[v.second] = k
	}
	scale := float32(perNat / float64(how.Temperature))
	// All that is in or behind this bucket weighs less than top-p leaves, even
	// if the whole vocabulary were there. Top-k must have counted all.
	limit := buckets
	if how.TopP < 1 && how.TopK == 0 {
		limit = min(limit, 12+int(perNat*math.Log(float64(size)/(1-float64(how.TopP)))))
	}
	topK := how.TopK
	if topK == 0 {
		topK = size
	}
	subject, err := s.ready(ctx, "sampling", orders(all), func(k *driver.Kernel, v variant, copy int) []*driver.Launch {
		last := v
		last.warps = buckets / 32
		return []*driver.Launch{
			v.launch(k, v.blocks, logits(copy), said.Address(0), tallies.Address(0), lists.Address(0), uint32(size), uint32(v.blocks/m), uint32(topK), uint32(limit), scale),
			last.launch(second[v.second], m, said.Address(0), tallies.Address(0), lists.Address(0), random.Address(0), ids.Address(0), uint32(size), uint32(how.TopK), how.TopP, scale),
		}
	}, verify)
	s.kernel += " and as many as rows of 1024, 2 nodes"
	return subject, err
}

// checkTokens checks each row's token, rows side by side: a sort of a
// vocabulary takes tens of milliseconds.
func checkTokens(how reference.Sampling, logits, numbers []float32, ids *driver.Memory, size int) (probes.Correctness, error) {
	tokens, err := read[int32](ids, 0, len(numbers))
	if err != nil {
		return probes.Correctness{}, err
	}
	wrong := make([]error, len(tokens))
	var rows sync.WaitGroup
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i, id := range tokens {
		free <- struct{}{}
		rows.Go(func() {
			if err := reference.Drawn(how, logits[i*size:][:size], numbers[i], id); err != nil {
				wrong[i] = fmt.Errorf("row %d: %w", i, err)
			}
			<-free
		})
	}
	rows.Wait()
	for _, err := range wrong {
		if err != nil {
			return probes.Correctness{}, err
		}
	}
	right := exact(true)
	right.Values, right.Comment = len(tokens), "the tokens that float64 draws"
	return right, nil
}
