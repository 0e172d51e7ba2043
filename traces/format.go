package traces

import (
	"fmt"
	"io"
	"iter"
)

// Format is one profiler's file format.
type Format struct {
	Name string // "kineto", "nsys", "nsys-stats", "ncu"
	Doc  string // one line for people
	// Sniff looks at the first bytes of the content (after gunzip), never at
	// the name.
	Sniff func(head []byte) bool
	// Open starts reading a file of size bytes. The error says what makes the
	// file unusable as a whole; faults inside are yielded by Events.
	Open func(file io.ReaderAt, size int64, name string) (Reader, error)
}

// Reader reads one file's events once, in file order.
type Reader interface {
	// Events yields the events. An error stands for a stretch that could not
	// be read (*Damage) and reading goes on behind it where it can; the
	// sequence ends at the end of the file.
	Events() iter.Seq2[Event, error]
	// Meta is complete once Events has ended.
	Meta() Meta
	io.Closer
}

// Meta is what a file says of itself, by allow-list.
type Meta struct {
	Format      string
	Bytes       int64             // of the file on disk
	Events      int64             // read whole, of every phase or table
	Skipped     int64             // of those, with times that cannot be used
	Truncated   bool              // the file ends before it should
	Base        int64             // ns since the Unix epoch of Start 0, 0 if unknown
	Ranks       []int             // ranks the file says it holds
	WorldSize   int               // 0 if unknown
	Devices     map[int]string    // device number → name
	Facts       map[string]string // allow-listed: cupti_version, nsys schema, …
	Environment bool              // the file carries environment variables (which were not read)
	Warnings    []Warning
}

// Warning is something that changes how a trace must be read.
type Warning struct {
	Code string // kebab-case
	Text string
}

// Damage is a stretch of a file that could not be read.
type Damage struct {
	File   string
	Offset int64  // bytes into the decompressed content, -1 if unknown
	What   string // what was found, what was expected
	Fatal  bool   // nothing behind it can be read
}

func (d *Damage) Error() string {
	if d.Offset < 0 {
		return fmt.Sprintf("%s: %s", d.File, d.What)
	}
	return fmt.Sprintf("%s: byte %d: %s", d.File, d.Offset, d.What)
}
