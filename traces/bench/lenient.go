package bench

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// Limits of the scanner: what one value may hold in memory.
const (
	maxString = 4 << 10 // bytes kept of a string; the rest is read over
	maxNumber = 400     // characters of a number or bare word
	maxDepth  = 64      // nesting
)

// errCut is returned where the input ends inside a value.
var errCut = errors.New("the file ends in the middle of a result")

// scanner reads JSON as Python writes it, one value at a time and without
// holding a document: bare Infinity, -Infinity and NaN are values, long
// strings are shortened, and whatever stands before a cut or a fault has been
// handed over when the error comes. A number counts only once the character
// after it is seen, so that a cut never shortens one.
type scanner struct {
	r     *bufio.Reader
	line  int // from 1
	depth int
	// last and before are the bytes read last, to give one back.
	last, before byte
	// commit is called once the mark after an item of the outermost object is
	// seen: only then is the item known to be whole.
	commit func()
	word   []byte // scratch
}

func newScanner(r io.Reader) *scanner {
	return &scanner{r: bufio.NewReaderSize(r, 64<<10), line: 1}
}

func (s *scanner) fault(format string, args ...any) error {
	return fmt.Errorf("line %d: %s", s.line, fmt.Sprintf(format, args...))
}

// next is the next byte; the end of the input is errCut.
func (s *scanner) next() (byte, error) {
	c, err := s.r.ReadByte()
	if errors.Is(err, io.EOF) {
		return 0, errCut
	}
	if c == '\n' {
		s.line++
	}
	s.before, s.last = s.last, c
	return c, err
}

// back gives the last byte of next back.
func (s *scanner) back(c byte) {
	s.r.UnreadByte()
	s.last = s.before
	if c == '\n' {
		s.line--
	}
}

// solid is the next byte that is no white space.
func (s *scanner) solid() (byte, error) {
	for {
		c, err := s.next()
		if err != nil || c != ' ' && c != '\t' && c != '\n' && c != '\r' {
			return c, err
		}
	}
}

// object moves to the next object at the top level and past its brace. Array
// marks are read over, and so are lines that do not start an object, as in a
// captured console. io.EOF means that there is none left.
func (s *scanner) object() error {
	for {
		c, err := s.solid()
		switch {
		case errors.Is(err, errCut):
			return io.EOF
		case err != nil:
			return err
		case c == '{':
			return nil
		case c == '[', c == ']', c == ',':
		default:
			if err := s.skipLine(); err != nil {
				return err
			}
		}
	}
}

// skipLine reads past the next line break; io.EOF at the end of the input.
func (s *scanner) skipLine() error {
	for {
		c, err := s.next()
		switch {
		case errors.Is(err, errCut):
			return io.EOF
		case err != nil:
			return err
		case c == '\n':
			return nil
		}
	}
}

// recover goes on after a fault: to the next line that starts with a brace.
func (s *scanner) recover() error {
	s.depth, s.commit = 0, nil
	for first := true; ; first = false {
		if !first || s.last != '\n' {
			if err := s.skipLine(); err != nil {
				return err
			}
		}
		c, err := s.next()
		switch {
		case errors.Is(err, errCut):
			return io.EOF
		case err != nil:
			return err
		}
		s.back(c)
		if c == '{' {
			return nil
		}
	}
}

// members reads an object whose brace is past: visit is called at each value
// and must read it.
func (s *scanner) members(visit func(key string) error) error {
	return s.items('}', func() error {
		c, err := s.solid()
		if err != nil {
			return err
		}
		if c != '"' {
			s.back(c)
			return s.fault("expected a key in quotes, found %q", c)
		}
		key, err := s.string()
		if err != nil {
			return err
		}
		if c, err = s.solid(); err != nil {
			return err
		}
		if c != ':' {
			s.back(c)
			return s.fault("expected a colon after key %q, found %q", short(key), c)
		}
		return visit(key)
	})
}

// elements reads the value at hand as an array: visit is called at each
// element and must read it. Any other value is read over.
func (s *scanner) elements(visit func() error) error {
	c, err := s.solid()
	if err != nil {
		return err
	}
	if c != '[' {
		s.back(c)
		_, err := s.value()
		return err
	}
	return s.items(']', visit)
}

// items reads comma-separated items up to the closing mark.
func (s *scanner) items(end byte, visit func() error) error {
	if s.depth++; s.depth > maxDepth {
		return s.fault("nested deeper than %d", maxDepth)
	}
	c, err := s.solid()
	if err != nil {
		return err
	}
	for c != end {
		s.back(c)
		if err := visit(); err != nil {
			return err
		}
		if c, err = s.solid(); err != nil {
			return err
		}
		if c != ',' && c != end {
			s.back(c)
			return s.fault("expected a comma or %q, found %q", end, c)
		}
		if s.depth == 1 && s.commit != nil {
			s.commit()
			s.commit = nil
		}
		if c == end {
			break
		}
		if c, err = s.solid(); err != nil {
			return err
		}
		if c == end {
			s.back(c)
			return s.fault("expected a value after the comma, found %q", c)
		}
	}
	s.depth--
	return nil
}
