package kineto

import (
	"bytes"
	"unicode/utf8"
)

// status is how far a piece of JSON could be read.
type status uint8

const (
	whole status = iota
	short        // the buffer ends inside it
	bad          // it is no JSON; scan.fault says why
)

// Bounds: what is longer or deeper is damage, not a trace.
const (
	maxDepth = 64
	maxToken = 256
)

// counts are the oddities met on the way; reading goes on through them.
type counts struct {
	nonFinite int64 // bare nan, inf and their kin
	malformed int64 // numbers such as 0.-23
	escapes   int64 // strings with an escape that JSON does not have
	encoding  int64 // strings that are not UTF-8
	quotes    int64 // events with quotes inside a string that were not escaped
}

// scan walks JSON in a buffer. It knows nothing of events.
type scan struct {
	b       []byte
	i       int
	careful bool // b holds a backslash or bytes that are not UTF-8
	quotes  quoting
	inArray bool // the value being read stands in an array
	watch   bool // look out for environment variables

	environment bool
	odd         counts
	fault       string // after bad: what was expected
}

// quoting is how the end of a string is found.
type quoting uint8

const (
	strict  quoting = iota
	stray           // quotes that are not followed by what follows a string are part of it
	trailed         // so, and a backslash before the last quote does not escape it (C:\dir\)
)

func (s *scan) fail(why string) status {
	s.fault = why
	return bad
}

// space moves to the next byte that is no white space.
func (s *scan) space() status {
	b, i := s.b, s.i
	for i < len(b) {
		if b[i] > ' ' {
			s.i = i
			return whole
		}
		i++
	}
	s.i = i
	return short
}

// text reads a string and gives what stands between its quotes, as it stands.
func (s *scan) text() ([]byte, status) {
	start := s.i + 1
	if s.quotes == strict && !s.careful { // most are short and plain
		for j := start; j < len(s.b) && j < start+12; j++ {
			if s.b[j] == '"' {
				s.i = j + 1
				return s.b[start:j], whole
			}
		}
	}
	for j := start; ; j++ {
		k := bytes.IndexByte(s.b[min(j, len(s.b)):], '"')
		if k < 0 {
			return nil, short
		}
		j += k
		n := 0
		for j-n > start && s.b[j-n-1] == '\\' {
			n++
		}
		if n&1 == 1 && !(s.quotes == trailed && s.closes(j)) {
			continue
		}
		if s.quotes != strict && !s.closes(j) {
			continue
		}
		s.i = j + 1
		raw := s.b[start:j]
		if s.careful {
			s.inspect(raw)
		}
		return raw, whole
	}
}

// inspect counts what is wrong with a string.
func (s *scan) inspect(raw []byte) {
	if !utf8.Valid(raw) {
		s.odd.encoding++
	}
	for j := 0; ; j += 2 {
		k := bytes.IndexByte(raw[min(j, len(raw)):], '\\')
		if k < 0 {
			return
		}
		j += k
		if j+1 >= len(raw) || bytes.IndexByte([]byte(`"\/bfnrtu`), raw[j+1]) < 0 || raw[j+1] == 'u' && !hex4(raw[j+2:]) {
			s.odd.escapes++
			return
		}
	}
}

// closes says whether the quote at j ends a value: what follows it is what
// follows a value, and not text that happens to hold a quote.
func (s *scan) closes(j int) bool {
	c, j := s.peek(j + 1)
	switch c {
	case ',':
		if s.inArray {
			return true
		}
		c, j = s.peek(j + 1)
		if c != '"' {
			return false
		}
		k := bytes.IndexByte(s.b[j+1:min(len(s.b), j+100)], '"')
		if k < 0 {
			return false
		}
		c, _ = s.peek(j + 1 + k + 1)
		return c == ':'
	case '}', ']':
		if (c == ']') != s.inArray {
			return false
		}
		c, _ = s.peek(j + 1)
		return c == ',' || c == '}' || c == ']' || c == 0
	}
	return false
}

// peek is the first byte from j on that is no white space, and its place; 0 at
// the end of the buffer.
func (s *scan) peek(j int) (byte, int) {
	for ; j < len(s.b); j++ {
		if s.b[j] > ' ' {
			return s.b[j], j
		}
	}
	return 0, j
}

// key reads a key and moves to its value.
func (s *scan) key() ([]byte, status) {
	if st := s.space(); st != whole {
		return nil, st
	}
	if s.b[s.i] != '"' {
		return nil, s.fail("expected a key")
	}
	b, i := s.b, s.i+1
	for i < len(b) && b[i] != '"' && b[i] != '\\' {
		i++
	}
	if i == len(b) {
		return nil, short
	}
	key := b[s.i+1 : i]
	if b[i] == '"' && !s.careful {
		s.i = i + 1
	} else {
		mode := s.quotes
		s.quotes = strict
		var st status
		key, st = s.text()
		s.quotes = mode
		if st != whole {
			return nil, st
		}
		if bytes.IndexByte(key, '\\') >= 0 {
			key = unescape(key)
		}
	}
	if s.i < len(b) && b[s.i] == ':' {
		s.i++
		return key, s.space()
	}
	if st := s.space(); st != whole {
		return nil, st
	}
	if b[s.i] != ':' {
		return nil, s.fail("expected : after a key")
	}
	s.i++
	return key, s.space()
}

// more moves past the comma after a member or the bracket that ends the list.
func (s *scan) more(end byte) (bool, status) {
	if st := s.space(); st != whole {
		return false, st
	}
	switch s.b[s.i] {
	case ',':
		s.i++
		return true, whole
	case end:
		s.i++
		return false, whole
	}
	return false, s.fail("expected , or " + string(end))
}

// empty moves past the opening bracket, and the closing one if it follows.
func (s *scan) empty(end byte) (bool, status) {
	s.i++
	if st := s.space(); st != whole {
		return false, st
	}
	if s.b[s.i] != end {
		return false, whole
	}
	s.i++
	return true, whole
}

// skip reads a value of any kind and forgets it.
func (s *scan) skip(depth int) status {
	if st := s.space(); st != whole {
		return st
	}
	switch s.b[s.i] {
	case '"':
		_, st := s.text()
		return st
	case '{':
		return s.skipObject(depth + 1)
	case '[':
		return s.skipArray(depth + 1)
	}
	_, st := s.token()
	return st
}

func (s *scan) skipObject(depth int) status {
	if depth > maxDepth {
		return s.fail("nested too deep")
	}
	none, st := s.empty('}')
	outer := s.inArray
	s.inArray = false
	for more := !none; more && st == whole; {
		var key []byte
		if key, st = s.key(); st != whole {
			break
		}
		if s.watch && isEnvironment(key, s.b[s.i]) {
			s.environment = true
		}
		if st = s.skip(depth); st == whole {
			more, st = s.more('}')
		}
	}
	s.inArray = outer
	return st
}

func (s *scan) skipArray(depth int) status {
	if depth > maxDepth {
		return s.fail("nested too deep")
	}
	none, st := s.empty(']')
	outer := s.inArray
	s.inArray = true
	for more := !none; more && st == whole; {
		if st = s.skip(depth); st == whole {
			more, st = s.more(']')
		}
	}
	s.inArray = outer
	return st
}

// object calls member with each key, at its value; member reads the value.
func (s *scan) object(member func(key []byte) status) status {
	none, st := s.empty('}')
	for more := !none; more && st == whole; {
		var key []byte
		if key, st = s.key(); st != whole {
			break
		}
		if st = member(key); st == whole {
			more, st = s.more('}')
		}
	}
	return st
}

// value is a value as it stands: a string's content, a bare token, or the text
// of an object or array.
type value struct {
	raw    []byte
	quoted bool
}

// value reads a value and keeps it.
func (s *scan) value(v *value) status {
	var st status
	switch start := s.i; s.b[s.i] {
	case '"':
		v.quoted = true
		v.raw, st = s.text()
	case '{', '[':
		v.quoted = false
		st = s.skip(0)
		v.raw = s.b[start:s.i]
	default:
		v.quoted = false
		v.raw, st = s.token()
	}
	return st
}
