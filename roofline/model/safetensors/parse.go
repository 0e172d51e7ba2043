package safetensors

import (
	"fmt"
	"math"

	"decodegap/roofline/model/hostile"
)

const (
	maxName = 1024 // bytes of a tensor's name
	maxRank = 64   // dimensions; PyTorch has as many at most
)

// parser reads the JSON of one file's header into a table.
type parser struct {
	scanner
	table    *table
	file     uint32
	metadata metadata
	packed   []byte
	described
}

// described is the tensor being read.
type described struct {
	name       []byte
	dtype      int
	shape      []int64
	begin, end int64

	hasDType, hasShape, hasOffsets bool
}

// header reads the whole header.
func (p *parser) header() error {
	if p.peek() != '{' {
		return p.wanted("{ at the start of the header; is it a safetensors file?")
	}
	seen := false
	err := p.object(maxName, "{", func() error {
		if !p.fits {
			return p.fail("tensor %s: expected a name of at most %d bytes", hostile.Quote(p.text), maxName)
		}
		if string(p.text) != "__metadata__" {
			return p.tensor()
		}
		if seen {
			return p.fail("__metadata__ is there twice")
		}
		seen = true
		return p.metadata.read(&p.scanner)
	})
	if err != nil {
		return err
	}
	return p.close()
}

// close checks that nothing but white space follows.
func (s *scanner) close() error {
	s.space()
	if s.have(1) || s.err != nil {
		return s.wanted("nothing but white space after the JSON")
	}
	return nil
}

// tensor reads the description of the tensor named in text.
func (p *parser) tensor() error {
	p.described = described{name: append(p.name[:0], p.text...), shape: p.shape[:0]}
	if len(p.name) == 0 {
		return p.fail("a tensor with an empty name")
	}
	if err := p.object(maxDType, "an object with dtype, shape and data_offsets", p.field); err != nil {
		return fmt.Errorf("tensor %s: %w", hostile.Quote(p.name), err)
	}
	for _, f := range []struct {
		has  bool
		name string
	}{{p.hasDType, "dtype"}, {p.hasShape, "shape"}, {p.hasOffsets, "data_offsets"}} {
		if !f.has {
			return fmt.Errorf("tensor %s: %w", hostile.Quote(p.name), p.fail("%s is missing", f.name))
		}
	}
	if err := p.check(); err != nil {
		return fmt.Errorf("tensor %s: %w", hostile.Quote(p.name), err)
	}
	p.packed = p.pack(p.packed[:0])
	return p.table.add(p.name, p.packed, p.file)
}

// field reads the value of the key in text. Keys that are not known are
// skipped, as the reference implementation does.
func (p *parser) field() error {
	switch string(p.text) {
	case "dtype":
		return p.once(&p.hasDType, "dtype", p.readDType)
	case "shape":
		return p.once(&p.hasShape, "shape", p.readShape)
	case "data_offsets":
		return p.once(&p.hasOffsets, "data_offsets", p.readOffsets)
	}
	return p.skip(0)
}

func (p *parser) once(has *bool, key string, read func() error) error {
	if *has {
		return p.fail("%s is there twice", key)
	}
	*has = true
	if err := read(); err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	return nil
}

func (p *parser) readDType() error {
	if err := p.string(maxDType, "the name of an element type"); err != nil {
		return err
	}
	known := false
	if p.fits {
		p.dtype, known = p.table.dtypeOf(p.text)
	}
	if !known {
		return p.fail("expected the name of an element type, got %s", hostile.Quote(p.text))
	}
	return nil
}

func (p *parser) readShape() error {
	return p.array("an array of dimensions", func() error {
		n, err := p.integer()
		if err == nil && len(p.shape) == maxRank {
			err = p.fail("over %d dimensions", maxRank)
		}
		p.shape = append(p.shape, n)
		return err
	})
}

func (p *parser) readOffsets() error {
	n := 0
	err := p.array("an array of begin and end", func() (err error) {
		p.begin = p.end
		p.end, err = p.integer()
		n++
		return err
	})
	if err == nil && n != 2 {
		err = p.fail("%d numbers, expected begin and end", n)
	}
	return err
}

// check compares the offsets with type and shape.
func (d *parser) check() error {
	if d.end < d.begin {
		return fmt.Errorf("data_offsets [%d, %d]: expected the end not before the begin", d.begin, d.end)
	}
	elements := int64(1)
	for _, n := range d.shape {
		if n > 0 && elements > math.MaxInt64/n {
			return fmt.Errorf("shape %v has over %d elements", d.shape, int64(math.MaxInt64))
		}
		elements *= n
	}
	t := d.table.dtypes[d.dtype]
	if t.bits == 0 {
		return nil // a type not known here: the offsets say its size
	}
	if elements > math.MaxInt64/t.bits {
		return fmt.Errorf("%s of shape %v has over %d bits", t.name, d.shape, int64(math.MaxInt64))
	}
	bits := elements * t.bits
	if bits%8 != 0 {
		return fmt.Errorf("%s of shape %v is %d bits, expected whole bytes", t.name, d.shape, bits)
	}
	if bits/8 != d.end-d.begin {
		return fmt.Errorf("%s of shape %v is %d bytes, but data_offsets [%d, %d] has room for %d",
			t.name, d.shape, bits/8, d.begin, d.end, d.end-d.begin)
	}
	return nil
}
