package gguf

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

const (
	// maxHeader bounds what is before the tensor data. 10⁶ tensors take about
	// 100 MB, the largest vocabularies 20.
	maxHeader = 512 << 20
	window    = 128 << 10
)

// cursor reads a file's header from front to back, a window at a time.
type cursor struct {
	src   io.ReaderAt
	size  int64 // of the file
	next  int64 // offset of the byte after buf
	buf   []byte
	at    int // the next byte in buf
	order binary.ByteOrder
}

// offset is the place of the next byte in the file.
func (c *cursor) offset() int64 { return c.next - int64(len(c.buf)-c.at) }

// left is the number of bytes that a header may still have.
func (c *cursor) left() int64 { return min(c.size, maxHeader) - c.offset() }

// room checks that count things of size bytes each can follow.
func (c *cursor) room(count uint64, size int64) error {
	left := c.left()
	if left >= 0 && count <= uint64(left/size) {
		return nil
	}
	what := fmt.Sprintf("%d bytes", count)
	if size > 1 {
		what = fmt.Sprintf("%d times %d bytes", count, size)
	}
	if c.size > maxHeader {
		return fmt.Errorf("at byte %d: %s to come, expected a header of at most %d bytes in all", c.offset(), what, maxHeader)
	}
	return fmt.Errorf("at byte %d: %s to come, but the file ends at byte %d; is the download complete?", c.offset(), what, c.size)
}

// bytes returns the next n, at most a window, until the next call.
func (c *cursor) bytes(n int) ([]byte, error) {
	if err := c.room(uint64(n), 1); err != nil {
		return nil, err
	}
	if len(c.buf)-c.at < n {
		if c.buf == nil {
			c.buf = make([]byte, 0, min(window, c.size))
		}
		kept := copy(c.buf[:cap(c.buf)], c.buf[c.at:])
		more := c.buf[kept:min(int64(cap(c.buf)), int64(kept)+c.size-c.next)]
		got, err := c.src.ReadAt(more, c.next)
		c.buf, c.at = c.buf[:kept+got], 0
		c.next += int64(got)
		if len(c.buf) < n {
			return nil, fmt.Errorf("at byte %d: %w", c.next, unexpected(err))
		}
	}
	c.at += n
	return c.buf[c.at-n : c.at], nil
}

// skip passes over n bytes without reading what is not in the window.
func (c *cursor) skip(n uint64) error {
	if err := c.room(n, 1); err != nil {
		return err
	}
	if have := len(c.buf) - c.at; n <= uint64(have) {
		c.at += int(n)
		return nil
	}
	c.next = c.offset() + int64(n)
	c.buf, c.at = c.buf[:0], 0
	return nil
}

// copy returns the next n bytes for good.
func (c *cursor) copy(n int) ([]byte, error) {
	if n <= window {
		b, err := c.bytes(n)
		return append([]byte(nil), b...), err
	}
	if err := c.room(uint64(n), 1); err != nil {
		return nil, err
	}
	b, at := make([]byte, n), c.offset()
	if got, err := c.src.ReadAt(b, at); got < n {
		return nil, fmt.Errorf("at byte %d: %w", at+int64(got), unexpected(err))
	}
	return b, c.skip(uint64(n))
}

func (c *cursor) u32() (uint32, error) {
	b, err := c.bytes(4)
	if err != nil {
		return 0, err
	}
	return c.order.Uint32(b), nil
}

func (c *cursor) u64() (uint64, error) {
	b, err := c.bytes(8)
	if err != nil {
		return 0, err
	}
	return c.order.Uint64(b), nil
}

// text returns the next string, of 1 to limit bytes, until the next call.
func (c *cursor) text(limit int, what string) ([]byte, error) {
	n, err := c.u64()
	if err != nil {
		return nil, err
	}
	if n == 0 || n > uint64(limit) {
		return nil, fmt.Errorf("at byte %d: %s of %d bytes, expected 1 to %d", c.offset()-8, what, n, limit)
	}
	return c.bytes(int(n))
}

// unexpected turns the end of a file that was longer a moment ago into an
// error that says so.
func unexpected(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
