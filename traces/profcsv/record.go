// Package profcsv reads CSV as profilers print it: between lines of progress
// and of the profiled program's own output, with quoted names that hold commas
// and line breaks, thousands separators and scaled units.
//
// It refuses to guess: a number that is not plainly grouped in thousands is not
// a number, and a quote that never closes costs its own line alone.
package profcsv

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
)

const (
	maxLine   = 1 << 20   // of a line, bytes
	maxRecord = 256 << 10 // of a record over several lines, bytes
	maxJoined = 16        // lines in a record
	maxFields = 20_000
)

// Record is one line of fields.
type Record struct {
	Offset int64 // of its first byte
	Fields []string
	Line   string // as written
}

// Bad is a line that cannot be read.
type Bad struct {
	Offset int64
	What   string
}

func (b *Bad) Error() string { return fmt.Sprintf("byte %d: %s", b.Offset, b.What) }

type line struct {
	offset int64
	text   string
}

// Scanner reads records one after the other.
type Scanner struct {
	in      *bufio.Reader
	offset  int64
	waiting []line // read ahead for a quote that did not close
}

// NewScanner reads size bytes of file.
func NewScanner(file io.ReaderAt, size int64) *Scanner {
	return &Scanner{in: bufio.NewReaderSize(io.NewSectionReader(file, 0, size), 64<<10)}
}

// Next is the next record: io.EOF at the end, *Bad for a line that cannot be
// read, behind which reading goes on, any other error for a fault of the file.
func (s *Scanner) Next() (Record, error) {
	first, err := s.line()
	if err != nil {
		return Record{}, err
	}
	text := first.text
	if first.offset == 0 {
		text = strings.TrimPrefix(text, "\ufeff") // a byte order mark
	}
	fields, open := split(text)
	for used := 0; open; used++ {
		if used == len(s.waiting) {
			l, err := s.read()
			if bad := (*Bad)(nil); errors.As(err, &bad) || errors.Is(err, io.EOF) {
				return Record{}, &Bad{first.offset, "a quote that does not close"}
			} else if err != nil {
				return Record{}, err
			}
			s.waiting = append(s.waiting, l)
		}
		if len(text)+len(s.waiting[used].text) > maxRecord || used == maxJoined {
			return Record{}, &Bad{first.offset, "a quote that does not close"}
		}
		text += "\n" + s.waiting[used].text
		if fields, open = split(text); !open {
			s.waiting = s.waiting[used+1:]
			break
		}
	}
	if len(fields) > maxFields {
		return Record{}, &Bad{first.offset, fmt.Sprintf("%d fields; at most %d are read", len(fields), maxFields)}
	}
	return Record{Offset: first.offset, Fields: fields, Line: text}, nil
}

func (s *Scanner) line() (line, error) {
	if len(s.waiting) > 0 {
		l := s.waiting[0]
		s.waiting = s.waiting[1:]
		return l, nil
	}
	return s.read()
}

// read takes one line off the file, without its end.
func (s *Scanner) read() (line, error) {
	start := s.offset
	var b strings.Builder
	long := false
	for {
		part, err := s.in.ReadSlice('\n')
		s.offset += int64(len(part))
		if long = long || b.Len()+len(part) > maxLine; !long {
			b.Write(part)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && (!errors.Is(err, io.EOF) || s.offset == start):
			return line{}, err
		case long:
			return line{}, &Bad{start, fmt.Sprintf("a line of more than %d bytes", maxLine)}
		}
		text := strings.TrimRight(b.String(), "\r\n")
		if start == 0 {
			text = strings.TrimPrefix(text, "\ufeff")
		}
		return line{start, text}, nil
	}
}

// split cuts text into fields; open says that a quote does not close in it. A
// quote counts only where a field begins.
func split(text string) (fields []string, open bool) {
	for {
		if !strings.HasPrefix(text, `"`) {
			field, rest, more := strings.Cut(text, ",")
			fields = append(fields, strings.TrimSpace(field))
			if !more {
				return fields, false
			}
			text = rest
			continue
		}
		field, rest, closed := quoted(text[1:])
		if !closed {
			return nil, true
		}
		fields = append(fields, field)
		_, rest, more := strings.Cut(rest, ",")
		if !more {
			return fields, false
		}
		text = rest
	}
}

// quoted is the text up to the closing quote; two quotes stand for one.
func quoted(text string) (field, rest string, closed bool) {
	var b strings.Builder
	for {
		i := strings.IndexByte(text, '"')
		if i < 0 {
			return "", "", false
		}
		b.WriteString(text[:i])
		text = text[i+1:]
		if !strings.HasPrefix(text, `"`) {
			return b.String(), text, true
		}
		b.WriteByte('"')
		text = text[1:]
	}
}
