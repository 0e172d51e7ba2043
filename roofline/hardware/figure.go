package hardware

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Confidence grades a figure: A, two or more public sources agree and one
// quotes the vendor; B, one such source or several secondary ones; C, derived,
// general knowledge, or the sources disagree.
type Confidence string

// The grades.
const (
	A Confidence = "A"
	B Confidence = "B"
	C Confidence = "C"
)

// Figure is one number of a data sheet in the unit its field names. Lo and Hi
// differ where sources do. A floor divides by Hi: only the higher rate keeps
// the bound a bound.
type Figure struct {
	Lo, Hi     float64
	Source     string
	Confidence Confidence
}

// Text is one fact that is not a number, such as the kind of memory.
type Text struct {
	Value      string     `json:"value"`
	Source     string     `json:"source"`
	Confidence Confidence `json:"confidence"`
}

// Range says whether sources disagree.
func (f Figure) Range() bool { return f.Lo != f.Hi }

// String prints the figure without its unit: "4800", "2000–2039".
func (f Figure) String() string {
	if f.Range() {
		return number(f.Lo) + "–" + number(f.Hi)
	}
	return number(f.Hi)
}

// number prints v with the digits its source had.
func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// figureJSON is the form a figure has in a device file.
type figureJSON struct {
	Value      json.RawMessage `json:"value"`
	Source     string          `json:"source"`
	Confidence Confidence      `json:"confidence"`
}

type rangeJSON struct {
	Lo *float64 `json:"lo"`
	Hi *float64 `json:"hi"`
}

// UnmarshalJSON reads {"value": 4800 or {"lo": …, "hi": …}, "source": …,
// "confidence": …} and refuses anything else.
func (f *Figure) UnmarshalJSON(data []byte) error {
	var raw figureJSON
	if err := strict(data, &raw); err != nil {
		return err
	}
	if err := provenance(raw.Source, raw.Confidence); err != nil {
		return err
	}
	var lo, hi float64
	if value := bytes.TrimSpace(raw.Value); len(value) > 0 && value[0] == '{' {
		var r rangeJSON
		if err := strict(value, &r); err != nil {
			return fmt.Errorf("value: %w", err)
		}
		if r.Lo == nil || r.Hi == nil || *r.Lo >= *r.Hi {
			return fmt.Errorf("value: a range needs lo below hi")
		}
		lo, hi = *r.Lo, *r.Hi
	} else {
		if err := json.Unmarshal(value, &hi); err != nil {
			return fmt.Errorf("value: expected a number or {\"lo\": …, \"hi\": …}")
		}
		lo = hi
	}
	if lo <= 0 || math.IsInf(hi, 0) || math.IsNaN(hi) {
		return fmt.Errorf("value: must be above 0; leave an unknown figure out")
	}
	*f = Figure{Lo: lo, Hi: hi, Source: raw.Source, Confidence: raw.Confidence}
	return nil
}

// MarshalJSON writes the form UnmarshalJSON reads.
func (f Figure) MarshalJSON() ([]byte, error) {
	var value any = f.Hi
	if f.Range() {
		value = rangeJSON{Lo: &f.Lo, Hi: &f.Hi}
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	return json.Marshal(figureJSON{Value: raw, Source: f.Source, Confidence: f.Confidence})
}

// UnmarshalJSON reads {"value": "GDDR7", "source": …, "confidence": …}.
func (t *Text) UnmarshalJSON(data []byte) error {
	type plain Text
	var p plain
	if err := strict(data, &p); err != nil {
		return err
	}
	if strings.TrimSpace(p.Value) == "" {
		return fmt.Errorf("value: missing")
	}
	if err := provenance(p.Source, p.Confidence); err != nil {
		return err
	}
	*t = Text(p)
	return nil
}

// provenance refuses a figure that does not say where it comes from.
func provenance(source string, c Confidence) error {
	if strings.TrimSpace(source) == "" {
		return fmt.Errorf("source: missing; every figure names one")
	}
	switch c {
	case A, B, C:
		return nil
	}
	return fmt.Errorf("confidence %q: expected A, B or C", c)
}

// strict decodes one JSON value and refuses unknown fields.
func strict(data []byte, into any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	return dec.Decode(into)
}
