//go:build cgo && linux

package cuda

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"
	"time"

	"decodegap/probes"
	"decodegap/probes/cuda/cudatest"
	"decodegap/probes/cuda/driver"
	"decodegap/probes/reference"
)

// held is what the i-th of a subject's operands holds.
func held[T any](t *testing.T, s *subject, i int, bytes int) []T {
	t.Helper()
	out, err := read[T](s.memory[i], 0, int(s.memory[i].Size())/bytes)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func inBytes[T uint16 | uint32](values []T) []byte {
	out, err := binary.Append(nil, binary.LittleEndian, values)
	if err != nil {
		panic(err)
	}
	return out
}

// nearestCode is the code of a format for a magnitude.
func nearestCode(c codes, v float64) byte {
	best := 0
	for i := range c {
		if math.Abs(c[i]-v) < math.Abs(c[best]-v) {
			best = i
		}
	}
	return byte(best)
}

// rowsOf is a row output as a right kernel leaves it.
func rowsOf(format string, rows [][]float64) []byte {
	var y, scales []byte
	cols := len(rows[0])
	if format == "NVFP4" {
		y = make([]byte, len(rows)*cols/2)
		scales = make([]byte, (len(rows)+scaleTile-1)/scaleTile*scaleTile*cols/16)
	}
	for r, row := range rows {
		scale := float32(largestOf(row) / 448)
		if format == "FP8" {
			scales = binary.LittleEndian.AppendUint32(scales, math.Float32bits(scale))
		}
		for i, v := range row {
			sign := byte(math.Float64bits(v) >> 63)
			switch format {
			case "BF16":
				y = binary.LittleEndian.AppendUint16(y, reference.ToBF16(float32(v)))
			case "FP8":
				y = append(y, sign<<7|nearestCode(e4m3Codes, math.Abs(v)/float64(scale)))
			case "NVFP4":
				at := tileAt(r, i/16, cols/16)
				if i%16 == 0 {
					scales[at] = nearestCode(e4m3Codes, largestOf(row[i:i+16])*float64(global)/6)
				}
				if scales[at] > 0 {
					y[(r*cols+i)/2] |= (sign<<3 | nearestCode(e2m1Codes, math.Abs(v)*float64(global)/e4m3(scales[at]))) << (4 * (i % 2))
				}
			}
		}
	}
	return append(y, scales...)
}

// TestComputed: what a right kernel would leave passes each check, and no
// longer with one bit of it changed, wherever that is.
func TestComputed(t *testing.T) {
	t.Setenv("FAKECUDA_FREE", "1073741824")
	m, err := Open(cudatest.Library(t, root), 0, 30*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	norm := func(t *testing.T, s *subject, c probes.Case) []byte {
		x, residual, w := held[uint16](t, s, 0, 2), held[uint16](t, s, 1, 2), held[uint16](t, s, 2, 2)
		sums := make([]uint16, len(x))
		for i := range x {
			sums[i] = reference.ToBF16(float32(bf16(x[i]) + bf16(residual[i])))
		}
		var rows [][]float64
		for row := range slices.Chunk(sums, len(w)) {
			rows = append(rows, reference.Normalised(widen(row), w, normEpsilon, 0))
		}
		return append(inBytes(sums), rowsOf(c.Format, rows)...)
	}
	gate := func(t *testing.T, s *subject, c probes.Case) []byte {
		var rows [][]float64
		for x := range slices.Chunk(held[uint16](t, s, 0, 2), 2*c.Shape["size"]) {
			up := widen(x[len(x)/2:])
			for i, g := range widen(x[:len(x)/2]) {
				up[i] *= reference.SiLU(g)
			}
			rows = append(rows, up)
		}
		return rowsOf(c.Format, rows)
	}
	for _, c := range []struct {
		probe    probes.Probe
		of       probes.Case
		computed func(*testing.T, *subject, probes.Case) []byte
		check    []int // bytes whose change is seen
	}{
		{Norm, rowCase("BF16", 2, 256), norm, []int{0, 1000, 1024, 2047}},
		{Norm, rowCase("FP8", 2, 256), norm, []int{0, 1024, 1535, 1536 + 2}},
		{Norm, rowCase("NVFP4", 2, 1024), norm, []int{0, 4096, 5000, 5120}},
		{Activation, rowCase("BF16", 2, 512), gate, []int{1, 2047}},
		{Activation, rowCase("FP8", 2, 512), gate, []int{0, 1023, 1024 + 2}},
		{Activation, rowCase("NVFP4", 2, 512), gate, []int{0, 511, 512}},
		{Embedding, rowCase("BF16", 2, 512), func(t *testing.T, s *subject, c probes.Case) []byte {
			table := held[uint16](t, s, 0, 2)
			var out []uint16
			for _, id := range held[uint32](t, s, 1, 4) {
				out = append(out, table[512*id:][:512]...)
			}
			return inBytes(out)
		}, []int{0, 2047}},
		{Permute, probes.Case{Shape: map[string]int{"m": 1, "experts": 64, "chosen": 8, "hidden": 64}}, func(t *testing.T, s *subject, c probes.Case) []byte {
			// One token: its row eight times, in the order of its experts.
			chosen, x := held[uint32](t, s, 0, 4), held[uint16](t, s, 1, 2)
			sorted := slices.Sorted(slices.Values(chosen))
			out := inBytes(slices.Repeat(x, 8))
			var place, begins []uint32
			for _, e := range chosen {
				place = append(place, uint32(slices.Index(sorted, e)))
			}
			for e := range uint32(65) {
				n, _ := slices.BinarySearch(sorted, e)
				begins = append(begins, uint32(n))
			}
			return append(append(append(out, inBytes(place)...), inBytes(make([]uint32, 8))...), inBytes(begins)...)
		}, []int{0, 1023, 1024, 1056, 1088, 1088 + 4*64}},
		{Sampling, probes.Case{Shape: map[string]int{"m": 2, "size": 5000}}, func(t *testing.T, s *subject, c probes.Case) []byte {
			var ids []uint32
			for row := range slices.Chunk(held[float32](t, s, 0, 4)[:10000], 5000) {
				ids = append(ids, uint32(slices.Index(row, slices.Max(row))))
			}
			return inBytes(ids)
		}, []int{0, 4}},
	} {
		made, err := c.probe.Prepare(t.Context(), m.Host(1<<30), c.of)
		if err != nil {
			t.Errorf("%s, %v: %v", c.probe.Name, c.of.Shape, err)
			continue
		}
		s := made.(*subject)
		if _, err := s.Time(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		out := c.computed(t, s, c.of)
		put := func() (probes.Correctness, error) {
			if err := driver.Write(s.output, 0, out); err != nil {
				t.Fatal(err)
			}
			return s.Verify()
		}
		if got, err := put(); err != nil || !got.OK() {
			t.Errorf("%s, %s %v: what is right does not pass: %+v, %v", c.probe.Name, c.of.Format, c.of.Shape, got, err)
		}
		for _, at := range c.check {
			out[at] ^= 0x42
			if got, err := put(); err == nil && got.OK() {
				t.Errorf("%s, %s %v: byte %d changed and passes: %+v", c.probe.Name, c.of.Format, c.of.Shape, at, got)
			}
			out[at] ^= 0x42
		}
		s.Close()
	}
}
