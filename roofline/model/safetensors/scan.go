package safetensors

import (
	"fmt"
	"io"
	"math"
	"unicode/utf8"
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

// string reads a string into text, at most limit bytes of it; fits says
// whether that was all.
func (s *scanner) string(limit int, what string) error {
	if err := s.token('"', what); err != nil {
		return err
	}
	s.text, s.fits = s.text[:0], true
	for {
		run := s.buf[s.at:]
		n := 0
		for n < len(run) && run[n] >= ' ' && run[n] < utf8.RuneSelf && run[n] != '"' && run[n] != '\\' {
			n++
		}
		s.keep(run[:n], limit)
		s.at += n
		switch c := s.peek(); {
		case c == '"':
			s.at++
			return nil
		case c == '\\':
			if err := s.escape(limit); err != nil {
				return err
			}
		case c >= utf8.RuneSelf:
			s.have(utf8.UTFMax) // fewer are left at the end: DecodeRune sees it
			r, size := utf8.DecodeRune(s.buf[s.at:])
			if r == utf8.RuneError && size == 1 {
				return s.fail("the text is not valid UTF-8")
			}
			s.keep(s.buf[s.at:s.at+size], limit)
			s.at += size
		case c < ' ':
			if !s.have(1) {
				return s.fail("the header ends within a string")
			}
			return s.fail("a control character %#02x in a string", c)
		}
	}
}

func (s *scanner) keep(b []byte, limit int) {
	if room := limit - len(s.text); len(b) > room {
		b, s.fits = b[:max(room, 0)], false
	}
	s.text = append(s.text, b...)
}

// escape reads an escape within a string.
func (s *scanner) escape(limit int) error {
	if !s.have(2) {
		return s.fail("the header ends within a string")
	}
	c := s.buf[s.at+1]
	if c == 'u' {
		return s.unicode(limit)
	}
	switch c {
	case '"', '\\', '/':
	case 'b':
		c = '\b'
	case 'f':
		c = '\f'
	case 'n':
		c = '\n'
	case 'r':
		c = '\r'
	case 't':
		c = '\t'
	default:
		return s.fail("unknown escape \\%q", rune(c))
	}
	s.keep([]byte{c}, limit)
	s.at += 2
	return nil
}

// unicode reads \uXXXX, or two of them for one character.
func (s *scanner) unicode(limit int) error {
	r, ok := s.hex()
	if !ok {
		return s.fail("expected four hexadecimal digits after \\u")
	}
	if r >= 0xDC00 && r < 0xE000 {
		return s.fail("half a surrogate pair: \\u%04x", r)
	}
	s.at += 6
	if r >= 0xD800 && r < 0xDC00 {
		low, ok := s.hex()
		if !ok || low < 0xDC00 || low >= 0xE000 {
			return s.fail("half a surrogate pair: \\u%04x", r)
		}
		r = (r-0xD800)<<10 + (low - 0xDC00) + 0x10000
		s.at += 6
	}
	var b [utf8.UTFMax]byte
	s.keep(b[:utf8.EncodeRune(b[:], r)], limit)
	return nil
}

// hex is the value of the \uXXXX that comes next.
func (s *scanner) hex() (r rune, ok bool) {
	if !s.have(6) || s.buf[s.at] != '\\' || s.buf[s.at+1] != 'u' {
		return 0, false
	}
	for _, c := range s.buf[s.at+2 : s.at+6] {
		r <<= 4
		switch {
		case c >= '0' && c <= '9':
			r |= rune(c - '0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			r |= rune(c|0x20-'a') + 10
		default:
			return 0, false
		}
	}
	return r, true
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
