package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
)

// capture is a captured Kineto trace that can be written many times over, each
// time later and with ids of its own, as a longer capture would have them.
type capture struct {
	head, tail []byte
	parts      []part // of the events, between head and tail
	period     int64  // ns from one repetition to the next
	ids        int64  // above every id of the capture
	size       int64  // bytes of one repetition, about
}

// part is text, and the number behind it that moves.
type part struct {
	text []byte
	kind partKind
	n    int64 // ns of a time, the id itself
}

type partKind uint8

const (
	plain partKind = iota
	stamp          // a time in µs with three decimals
	id
)

var moving = regexp.MustCompile(`"(?:ts": (\d+)\.(\d{3})\b|(?:correlation|External id|Ev Idx)": ?(\d+))`)

// readCapture reads a captured trace, gzip, whose times have three decimals.
func readCapture(path string) (*capture, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	c, err := parseCapture(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

func parseCapture(text []byte) (*capture, error) {
	open := []byte(`"traceEvents": [`)
	start, end := bytes.Index(text, open), bytes.LastIndexByte(text, ']')
	if start < 0 || end < start {
		return nil, fmt.Errorf("expected a Kineto trace with %q", open)
	}
	start += len(open)
	c := &capture{head: text[:start], tail: text[end:], size: int64(end - start)}
	events := text[start:end]
	var first, last int64
	at := 0
	for _, m := range moving.FindAllSubmatchIndex(events, -1) {
		p := part{kind: id}
		digits := string(events[max(m[6], 0):max(m[7], 0)])
		from, to := m[6], m[7]
		if m[2] >= 0 {
			p.kind, from, to = stamp, m[2], m[5]
			digits = string(events[m[2]:m[3]]) + string(events[m[4]:m[5]])
		}
		var err error
		if p.n, err = strconv.ParseInt(digits, 10, 64); err != nil {
			return nil, err
		}
		if p.kind == id {
			c.ids = max(c.ids, p.n+1)
		} else {
			if first == 0 || p.n < first {
				first = p.n
			}
			last = max(last, p.n)
		}
		p.text = events[at:from]
		at = to
		c.parts = append(c.parts, p)
	}
	if last == first {
		return nil, fmt.Errorf("no times in it")
	}
	c.parts = append(c.parts, part{text: events[at:]})
	c.period = last - first + 1_000_000 // what starts last is done a millisecond later
	return c, nil
}

// write writes repetitions of the capture until there are size bytes, whole
// ones only, and returns how many.
func (c *capture) write(w io.Writer, size int64) (repeats int64, err error) {
	out := bufio.NewWriterSize(w, 1<<20)
	out.Write(c.head)
	var digits []byte
	for written := int64(0); written < size; repeats++ {
		if repeats > 0 {
			out.WriteByte(',')
		}
		for _, p := range c.parts {
			n, _ := out.Write(p.text)
			digits = digits[:0]
			switch p.kind {
			case stamp:
				ns := p.n + repeats*c.period
				digits = strconv.AppendInt(digits, ns/1000, 10)
				digits = append(digits, '.', byte('0'+ns/100%10), byte('0'+ns/10%10), byte('0'+ns%10))
			case id:
				digits = strconv.AppendInt(digits, p.n+repeats*c.ids, 10)
			}
			m, err := out.Write(digits)
			if err != nil {
				return 0, err
			}
			written += int64(n + m)
		}
	}
	out.Write(c.tail)
	return repeats, out.Flush()
}
