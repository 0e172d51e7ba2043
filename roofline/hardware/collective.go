package hardware

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"
)

//go:embed collectives.json
var collectiveFile []byte

// curve is the latency of one all-reduce algorithm over message size, measured
// on one machine.
type curve struct {
	Topology   string   `json:"topology"`
	GPUs       int      `json:"gpus"`
	MeasuredOn string   `json:"measured_on"` // a catalogue name
	LendsTo    []string `json:"lends_to"`    // parts on the same generation of link
	Algorithm  string   `json:"algorithm"`
	Source     string   `json:"source"`
	Points     []point  `json:"points"` // by rising size
}

// point is one measurement: a message of Bytes per GPU took Micros.
type point struct {
	Bytes  float64 `json:"bytes"`
	Micros float64 `json:"us"`
}

func (c curve) first() float64 { return c.Points[0].Bytes }
func (c curve) last() float64  { return c.Points[len(c.Points)-1].Bytes }

// covers says whether the curve was measured on both sides of size.
func (c curve) covers(size float64) bool { return c.first() <= size && size <= c.last() }

// bracket returns the measured points on both sides of a size that the curve
// covers; both are the same on a point.
func (c curve) bracket(size float64) (below, above point) {
	i, _ := slices.BinarySearchFunc(c.Points, size, func(p point, s float64) int {
		switch {
		case p.Bytes < s:
			return -1
		case p.Bytes > s:
			return 1
		}
		return 0
	})
	if c.Points[i].Bytes == size {
		return c.Points[i], c.Points[i]
	}
	return c.Points[i-1], c.Points[i]
}

// at is the latency in µs at a size that the curve covers, linear in bytes
// between the points.
func (c curve) at(size float64) float64 {
	below, above := c.bracket(size)
	if below == above {
		return below.Micros
	}
	t := (size - below.Bytes) / (above.Bytes - below.Bytes)
	return below.Micros + t*(above.Micros-below.Micros)
}

// serves says whether the curve may stand for groups of the part.
func (c curve) serves(d Device) bool {
	return c.MeasuredOn == d.Name || slices.Contains(c.LendsTo, d.Name)
}

// loadCurves parses the embedded file once.
var loadCurves = sync.OnceValues(func() ([]curve, error) {
	return parseCurves(collectiveFile)
})

// parseCurves reads and checks the collectives file.
func parseCurves(data []byte) ([]curve, error) {
	var file struct {
		Curves []curve `json:"curves"`
	}
	if err := strict(data, &file); err != nil {
		return nil, fmt.Errorf("collectives file: %w", err)
	}
	for i, c := range file.Curves {
		if err := c.check(); err != nil {
			return nil, fmt.Errorf("collectives file: curve %d (%s, %s): %w", i, c.MeasuredOn, c.Algorithm, err)
		}
	}
	return file.Curves, nil
}

func (c curve) check() error {
	if c.GPUs < 2 {
		return fmt.Errorf("gpus %d: an all-reduce needs two", c.GPUs)
	}
	if c.Algorithm == "" || strings.TrimSpace(c.Source) == "" {
		return fmt.Errorf("algorithm and source: each curve names both")
	}
	if len(c.Points) == 0 {
		return fmt.Errorf("points: none")
	}
	for i, p := range c.Points {
		if p.Bytes <= 0 || p.Micros <= 0 {
			return fmt.Errorf("point %d: size and time must be above 0", i)
		}
		if i > 0 && p.Bytes <= c.Points[i-1].Bytes {
			return fmt.Errorf("point %d: sizes must rise", i)
		}
	}
	for _, name := range append([]string{c.MeasuredOn}, c.LendsTo...) {
		d, err := Find(name)
		if err != nil {
			return err
		}
		if d.Name != name {
			return fmt.Errorf("%q: write the catalogue's name %q", name, d.Name)
		}
		if err := CheckTopology(d, c.Topology); err != nil {
			return err
		}
	}
	return nil
}

// curvesFor are the curves that may answer for n GPUs of the part; topology ""
// is any. A curve of another number of GPUs never answers.
func curvesFor(d Device, topology string, n int) []curve {
	all, err := loadCurves()
	if err != nil {
		panic(err) // a file compiled into the program, checked by a test
	}
	var out []curve
	for _, c := range all {
		if c.GPUs == n && (topology == "" || c.Topology == topology) && c.serves(d) {
			out = append(out, c)
		}
	}
	return out
}
