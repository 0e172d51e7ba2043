package traces

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
)

// Sizes of a stream's buffers: a block is read at once, and what the reader
// has not used of the one before is put in the room left in front of it.
const (
	blockBytes = 1 << 20
	roomBytes  = 64 << 10
	blocks     = 4 // read ahead at most
)

// Stream is a file's content in blocks, unpacked if it is gzip, read ahead on
// a goroutine of its own.
type Stream struct {
	full    chan block
	free    chan []byte
	stop    chan struct{}
	current []byte
	last    error
}

type block struct {
	buf []byte // with room in front
	n   int
	err error
}

// gzipped says whether head starts a gzip member.
func gzipped(head []byte) bool { return bytes.HasPrefix(head, []byte{0x1f, 0x8b}) }

// NewStream starts reading file, which is size bytes long.
func NewStream(file io.ReaderAt, size int64) *Stream {
	s := &Stream{full: make(chan block, blocks), free: make(chan []byte, blocks), stop: make(chan struct{})}
	for range blocks {
		s.free <- nil
	}
	go s.read(file, size)
	return s
}

func (s *Stream) read(file io.ReaderAt, size int64) {
	defer close(s.full)
	in, err := content(file, size)
	length := blockBytes
	if _, plain := in.(*io.SectionReader); plain {
		length = int(min(blockBytes, size+1)) // one more than there is, to see its end
	}
	for {
		var buf []byte
		select {
		case buf = <-s.free:
		case <-s.stop:
			return
		}
		if buf == nil {
			buf = make([]byte, roomBytes+length)
		}
		n := 0
		if err == nil {
			n, err = fill(in, buf[roomBytes:])
		}
		select {
		case s.full <- block{buf, n, err}:
		case <-s.stop:
			return
		}
		if err != nil {
			return
		}
	}
}

// fill reads until buf is full or in ends. Unlike io.ReadFull it keeps the
// cause: a gzip stream that stops early is no plain end of file.
func fill(in io.Reader, buf []byte) (int, error) {
	n, idle := 0, 0
	for n < len(buf) {
		k, err := in.Read(buf[n:])
		n += k
		if err != nil {
			return n, err
		}
		if idle++; k > 0 {
			idle = 0
		}
		if idle > 100 {
			return n, io.ErrNoProgress
		}
	}
	return n, nil
}

// content is the file's bytes, unpacked.
func content(file io.ReaderAt, size int64) (io.Reader, error) {
	section := io.NewSectionReader(file, 0, size)
	var head [2]byte
	if _, err := file.ReadAt(head[:], 0); err != nil || !gzipped(head[:]) {
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		return section, nil
	}
	return gzip.NewReader(bufio.NewReaderSize(section, 256<<10))
}

// Next is rest, a tail of what Next gave before, followed by the next block.
// Both are overwritten by later calls. The error comes with the last block,
// and again with every call after it: io.EOF at a clean end, else why the
// content stops.
func (s *Stream) Next(rest []byte) ([]byte, error) {
	if s.last != nil {
		return rest, s.last
	}
	b, ok := <-s.full
	if !ok {
		s.last = io.ErrUnexpectedEOF
		return rest, s.last
	}
	out := b.buf[:roomBytes+b.n]
	if len(rest) <= roomBytes {
		start := roomBytes - len(rest)
		copy(out[start:], rest)
		out = out[start:]
	} else {
		out = append(append(make([]byte, 0, len(rest)+b.n), rest...), out[roomBytes:]...)
	}
	if s.current != nil {
		s.free <- s.current
	}
	s.current, s.last = b.buf, b.err
	return out, b.err
}

// Close ends the reading.
func (s *Stream) Close() error {
	close(s.stop)
	return nil
}
