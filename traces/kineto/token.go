package kineto

import "bytes"

// Classes of bytes in a bare token.
const (
	digit  = 1 << iota
	dash   // -
	expo   // e and E
	point  // . and +
	letter // all other letters
	ends   // what ends a token
)

// classes is the class of each byte; 0 is a byte that no token holds.
var classes = func() (c [256]uint8) {
	for b := range 256 {
		switch {
		case b <= ' ' || b == ',' || b == '}' || b == ']':
			c[b] = ends
		case b >= '0' && b <= '9':
			c[b] = digit
		case b == '-':
			c[b] = dash
		case b == 'e' || b == 'E':
			c[b] = expo
		case b == '.' || b == '+':
			c[b] = point
		case b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z':
			c[b] = letter
		}
	}
	return c
}()

// token reads a number or a word.
func (s *scan) token() ([]byte, status) {
	start := s.i
	var seen uint8
	i := start
	for ; ; i++ {
		if i == len(s.b) {
			if i-start > maxToken {
				return nil, s.fail("expected a value")
			}
			return nil, short
		}
		c := classes[s.b[i]]
		if c == ends {
			break
		}
		if c == 0 {
			return nil, s.fail("expected a value")
		}
		seen |= c
	}
	s.i = i
	t := s.b[start:i]
	if len(t) == 0 || len(t) > maxToken {
		s.i = start
		return nil, s.fail("expected a value")
	}
	if seen == digit {
		return t, whole
	}
	if seen&letter == 0 && classes[t[0]] != expo {
		if !isNumber(t) {
			s.odd.malformed++
		}
		return t, whole
	}
	switch string(t) {
	case "true", "false", "null":
		return t, whole
	}
	switch string(bytes.ToLower(bytes.TrimLeft(t, "+-"))) {
	case "nan", "inf", "infinity", "nan(ind)", "ind":
		s.odd.nonFinite++
		return t, whole
	}
	s.i = start
	return nil, s.fail("expected a value")
}

// isNumber says whether t is a number as JSON writes it.
func isNumber(t []byte) bool {
	if len(t) > 0 && t[0] == '-' {
		t = t[1:]
	}
	n := digits(t)
	if n == 0 || n > 1 && t[0] == '0' {
		return false
	}
	t = t[n:]
	if len(t) > 0 && t[0] == '.' {
		if n = digits(t[1:]); n == 0 {
			return false
		}
		t = t[1+n:]
	}
	if len(t) > 0 && t[0]|0x20 == 'e' {
		t = t[1:]
		if len(t) > 0 && (t[0] == '+' || t[0] == '-') {
			t = t[1:]
		}
		if n = digits(t); n == 0 {
			return false
		}
		t = t[n:]
	}
	return len(t) == 0
}

// digits is how many decimal digits t starts with.
func digits(t []byte) int {
	for i, c := range t {
		if c < '0' || c > '9' {
			return i
		}
	}
	return len(t)
}
