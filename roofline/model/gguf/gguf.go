// Package gguf reads the headers of GGUF files: metadata and the names,
// types, shapes and sizes of the tensors, of one file or of all parts of a
// split one. It refuses to read tensor data, to guess the block size of a type
// it does not know, and to leave out a part without saying so.
//
// The format is described at github.com/ggml-org/ggml, docs/gguf.md and
// src/gguf.cpp.
package gguf

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"decodegap/roofline/model/hostile"
)

// File is what the headers of a model say.
type File struct {
	Version   int  // of the format: 2 or 3
	BigEndian bool // version 3 only
	// Architecture is general.architecture, such as llama or deepseek2; empty
	// if the file does not say, or if the first part is missing.
	Architecture string
	// Tensors are sorted by name; no two have the same.
	Tensors []Tensor
	// Files are the files read, in order.
	Files []string
	// Missing are the parts of a split model that are not there, and
	// MissingTensors the number of tensors they hold.
	Missing        []string
	MissingTensors int64
	// Truncated are the files that end before the data their header describes,
	// as a download cut short does. The sizes are those of the header.
	Truncated []string

	// metadata is that of the first part, if it is there: the others repeat
	// what concerns the split.
	metadata metadata
}

// ReadFile reads the header of a .gguf file. If it is one part of a split
// model, those of the other parts in its folder are read, too.
func ReadFile(path string) (*File, error) {
	f, err := readParts(path)
	if err != nil {
		return nil, fmt.Errorf("gguf file %s: %w", hostile.Shown(path), err)
	}
	return f, nil
}

// Read reads the header of a file of size bytes; only the base of path is
// used, to name it. A part of a split model gives its own tensors only.
func Read(r io.ReaderAt, size int64, path string) (*File, error) {
	f := new(File)
	_, err := f.add(r, size, filepath.Base(path))
	if err == nil {
		err = f.sortTensors()
	}
	if err != nil {
		return nil, fmt.Errorf("gguf file %s: %w", hostile.Shown(path), err)
	}
	return f, nil
}

const (
	magic            = "GGUF"
	defaultAlignment = 32
	maxAlignment     = 1 << 30
)

// add reads the header of a file and returns what it says of the split.
func (f *File) add(r io.ReaderAt, size int64, name string) (split, error) {
	c := &cursor{src: r, size: size, order: binary.LittleEndian}
	version, err := c.version()
	if err != nil {
		return split{}, err
	}
	tensors, err := c.u64()
	if err != nil {
		return split{}, err
	}
	keys, err := c.u64()
	if err != nil {
		return split{}, err
	}
	var m metadata
	if err := m.read(c, keys); err != nil {
		return split{}, err
	}
	alignment, err := m.alignment()
	if err != nil {
		return split{}, err
	}
	end, err := f.tensors(c, tensors, alignment, name)
	if err != nil {
		return split{}, err
	}
	if tensors > 0 && pad(c.offset(), alignment)+end > size {
		f.Truncated = append(f.Truncated, name)
	}
	if len(f.Files) == 0 {
		f.Version, f.BigEndian = version, c.order == binary.BigEndian
		f.metadata = m
		f.Architecture, _ = f.String("general.architecture")
	}
	f.Files = append(f.Files, name)
	return m.split()
}

// version reads magic and version, and finds the byte order by the latter.
func (c *cursor) version() (int, error) {
	b, err := c.bytes(4)
	if err != nil {
		return 0, err
	}
	if string(b) != magic {
		return 0, fmt.Errorf("starts with %+q, expected %q; is it a GGUF file?", b, magic)
	}
	version, err := c.u32()
	if err != nil {
		return 0, err
	}
	if version&0xffff == 0 {
		c.order = binary.BigEndian
		version = version>>24 | version>>8&0xff00
	}
	switch {
	case version == 3 || version == 2 && c.order == binary.LittleEndian:
		return int(version), nil
	case version == 1:
		return 0, errors.New("GGUF version 1, expected 2 or 3; convert the model anew, llama.cpp no longer reads version 1 either")
	}
	return 0, fmt.Errorf("GGUF version %d (big endian: %v), expected 2 or 3", version, c.order == binary.BigEndian)
}

// alignment is the number of bytes each tensor's offset is a multiple of.
func (m *metadata) alignment() (int64, error) {
	v, ok := m.values["general.alignment"]
	if !ok {
		return defaultAlignment, nil
	}
	n, ok := v.v.(int64)
	if !ok || n < 1 || n > maxAlignment || n&(n-1) != 0 {
		return 0, fmt.Errorf("general.alignment is %s, expected a power of two up to %d", v, maxAlignment)
	}
	return n, nil
}

// String is for error messages.
func (v value) String() string {
	switch x := v.v.(type) {
	case int64, uint64, bool, float64:
		return fmt.Sprint(x)
	case string:
		return hostile.Quote(x)
	}
	return "an array"
}
