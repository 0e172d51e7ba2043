package traces

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"slices"
)

// spill holds sorted runs of pieces in a temporary file.
type spill struct {
	file *os.File
	runs []int64 // where each ends
	buf  []byte
}

// pieceBytes is the size of a piece in the file; runBuffer of what is held of
// each run while they are merged.
const (
	pieceBytes = 24
	runBuffer  = 170 * pieceBytes
)

// write adds a run. After an error the file is as before.
func (s *spill) write(run []piece) error {
	if s.file == nil {
		file, err := os.CreateTemp("", "decodegap-trace-")
		if err != nil {
			return err
		}
		// Where the system allows it the name goes at once, so that nothing is
		// left behind however the program ends; else close removes it.
		os.Remove(file.Name())
		s.file = file
	}
	at := s.size()
	for part := range slices.Chunk(run, 4096) {
		s.buf = s.buf[:0]
		for _, x := range part {
			s.buf = binary.LittleEndian.AppendUint64(s.buf, uint64(x.line))
			s.buf = binary.LittleEndian.AppendUint64(s.buf, uint64(x.start))
			s.buf = binary.LittleEndian.AppendUint64(s.buf, uint64(x.end))
		}
		if _, err := s.file.WriteAt(s.buf, at); err != nil {
			return err
		}
		at += int64(len(s.buf))
	}
	s.runs = append(s.runs, at)
	return nil
}

func (s *spill) size() int64 {
	if n := len(s.runs); n > 0 {
		return s.runs[n-1]
	}
	return 0
}

func (s *spill) close() {
	if s.file != nil {
		s.file.Close()
		os.Remove(s.file.Name()) // gone already where an open file can be removed
	}
}

// runReader reads one run; held is one that never left memory.
type runReader struct {
	now  piece
	file *bufio.Reader
	held []piece
	raw  [pieceBytes]byte
}

// next says whether there is another piece, which is then in now.
func (r *runReader) next() (bool, error) {
	if r.file == nil {
		if len(r.held) == 0 {
			return false, nil
		}
		r.now, r.held = r.held[0], r.held[1:]
		return true, nil
	}
	raw := &r.raw
	if _, err := io.ReadFull(r.file, raw[:]); err == io.EOF {
		return false, nil
	} else if err != nil {
		return false, err
	}
	r.now.line = int64(binary.LittleEndian.Uint64(raw[:]))
	r.now.start = int64(binary.LittleEndian.Uint64(raw[8:]))
	r.now.end = int64(binary.LittleEndian.Uint64(raw[16:]))
	return true, nil
}

// merge gives take all pieces of all runs and of held in order.
func (s *spill) merge(held []piece, take func(piece)) error {
	heap := runHeap{}
	put := func(r *runReader) error {
		ok, err := r.next()
		if ok {
			heap.push(r)
		}
		return err
	}
	if err := put(&runReader{held: held}); err != nil {
		return err
	}
	var from int64
	for _, to := range s.runs {
		r := &runReader{file: bufio.NewReaderSize(io.NewSectionReader(s.file, from, to-from), runBuffer)}
		if err := put(r); err != nil {
			return fmt.Errorf("read the temporary file of a trace: %w", err)
		}
		from = to
	}
	for len(heap) > 0 {
		r := heap[0]
		take(r.now)
		ok, err := r.next()
		if err != nil {
			return fmt.Errorf("read the temporary file of a trace: %w", err)
		}
		if !ok {
			heap[0] = heap[len(heap)-1]
			heap = heap[:len(heap)-1]
		}
		heap.sink()
	}
	return nil
}

// runHeap is a binary heap of runs, the one with the earliest piece on top.
type runHeap []*runReader

func (h *runHeap) push(r *runReader) {
	*h = append(*h, r)
	s := *h
	for k := len(s) - 1; k > 0 && byLine(s[k].now, s[(k-1)/2].now) < 0; k = (k - 1) / 2 {
		s[k], s[(k-1)/2] = s[(k-1)/2], s[k]
	}
}

func (h runHeap) sink() {
	for k := 0; ; {
		child := 2*k + 1
		if child >= len(h) {
			return
		}
		if child+1 < len(h) && byLine(h[child+1].now, h[child].now) < 0 {
			child++
		}
		if byLine(h[k].now, h[child].now) <= 0 {
			return
		}
		h[k], h[child] = h[child], h[k]
		k = child
	}
}
