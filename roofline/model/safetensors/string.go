package safetensors

import "unicode/utf8"

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
