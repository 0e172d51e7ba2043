package bench

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// kind says what a value is.
type kind uint8

const (
	isNull kind = iota
	isNumber
	isString
	isBool
	isComposite // an object or array, read over
)

// value is one JSON value. A number may be infinite or NaN.
type value struct {
	kind kind
	num  float64
	str  string
}

// number is the value as a number. Strings that hold one count, as do "inf"
// and its spellings, because tools save a request rate so.
func (v value) number() (float64, bool) {
	switch v.kind {
	case isNumber:
		return v.num, true
	case isString:
		return parseNumber(v.str)
	}
	return 0, false
}

// parseNumber reads decimal numbers and the words for infinity.
func parseNumber(s string) (float64, bool) {
	s = strings.TrimSpace(s)
	if len(s) > maxNumber || strings.ContainsAny(s, "xXpP_") {
		return 0, false
	}
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil && !math.IsNaN(f)
}

// value reads any value; of an object or array it tells only that it is one.
func (s *scanner) value() (value, error) {
	c, err := s.solid()
	if err != nil {
		return value{}, err
	}
	skip := func() error { _, err := s.value(); return err }
	switch {
	case c == '"':
		str, err := s.string()
		return value{kind: isString, str: str}, err
	case c == '{':
		return value{kind: isComposite}, s.members(func(string) error { return skip() })
	case c == '[':
		return value{kind: isComposite}, s.items(']', skip)
	}
	s.back(c)
	return s.bare()
}

// string reads a string whose opening quote is past. Only about its first
// maxString bytes are kept. A raw line break is a fault, not text: the line
// was cut, and what follows is the next result.
func (s *scanner) string() (string, error) {
	raw := []byte{'"'}
	full := false
	keep := func(unit ...byte) {
		if full = full || len(raw)+len(unit) > maxString; !full {
			raw = append(raw, unit...)
		}
	}
	for {
		c, err := s.next()
		if err != nil {
			return "", err
		}
		switch {
		case c == '"':
			var out string
			if err := json.Unmarshal(append(raw, '"'), &out); err != nil {
				return "", s.fault("a string that is not JSON: %v", err)
			}
			return out, nil
		case c == '\\':
			if c, err = s.next(); err != nil {
				return "", err
			}
			if c < 0x20 {
				s.back(c)
				return "", s.fault("control character %q in a string", c)
			}
			keep('\\', c)
			if c != 'u' {
				continue
			}
			// The four digits stay with their mark, or all are dropped.
			if full {
				continue
			}
			if len(raw)+4 > maxString {
				raw, full = raw[:len(raw)-2], true
				continue
			}
		case c < 0x20:
			s.back(c)
			return "", s.fault("control character %q in a string", c)
		default:
			keep(c)
		}
	}
}

// bare reads a number or a word up to the mark that ends it.
func (s *scanner) bare() (value, error) {
	b := s.word[:0]
	defer func() { s.word = b }()
	for {
		c, err := s.next()
		if err != nil {
			return value{}, err // at the end of the input the word may go on
		}
		if strings.IndexByte(" \t\r\n,]}", c) >= 0 {
			s.back(c)
			break
		}
		if b = append(b, c); len(b) > maxNumber {
			return value{}, s.fault("a value longer than %d characters", maxNumber)
		}
	}
	switch string(b) {
	case "null":
		return value{}, nil
	case "true", "false":
		return value{kind: isBool, str: string(b)}, nil
	case "NaN":
		return value{kind: isNumber, num: math.NaN()}, nil
	case "Infinity":
		return value{kind: isNumber, num: math.Inf(1)}, nil
	case "-Infinity":
		return value{kind: isNumber, num: math.Inf(-1)}, nil
	}
	if !numeral(b) {
		return value{}, s.fault("expected a value, found %q", short(string(b)))
	}
	f, err := strconv.ParseFloat(string(b), 64)
	if err != nil { // out of range: no number to use
		f = math.NaN()
	}
	return value{kind: isNumber, num: f}, nil
}

// numeral says whether b is a number by JSON's grammar.
func numeral(b []byte) bool {
	digits := func() (n int) {
		for len(b) > 0 && b[0] >= '0' && b[0] <= '9' {
			b, n = b[1:], n+1
		}
		return n
	}
	if len(b) > 0 && b[0] == '-' {
		b = b[1:]
	}
	zero := len(b) > 0 && b[0] == '0'
	if n := digits(); n == 0 || zero && n > 1 {
		return false
	}
	if len(b) > 0 && b[0] == '.' {
		b = b[1:]
		if digits() == 0 {
			return false
		}
	}
	if len(b) > 0 && (b[0] == 'e' || b[0] == 'E') {
		b = b[1:]
		if len(b) > 0 && (b[0] == '+' || b[0] == '-') {
			b = b[1:]
		}
		if digits() == 0 {
			return false
		}
	}
	return len(b) == 0
}

// short cuts text for a message.
func short(s string) string {
	const most = 40
	if len(s) <= most {
		return s
	}
	for n := most; n > 0; n-- {
		if utf8.RuneStart(s[n]) {
			return s[:n] + "…"
		}
	}
	return "…"
}
