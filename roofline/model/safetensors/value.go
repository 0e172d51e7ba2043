package safetensors

// object reads an object and calls member once per key, with the key in text
// and the value next. Keys are read up to limit bytes.
func (s *scanner) object(limit int, what string, member func() error) error {
	if err := s.token('{', what); err != nil {
		return err
	}
	s.space()
	if s.peek() == '}' {
		s.at++
		return nil
	}
	for {
		if err := s.string(limit, "a key in double quotes"); err != nil {
			return err
		}
		if err := s.token(':', "a colon after the key"); err != nil {
			return err
		}
		if err := member(); err != nil {
			return err
		}
		if more, err := s.more('}'); !more {
			return err
		}
	}
}

// array reads an array and calls element once per element, which comes next.
func (s *scanner) array(what string, element func() error) error {
	if err := s.token('[', what); err != nil {
		return err
	}
	s.space()
	if s.peek() == ']' {
		s.at++
		return nil
	}
	for {
		if err := element(); err != nil {
			return err
		}
		if more, err := s.more(']'); !more {
			return err
		}
	}
}

// more takes the comma before a further member, or the closing bracket.
func (s *scanner) more(closing byte) (bool, error) {
	s.space()
	switch s.peek() {
	case ',':
		s.at++
		return true, nil
	case closing:
		s.at++
		return false, nil
	}
	return false, s.wanted("a comma or " + string(rune(closing)))
}

// skip reads any value, checks it and forgets it.
func (s *scanner) skip(depth int) error {
	s.space()
	switch c := s.peek(); {
	case c == '{' || c == '[':
		if depth == maxDepth {
			return s.fail("values are nested over %d deep", maxDepth)
		}
		inner := func() error { return s.skip(depth + 1) }
		if c == '{' {
			return s.object(0, "an object", inner)
		}
		return s.array("an array", inner)
	case c == '"':
		return s.string(0, "a string")
	case c == '-' || c >= '0' && c <= '9':
		return s.number()
	case c == 't':
		return s.word("true")
	case c == 'f':
		return s.word("false")
	case c == 'n':
		return s.word("null")
	}
	return s.wanted("a JSON value")
}

// word takes one of JSON's three words.
func (s *scanner) word(w string) error {
	if !s.have(len(w)) || string(s.buf[s.at:s.at+len(w)]) != w {
		return s.wanted(w)
	}
	s.at += len(w)
	return nil
}

// number checks a number of any kind; text is set to its first 32 bytes.
func (s *scanner) number() error {
	s.text, s.fits = s.text[:0], true
	if s.peek() == '-' {
		s.take()
	}
	if s.peek() == '0' {
		s.take()
	} else if err := s.digits(); err != nil {
		return err
	}
	if s.peek() == '.' {
		s.take()
		if err := s.digits(); err != nil {
			return err
		}
	}
	if s.peek()|0x20 == 'e' {
		s.take()
		if c := s.peek(); c == '+' || c == '-' {
			s.take()
		}
		return s.digits()
	}
	return nil
}

// digits takes one digit or more.
func (s *scanner) digits() error {
	if c := s.peek(); c < '0' || c > '9' {
		return s.wanted("a digit")
	}
	for c := s.peek(); c >= '0' && c <= '9'; c = s.peek() {
		s.take()
	}
	return nil
}

func (s *scanner) take() {
	s.keep(s.buf[s.at:s.at+1], 32)
	s.at++
}
