package reports

import (
	"fmt"
	"io"
	"math"
	"os"
	"reflect"
	"strings"
	"time"
)

// MaxCeilingsBytes bounds a ceilings document.
const MaxCeilingsBytes = 32 << 20

// Limits of a ceilings document; no run comes near them.
const (
	maxProbeResults = 100_000
	maxResourceName = 200
)

// ReadCeilings reads and checks the ceilings document at path. Errors name the
// file, the position or field, and what was expected there.
func ReadCeilings(path string) (*CeilingsDocument, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the ceilings: %w", err)
	}
	defer f.Close()
	return ReadCeilingsFrom(f, path)
}

// ReadCeilingsFrom reads and checks one ceilings document from r; name stands
// for it in errors. Fields it does not know are skipped.
func ReadCeilingsFrom(r io.Reader, name string) (*CeilingsDocument, error) {
	name = OneLine(name, 0)
	data, err := io.ReadAll(io.LimitReader(r, MaxCeilingsBytes+1))
	if err != nil {
		return nil, fmt.Errorf("%s: cannot read the ceilings: %w", name, err)
	}
	if len(data) > MaxCeilingsBytes {
		return nil, fmt.Errorf("%s: larger than %d MB, the limit of a ceilings document", name, MaxCeilingsBytes>>20)
	}
	if err := ceilingsKind(data); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	doc := new(CeilingsDocument)
	if err := decode(data, doc); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := doc.Check(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return doc, nil
}

// ceilingsKind looks at what kind of document this is before its fields.
func ceilingsKind(data []byte) error {
	const made = "ceilings are made with: decodegap probe -o ceilings.json"
	var head struct {
		Schema *string `json:"schema"`
	}
	if len(strings.TrimSpace(string(data[:min(len(data), 4096)]))) == 0 {
		return fmt.Errorf("empty; %s", made)
	}
	if err := decode(data, &head); err != nil {
		return err
	}
	switch {
	case head.Schema == nil:
		return fmt.Errorf("no \"schema\": expected a document that starts with \"schema\": %q; %s", CeilingsSchema, made)
	case *head.Schema != CeilingsSchema:
		return fmt.Errorf("schema %q: expected %q; %s", OneLine(*head.Schema, 60), CeilingsSchema, made)
	}
	return nil
}

// Check finds figures that cannot be and texts that are missing.
func (d *CeilingsDocument) Check() error {
	if at, value, ok := finite(reflect.ValueOf(*d)); !ok {
		return fmt.Errorf("%s: %g, expected a finite number", strings.TrimPrefix(at, "."), value)
	}
	if _, err := time.Parse(time.RFC3339, d.When); err != nil {
		return fmt.Errorf("when: %q, expected a time such as 2026-11-29T21:40:00Z", OneLine(d.When, 40))
	}
	if d.Device == "" || d.Hardware == "" {
		return fmt.Errorf("device and hardware: expected both to say what was probed")
	}
	if len(d.Results) > maxProbeResults || len(d.Ceilings) > maxProbeResults {
		return fmt.Errorf("more than %d results", maxProbeResults)
	}
	if d.NoiseFloor != nil && *d.NoiseFloor < 0 {
		return fmt.Errorf("noise_floor: %g, expected 0 or more", *d.NoiseFloor)
	}
	seen := map[string]bool{}
	for i, c := range d.Ceilings {
		at := fmt.Sprintf("ceilings[%d]", i)
		if c.Resource == "" || len(c.Resource) > maxResourceName || seen[c.Resource] {
			return fmt.Errorf("%s.resource: %q: missing, too long, or there twice", at, OneLine(c.Resource, 60))
		}
		seen[c.Resource] = true
		if c.Value <= 0 {
			return fmt.Errorf("%s.value: %g, expected a number above 0", at, c.Value)
		}
		if c.Basis != "probed" {
			return fmt.Errorf("%s.basis: %q, expected probed", at, OneLine(c.Basis, 40))
		}
		if err := oneOf(at+".verdict", c.Verdict, ProbeVerdicts); err != nil {
			return err
		}
		if err := c.Sample.check(at + ".sample"); err != nil {
			return err
		}
		if b := c.Bus; b != nil && (b.MemoryClockMHz <= 0 || b.BusWidthBits <= 0 || b.Peak <= 0 || b.Share <= 0) {
			return fmt.Errorf("%s.bus: clock %d MHz, width %d bit, peak %g B/s, share %g: expected all above 0", at, b.MemoryClockMHz, b.BusWidthBits, b.Peak, b.Share)
		}
		if !agree(c.Value, c.Sample.Median) {
			return changed(at+".value", c.Value, c.Sample.Median, "its sample's median", "probe")
		}
	}
	for i, r := range d.Results {
		if err := r.check(fmt.Sprintf("results[%d]", i)); err != nil {
			return err
		}
	}
	return nil
}

// ProbeVerdicts are what a measured number can be called.
var ProbeVerdicts = []string{"good", "noisy", "unreliable"}

func (r *ProbeResult) check(at string) error {
	if r.Probe == "" {
		return fmt.Errorf("%s.probe: missing", at)
	}
	if err := oneOf(at+".outcome", r.Outcome, []string{"measured", "unsupported", "failed"}); err != nil {
		return err
	}
	if r.Outcome != "measured" {
		if r.TimeS != nil || r.ReadShare != nil || r.GBs != nil {
			return fmt.Errorf("%s: a case that was not measured has no numbers", at)
		}
		return nil
	}
	if r.TimeS == nil {
		return fmt.Errorf("%s.time_s: missing of a measured case", at)
	}
	if err := oneOf(at+".verdict", r.Verdict, ProbeVerdicts); err != nil {
		return err
	}
	if err := r.TimeS.check(at + ".time_s"); err != nil {
		return err
	}
	if err := checkClocks(r.Clocks, len(r.TimeS.Values), at); err != nil {
		return err
	}
	if r.Step != nil {
		if err := r.Step.check(at + ".step"); err != nil {
			return err
		}
	}
	if r.ReadShare != nil {
		return r.ReadShare.check(at + ".read_share")
	}
	return nil
}

// checkClocks holds clock records to the values that a case has.
func checkClocks(all []ClockWindow, values int, at string) error {
	for i, w := range all {
		if w.Values < 0 || w.InvalidBlocks < 0 || w.InvalidBlocks > w.Blocks || w.Values > values {
			return fmt.Errorf("%s.clocks[%d]: %d blocks, %d of them invalid, %d values: expected no more values than the case has (%d are left)", at, i, w.Blocks, w.InvalidBlocks, w.Values, values)
		}
		values -= w.Values
	}
	return nil
}

// check holds a sample to positive values that its interval and quantiles lie
// among.
func (s *Sample) check(at string) error {
	if len(s.Values) == 0 {
		return fmt.Errorf("%s.values: empty", at)
	}
	least, most := math.Inf(1), 0.0
	for i, v := range s.Values {
		if v <= 0 {
			return fmt.Errorf("%s.values[%d]: %g, expected a number above 0", at, i, v)
		}
		least, most = min(least, v), max(most, v)
	}
	if (s.Lo == nil) != (s.Hi == nil) {
		return fmt.Errorf("%s: lo and hi: expected both ends of the interval, or neither", at)
	}
	slack := agreement * most
	for _, q := range []struct {
		name  string
		value *float64
	}{{"median", &s.Median}, {"lo", s.Lo}, {"hi", s.Hi}, {"p10", &s.P10}, {"p90", &s.P90}} {
		if q.value != nil && (*q.value < least-slack || *q.value > most+slack) {
			return fmt.Errorf("%s.%s: %g is outside the values it is taken from, %g to %g", at, q.name, *q.value, least, most)
		}
	}
	if s.Lo != nil && (*s.Lo > s.Median+slack || *s.Hi < s.Median-slack) {
		return fmt.Errorf("%s: interval %g to %g does not hold the median of %g", at, *s.Lo, *s.Hi, s.Median)
	}
	return nil
}
