package bench

import (
	"math"
	"slices"
)

// Limits on the per-request lists of a result file.
const (
	maxRequests = 1 << 20
	maxGaps     = 1 << 22
)

// detail is what the per-request lists of a file hold, in seconds and tokens.
type detail struct {
	ttft, e2e []float64
	decode    []float64 // Σ gaps of each request: E2E − TTFT
	gaps      []float64 // all gaps pooled
	out, in   []float64
	faulty    bool // too long, cut or not numbers: of no use
	manyGaps  bool // too many to pool
}

// detailLists are the fields read as per-request lists.
var detailLists = []string{"ttfts", "itls", "latencies", "output_lens", "input_lens"}

// read reads one list. Until its end is seen, the lists count as faulty.
func (d *detail) read(s *scanner, key string) error {
	was := d.faulty
	d.faulty = true
	var err error
	switch key {
	case "ttfts":
		d.ttft, err = numbers(s, &was)
	case "latencies":
		d.e2e, err = numbers(s, &was)
	case "output_lens":
		d.out, err = numbers(s, &was)
	case "input_lens":
		d.in, err = numbers(s, &was)
	case "itls":
		err = d.readGaps(s, &was)
	}
	if err == nil {
		d.faulty = was
	}
	return err
}

func (d *detail) readGaps(s *scanner, faulty *bool) error {
	d.decode, d.gaps = nil, nil
	return s.elements(func() error {
		sum := 0.0
		err := s.elements(func() error {
			x, err := element(s, faulty)
			if err != nil {
				return err
			}
			sum += x
			if len(d.gaps) < maxGaps {
				d.gaps = append(d.gaps, x)
			} else {
				d.manyGaps = true
			}
			return nil
		})
		if len(d.decode) < maxRequests {
			d.decode = append(d.decode, sum)
		} else {
			*faulty = true
		}
		return err
	})
}

func numbers(s *scanner, faulty *bool) (list []float64, err error) {
	err = s.elements(func() error {
		x, err := element(s, faulty)
		if len(list) < maxRequests {
			list = append(list, x)
		} else {
			*faulty = true
		}
		return err
	})
	return list, err
}

func element(s *scanner, faulty *bool) (float64, error) {
	v, err := s.value()
	if err != nil {
		return 0, err
	}
	x, ok := v.number()
	if !ok || !usable(x) {
		*faulty = true
		return 0, nil
	}
	return x, nil
}

// apply fills the statistics that the file does not state from the lists, each
// marked as derived. TPOT is (E2E − TTFT) / (output − 1) per request; requests
// of at most one token have none.
func (d *detail) apply(r *record) {
	n := len(d.out)
	if d.faulty || n == 0 || len(d.ttft) != n {
		return
	}
	ends := len(d.e2e) == n
	if !ends && len(d.decode) != n {
		return
	}
	var ttft, e2e, tpot []float64
	zero, done := 0, 0
	for i := range n {
		if d.out[i] <= 0 { // failed
			continue
		}
		decode := 0.0
		if ends {
			decode = d.e2e[i] - d.ttft[i]
		} else {
			decode = d.decode[i]
		}
		if decode < 0 { // lists of different runs
			return
		}
		done++
		if d.ttft[i] == 0 && decode > 0 {
			zero++
			continue
		}
		ttft = append(ttft, 1000*d.ttft[i])
		e2e = append(e2e, 1000*(d.ttft[i]+decode))
		if d.out[i] > 1 && decode > 0 {
			tpot = append(tpot, 1000*decode/(d.out[i]-1))
		}
	}
	if zero > 0 {
		r.zeroTTFT = zero == done
		return
	}
	r.fill("tpot_ms", &r.TPOT, tpot)
	r.fill("ttft_ms", &r.TTFT, ttft)
	r.fill("e2e_ms", &r.E2E, e2e)
	if len(d.decode) == n && !d.manyGaps {
		gaps := make([]float64, len(d.gaps))
		for i, g := range d.gaps {
			gaps[i] = 1000 * g
		}
		r.fill("itl_ms", &r.ITL, gaps)
	}
	if len(d.in) == n && r.RequestInput == nil {
		r.RequestInput = mean(d.in)
	}
}

// fill sets the statistics of s that are absent and lists them as derived.
func (r *record) fill(name string, s *Summary, samples []float64) {
	if len(samples) == 0 {
		return
	}
	slices.Sort(samples)
	for _, stat := range []struct {
		name  string
		slot  **float64
		value *float64
	}{
		{"mean", &s.Mean, mean(samples)},
		{"median", &s.Median, percentile(samples, 50)},
		{"p99", &s.P99, percentile(samples, 99)},
	} {
		if *stat.slot == nil {
			*stat.slot = stat.value
			r.derived(name + "." + stat.name)
		}
	}
}

func (r *record) derived(name string) { r.Derived = append(r.Derived, name) }

func mean(samples []float64) *float64 {
	sum := 0.0
	for _, x := range samples {
		sum += x
	}
	m := sum / float64(len(samples))
	return &m
}

// percentile interpolates linearly between the two nearest of the sorted
// samples, as numpy does by default.
func percentile(sorted []float64, p float64) *float64 {
	at := p / 100 * float64(len(sorted)-1)
	low := int(math.Floor(at))
	high := min(low+1, len(sorted)-1)
	x := sorted[low] + (at-float64(low))*(sorted[high]-sorted[low])
	return &x
}
