package gguf

import (
	"fmt"
	"strings"
)

// array reads an array, or passes over one that is too long to keep.
func (m *metadata) array(c *cursor) (value, error) {
	kind, err := c.u32()
	if err != nil {
		return value{}, err
	}
	count, err := c.u64()
	if err != nil {
		return value{}, err
	}
	width := widthOf(kind)
	switch {
	case kind == kindString:
		width = 8 // its length
	case kind == kindArray:
		return value{}, fmt.Errorf("at byte %d: an array of arrays, expected scalars or strings", c.offset()-12)
	case width == 0:
		return value{}, fmt.Errorf("at byte %d: value kind %d, expected one up to %d", c.offset()-12, kind, kindFloat64)
	}
	if err := c.room(count, int64(width)); err != nil {
		return value{}, err
	}
	a := value{length: int64(count)}
	keep := count <= maxArray && m.kept+int(count)*8 <= maxKept
	switch {
	case kind == kindString:
		a.v, err = m.strings(c, int(count), keep)
	case !keep:
		err = c.skip(count * uint64(width))
	default:
		m.kept += int(count) * 8
		a.v, err = c.scalars(kind, int(count), width)
	}
	return a, err
}

// strings reads count strings and keeps them if keep, as long as they are
// short.
func (m *metadata) strings(c *cursor, count int, keep bool) (any, error) {
	var out []string
	total := 0
	if keep {
		out = make([]string, 0, count)
	}
	for range count {
		n, err := c.u64()
		if err != nil {
			return nil, err
		}
		if keep && (n > maxStrip || total+int(n) > maxStrip || m.kept+total+int(n) > maxKept) {
			keep, out = false, nil
		}
		if !keep {
			if err := c.skip(n); err != nil {
				return nil, err
			}
			continue
		}
		b, err := c.bytes(int(n))
		if err != nil {
			return nil, err
		}
		total += len(b) + 16
		out = append(out, strings.ToValidUTF8(string(b), "\uFFFD"))
	}
	if !keep {
		return nil, nil
	}
	m.kept += total
	return out, nil
}

// scalars reads count values of one kind.
func (c *cursor) scalars(kind uint32, count, width int) (any, error) {
	b, err := c.bytes(count * width)
	if err != nil {
		return nil, err
	}
	switch kind {
	case kindFloat32, kindFloat64:
		return scalarsOf[float64](c, kind, b, width)
	case kindBool:
		return scalarsOf[bool](c, kind, b, width)
	}
	return scalarsOf[int64](c, kind, b, width)
}

// scalarsOf is nil if a value is no T: a whole number beyond int64.
func scalarsOf[T any](c *cursor, kind uint32, b []byte, width int) (any, error) {
	out := make([]T, len(b)/width)
	for i := range out {
		v := b[i*width : (i+1)*width]
		if kind == kindBool && v[0] > 1 {
			return nil, fmt.Errorf("at byte %d: boolean %d, expected 0 or 1", c.offset()-int64(len(b)-i), v[0])
		}
		t, ok := c.scalar(kind, v).(T)
		if !ok {
			return nil, nil
		}
		out[i] = t
	}
	return out, nil
}
