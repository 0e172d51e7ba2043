package gguf

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"decodegap/roofline/model/hostile"
)

// The numbers of the kinds of values (enum gguf_type in gguf.h).
const (
	kindUint8 = iota
	kindInt8
	kindUint16
	kindInt16
	kindUint32
	kindInt32
	kindFloat32
	kindBool
	kindString
	kindArray
	kindUint64
	kindInt64
	kindFloat64
)

const (
	maxKey    = 65535   // bytes, by the specification
	maxKeys   = 65536   // of one file
	maxString = 1 << 20 // bytes of a string that is kept
	maxArray  = 4096    // elements of an array that is kept
	maxStrip  = 64 << 10
	maxKept   = 16 << 20 // bytes of all that is kept
)

// metadata is the key-value pairs of a file. What is huge, such as a
// vocabulary, is passed over: its key and length are kept.
type metadata struct {
	values map[string]value
	kept   int // bytes, roughly
}

type value struct {
	// v is a string, int64, uint64 (only beyond int64), float64 or bool, or a
	// slice of one of them; nil for what was passed over.
	v      any
	length int64 // of an array, else -1
}

// read reads count pairs.
func (m *metadata) read(c *cursor, count uint64) error {
	if count > maxKeys {
		return fmt.Errorf("%d metadata keys, expected at most %d", count, maxKeys)
	}
	m.values = make(map[string]value)
	for range count {
		b, err := c.text(maxKey, "a metadata key")
		if err != nil {
			return err
		}
		key := string(b)
		if !utf8.ValidString(key) {
			return fmt.Errorf("at byte %d: metadata key %s is not valid UTF-8", c.offset(), hostile.Quote(key))
		}
		if _, twice := m.values[key]; twice {
			return fmt.Errorf("at byte %d: metadata key %s is there twice", c.offset(), hostile.Quote(key))
		}
		// An entry costs more than its text.
		if m.kept += len(key) + 64; m.kept > maxKept {
			return fmt.Errorf("at byte %d: metadata keys of more than %d bytes", c.offset(), maxKept)
		}
		v, err := m.value(c)
		if err != nil {
			return fmt.Errorf("metadata key %s: %w", hostile.Quote(key), err)
		}
		m.values[key] = v
	}
	return nil
}

// value reads a kind and a value of it.
func (m *metadata) value(c *cursor) (value, error) {
	kind, err := c.u32()
	if err != nil {
		return value{}, err
	}
	switch kind {
	case kindArray:
		return m.array(c)
	case kindString:
		s, err := m.string(c)
		return value{s, -1}, err
	}
	width := widthOf(kind)
	if width == 0 {
		return value{}, fmt.Errorf("at byte %d: value kind %d, expected one up to %d", c.offset()-4, kind, kindFloat64)
	}
	b, err := c.bytes(width)
	if err != nil {
		return value{}, err
	}
	if kind == kindBool && b[0] > 1 {
		return value{}, fmt.Errorf("at byte %d: boolean %d, expected 0 or 1", c.offset()-1, b[0])
	}
	return value{c.scalar(kind, b), -1}, nil
}

// string reads a string, or passes over one that is too long to keep.
func (m *metadata) string(c *cursor) (any, error) {
	n, err := c.u64()
	if err != nil {
		return nil, err
	}
	if n > maxString || m.kept+int(n) > maxKept {
		return nil, c.skip(n)
	}
	b, err := c.copy(int(n))
	if err != nil {
		return nil, err
	}
	m.kept += len(b)
	return strings.ToValidUTF8(string(b), "\uFFFD"), nil
}

// widthOf is the number of bytes of a scalar, 0 for what is none.
func widthOf(kind uint32) int {
	switch kind {
	case kindUint8, kindInt8, kindBool:
		return 1
	case kindUint16, kindInt16:
		return 2
	case kindUint32, kindInt32, kindFloat32:
		return 4
	case kindUint64, kindInt64, kindFloat64:
		return 8
	}
	return 0
}

// scalar is the value of b.
func (c *cursor) scalar(kind uint32, b []byte) any {
	switch kind {
	case kindUint8:
		return int64(b[0])
	case kindInt8:
		return int64(int8(b[0]))
	case kindUint16:
		return int64(c.order.Uint16(b))
	case kindInt16:
		return int64(int16(c.order.Uint16(b)))
	case kindUint32:
		return int64(c.order.Uint32(b))
	case kindInt32:
		return int64(int32(c.order.Uint32(b)))
	case kindUint64:
		if u := c.order.Uint64(b); u > math.MaxInt64 {
			return u
		}
		return int64(c.order.Uint64(b))
	case kindInt64:
		return int64(c.order.Uint64(b))
	case kindFloat32:
		return float64(math.Float32frombits(c.order.Uint32(b)))
	case kindFloat64:
		return math.Float64frombits(c.order.Uint64(b))
	}
	return b[0] == 1 // a boolean
}

// keys are sorted.
func (m *metadata) keys() []string {
	keys := make([]string, 0, len(m.values))
	for k := range m.values {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
