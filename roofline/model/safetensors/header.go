// Package safetensors reads the headers of safetensors checkpoints: names,
// types, shapes and sizes of the tensors. It refuses to read tensor data, to
// follow an index out of its folder, to guess the size of what is not there,
// and to accept a header the reference implementation would refuse, but for
// two cases that leave the sizes certain: element types that are not known, and
// files that are cut short within their data.
//
// The format is described at github.com/huggingface/safetensors, README.md,
// "Format".
package safetensors

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"decodegap/roofline/model/hostile"
)

// Tensor is what a header says of one tensor.
type Tensor struct {
	Name  string
	DType string // as written: BF16, F8_E4M3, U8 ...
	// Shape is outermost dimension first, empty for a scalar. Tensors of one
	// shape share it: do not change it.
	Shape []int64
	// Bytes is the size of the data. A packed type counts what is stored.
	Bytes int64
	// File is the name of the file that holds it, within the checkpoint's
	// folder.
	File string
}

// Absent is a tensor that an index puts into a file that is not there. Its
// type and size are not known.
type Absent struct {
	Name string
	File string
}

// Header is what the headers of a checkpoint say.
type Header struct {
	// Tensors are sorted by name; no two have the same.
	Tensors []Tensor
	// Metadata is the free-form map of the file, or of the index. A value of
	// more than 64 KiB is left out, and so are all after the first mebibyte.
	Metadata map[string]string
	// Files are the files read, in order.
	Files []string
	// Missing are the files of the checkpoint that are not there.
	Missing []string
	// Absent are the tensors the index puts into missing files, sorted by
	// name. Without an index they are not known.
	Absent []Absent
	// Unlisted are tensors that a file holds and the index leaves out. They
	// are among Tensors, since engines load whole files.
	Unlisted []string
	// Truncated are the files that end before the data their header describes,
	// as a download cut short does. The sizes are those of the header.
	Truncated []string
}

// maxHeader is the longest header the reference implementation reads
// (MAX_HEADER_SIZE in safetensors/src/tensor.rs).
const maxHeader = 100_000_000

// ReadFile reads the header of one .safetensors file. A file that is one of
// several gives its own tensors only: see ReadFolder.
func ReadFile(path string) (*Header, error) {
	f, size, err := hostile.Open(path)
	if err != nil {
		return nil, fmt.Errorf("safetensors file %s: %w", hostile.Shown(path), err)
	}
	defer f.Close()
	return Read(f, size, path)
}

// Read reads the header of a file of size bytes; only the base of path is
// used, to name it.
func Read(r io.ReaderAt, size int64, path string) (*Header, error) {
	var s set
	if err := s.add(r, size, filepath.Base(path)); err != nil {
		return nil, fmt.Errorf("safetensors file %s: %w", hostile.Shown(path), err)
	}
	h, err := s.header()
	if err != nil {
		return nil, fmt.Errorf("safetensors file %s: %w", hostile.Shown(path), err)
	}
	return h, nil
}

// set collects the files of a checkpoint.
type set struct {
	table     table
	files     []string
	truncated []string
	metadata  metadata // of the first file
}

// add reads the header of the file name.
func (s *set) add(r io.ReaderAt, size int64, name string) error {
	length, err := headerLength(r, size)
	if err != nil {
		return err
	}
	p := parser{
		scanner: scanner{src: r, next: 8, stop: 8 + length},
		table:   &s.table,
		file:    uint32(len(s.files)),
	}
	first := len(s.table.rows)
	s.table.startFile()
	if err := p.header(); err != nil {
		return err
	}
	end, err := s.table.cover(s.table.rows[first:])
	if err != nil {
		return err
	}
	switch have := size - 8 - length; {
	case have < end:
		s.truncated = append(s.truncated, name)
	case have > end:
		return fmt.Errorf("the last tensor ends at byte %d of the data, but %d bytes follow the header; expected no byte that belongs to no tensor", end, have)
	}
	if len(s.files) == 0 {
		s.metadata = p.metadata
	}
	s.files = append(s.files, name)
	return nil
}

// headerLength reads the first eight bytes.
func headerLength(r io.ReaderAt, size int64) (int64, error) {
	if size < 8 {
		return 0, fmt.Errorf("%d bytes, expected at least the 8 of the header's length; is the download complete?", size)
	}
	var b [8]byte
	if n, err := r.ReadAt(b[:], 0); n < len(b) {
		return 0, fmt.Errorf("read the header's length: %w", unexpected(err))
	}
	var length uint64
	for i, c := range b {
		length |= uint64(c) << (8 * i)
	}
	switch {
	case length > maxHeader:
		return 0, fmt.Errorf("header length %d, expected at most %d; is it a safetensors file?", length, maxHeader)
	case int64(length) > size-8:
		return 0, fmt.Errorf("header length %d, but only %d bytes follow it; is the download complete?", length, size-8)
	}
	return int64(length), nil
}

// unexpected turns the end of a file that was longer a moment ago into an
// error that says so.
func unexpected(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// header turns what was collected into a Header.
func (s *set) header() (*Header, error) {
	if err := s.table.sort(s.files); err != nil {
		return nil, err
	}
	return &Header{
		Tensors:   s.table.tensors(s.files),
		Metadata:  s.metadata.kept,
		Files:     s.files,
		Truncated: s.truncated,
	}, nil
}
