package traces

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// headBytes is how much of a file's content decides its format.
const headBytes = 64 << 10

// Open opens the file at path with the first of formats that knows its
// content. The error is one line: what the file is instead, and what to do.
// The result is a Summarizer and a Counters too; both give nil where the format
// has none.
func Open(path string, formats []Format) (Reader, error) {
	// A pipe without a writer would hold an open for ever.
	if info, err := os.Stat(path); err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		return nil, irregular(path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	r, err := open(f, path, formats)
	if err != nil {
		f.Close()
		return nil, err
	}
	return &opened{r, f}, nil
}

type opened struct {
	Reader
	file *os.File
}

// Summaries are the sums of a reader that has them.
func (o *opened) Summaries() []KernelSum {
	if s, ok := o.Reader.(Summarizer); ok {
		return s.Summaries()
	}
	return nil
}

// Counters are the counters of a reader that has them.
func (o *opened) Counters() []Counter {
	if c, ok := o.Reader.(Counters); ok {
		return c.Counters()
	}
	return nil
}

func (o *opened) Close() error { return errors.Join(o.Reader.Close(), o.file.Close()) }

func open(f *os.File, path string, formats []Format) (Reader, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	switch {
	case info.IsDir():
		return nil, fmt.Errorf("%s: a folder; expected trace files (one file a rank: name them all)", path)
	case !info.Mode().IsRegular():
		return nil, irregular(path)
	case info.Size() == 0:
		return nil, fmt.Errorf("%s: empty file; the profiler was stopped before it wrote the trace, or the download failed", path)
	}
	head, err := head(f, info.Size())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for _, format := range formats {
		if format.Sniff(head) {
			return format.Open(f, info.Size(), path)
		}
	}
	return nil, fmt.Errorf("%s: %s", path, stranger(head, formats))
}

func irregular(path string) error {
	return fmt.Errorf("%s: not a regular file; save the trace to a file first", path)
}

// head is the start of the file's content, after gunzip.
func head(f io.ReaderAt, size int64) ([]byte, error) {
	buf := make([]byte, headBytes)
	n, err := io.NewSectionReader(f, 0, size).Read(buf)
	if err != nil {
		return nil, err
	}
	if !gzipped(buf[:n]) {
		return buf[:n], nil
	}
	z, err := gzip.NewReader(io.NewSectionReader(f, 0, size))
	if err != nil {
		return nil, fmt.Errorf("starts like gzip, but its header is damaged: %w", err)
	}
	n, err = io.ReadFull(z, buf)
	if n == 0 {
		if err == io.EOF {
			return nil, errors.New("gzip of an empty file; the profiler was stopped before it wrote the trace")
		}
		return nil, fmt.Errorf("gzip that cannot be unpacked: %w; copy the file again", err)
	}
	return buf[:n], nil
}

// stranger says what a file is that no format knows.
func stranger(head []byte, formats []Format) string {
	text := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n")
	lower := bytes.ToLower(text[:min(len(text), 64)])
	for _, k := range strangers {
		if bytes.HasPrefix(lower, []byte(k.prefix)) || bytes.HasPrefix(head, []byte(k.prefix)) {
			return k.what
		}
	}
	if len(head) >= 262 && bytes.HasPrefix(head[257:], []byte("ustar")) {
		return "a tar archive; unpack it and name the traces inside, one file a rank"
	}
	if len(head) >= 16 && len(bytes.Trim(head[:min(len(head), 100)], "\x00")) == 0 {
		return "starts with zero bytes: not a finished file (an interrupted export or download); for a SQLite export, export again from the .nsys-rep"
	}
	if len(text) == 0 {
		return "holds nothing but white space; expected a trace"
	}
	var names []string
	for _, f := range formats {
		names = append(names, f.Name)
	}
	return "not a trace that is understood; known formats: " + strings.Join(names, ", ") + " (decodegap list formats)"
}

// strangers are contents that turn up where a trace is expected; prefixes are
// in lower case.
var strangers = []struct{ prefix, what string }{
	{"version https://git-lfs", "a Git LFS pointer, not the trace itself; fetch it with: git lfs pull"},
	{"<!doctype", "an HTML page, not a trace; the download got an error or sign-in page"},
	{"<html", "an HTML page, not a trace; the download got an error or sign-in page"},
	{"<?xml", "an XML document, not a trace; the download may have got an error page"},
	{"pk\x03\x04", "a zip archive; unpack it and name the trace inside"},
	{"PK\x03\x04", "a zip archive; unpack it and name the trace inside"},
	{"\x28\xb5\x2f\xfd", "compressed with zstd; unpack it with: zstd -d"},
	{"\xfd7zXZ", "compressed with xz; unpack it with: xz -d"},
	{"\x1f\x8b", "gzip inside gzip; unpack it once more: gzip -d"},
	{"BZh", "compressed with bzip2; unpack it with: bunzip2"},
	{"\xff\xfe", "UTF-16 text; expected UTF-8"},
	{"\xfe\xff", "UTF-16 text; expected UTF-8"},
}
