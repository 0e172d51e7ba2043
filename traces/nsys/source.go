package nsys

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

const headerSize = 100 // of an SQLite file, bytes

// source is the file as SQLite sees it: the header's bytes may differ, so that
// a cut database can be read as far as it goes, and one in write-ahead mode
// without its log. The file itself is never written.
type source struct {
	file   io.ReaderAt
	size   int64
	header [headerSize]byte
}

// Size is the file's, in bytes.
func (s *source) Size() (int64, error) { return s.size, nil }

// ReadAt reads from the file, and the header from memory.
func (s *source) ReadAt(p []byte, off int64) (int, error) {
	n, err := s.file.ReadAt(p, off)
	if off >= 0 && off < headerSize {
		copy(p[:n], s.header[off:])
	}
	return n, err
}

// newSource checks the header and mends what keeps SQLite from reading.
func newSource(file io.ReaderAt, size int64) (s *source, cut, wal bool, err error) {
	s = &source{file: file, size: size}
	n, err := file.ReadAt(s.header[:], 0)
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return nil, false, false, fmt.Errorf("reading the SQLite header: %w", err)
	case n < headerSize:
		return nil, false, false, fmt.Errorf("not a finished SQLite database: %d bytes; %s", n, exportAgain)
	case zeroed(s.header[:]):
		return nil, false, false, fmt.Errorf("not a finished SQLite database: its header is zeros, the export was interrupted; %s", exportAgain)
	case string(s.header[:16]) != magic:
		return nil, false, false, errors.New("not an SQLite database")
	}
	h := s.header[:]
	if wal = h[18] == 2 || h[19] == 2; wal {
		h[18], h[19] = 1, 1
	}
	page := int64(binary.BigEndian.Uint16(h[16:]))
	if page == 1 {
		page = 65536
	}
	if page < 512 || page&(page-1) != 0 {
		return nil, false, false, fmt.Errorf("not an SQLite database: a page size of %d bytes", page)
	}
	pages, have := int64(binary.BigEndian.Uint32(h[28:])), size/page
	if counted := string(h[24:28]) == string(h[92:96]); counted && pages > have && have > 0 {
		cut = true
		binary.BigEndian.PutUint32(h[28:], uint32(have))
	}
	return s, cut, wal, nil
}

const exportAgain = "export again from the .nsys-rep: nsys export --type sqlite"
