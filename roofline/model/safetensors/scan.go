package safetensors

import (
	"fmt"
	"io"
	"math"
)

// scanner reads one JSON value from a part of a file, a window at a time.
// encoding/json would want the whole header, which may have 100 MB, and would
// let pass duplicate keys, broken UTF-8 and lone surrogates.
type scanner struct {
	src  io.ReaderAt
	next int64  // offset in src of the byte after buf
	stop int64  // offset in src of the first byte that is no longer JSON
	buf  []byte // the window
	at   int    // the next byte in buf
	err  error  // of src

	text []byte // the last string, unescaped
	fits bool   // text is all of it
}

const (
	window   = 64 << 10
	maxDepth = 64 // nesting of values that are skipped
)

// offset is the place of the next byte in the file.
func (s *scanner) offset() int64 { return s.next - int64(len(s.buf)-s.at) }

// fail is an error at the next byte.
func (s *scanner) fail(format string, args ...any) error {
	if s.err != nil {
		return fmt.Errorf("at byte %d: %w", s.offset(), s.err)
	}
	return fmt.Errorf("at byte %d: %s", s.offset(), fmt.Sprintf(format, args...))
}

// wanted is an error that says what should be at the next byte.
func (s *scanner) wanted(what string) error {
	if !s.have(1) {
		return s.fail("expected %s, but the header ends", what)
	}
	return s.fail("expected %s, got %q", what, rune(s.buf[s.at]))
}

// have says whether n bytes, few, are in the window, after moving it if needed.
func (s *scanner) have(n int) bool {
	for len(s.buf)-s.at < n {
		if s.next == s.stop || s.err != nil {
			return false
		}
		if s.buf == nil {
			s.buf = make([]byte, 0, min(window, s.stop-s.next))
		}
		kept := copy(s.buf[:cap(s.buf)], s.buf[s.at:])
		more := s.buf[kept:min(int64(cap(s.buf)), int64(kept)+s.stop-s.next)]
		got, err := s.src.ReadAt(more, s.next)
		s.buf, s.at = s.buf[:kept+got], 0
		s.next += int64(got)
		if got < len(more) {
			s.err = unexpected(err)
		}
	}
	return true
}

// peek is the next byte, 0 at the end: no JSON has a 0 outside of a string,
// and a string may not hold one.
func (s *scanner) peek() byte {
	if s.at == len(s.buf) && !s.have(1) {
		return 0
	}
	return s.buf[s.at]
}

// space skips white space.
func (s *scanner) space() {
	for {
		switch s.peek() {
		case ' ', '\n', '\r', '\t':
			s.at++
		default:
			return
		}
	}
}

// token skips white space and takes c.
func (s *scanner) token(c byte, what string) error {
	s.space()
	if s.peek() != c {
		return s.wanted(what)
	}
	s.at++
	return nil
}

// integer reads a whole number of 0 or more. A fraction or an exponent is
// refused, as the reference implementation does.
func (s *scanner) integer() (int64, error) {
	s.space()
	start := s.offset()
	var n int64
	digits := 0
	for ; ; digits++ {
		c := s.peek()
		if c < '0' || c > '9' {
			break
		}
		if digits > 0 && n == 0 {
			return 0, s.fail("a number may not start with 0")
		}
		d := int64(c - '0')
		if n > (math.MaxInt64-d)/10 {
			return 0, fmt.Errorf("at byte %d: the number is over %d", start, int64(math.MaxInt64))
		}
		n = n*10 + d
		s.at++
	}
	switch c := s.peek(); {
	case digits == 0:
		return 0, s.wanted("a whole number of 0 or more")
	case c == '.' || c|0x20 == 'e':
		return 0, s.wanted("a whole number without fraction or exponent")
	}
	return n, nil
}
