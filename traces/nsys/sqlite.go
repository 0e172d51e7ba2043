// Package nsys reads what Nsight Systems exports: SQLite databases of schema
// 2.9 to 3.25, and the CSV of `nsys stats`.
//
// It refuses the binary .nsys-rep, naming the export command; it never writes
// beside the file it reads, follows no view or trigger of it, and takes no
// metadata that is not on its allow-list: of the capture's environment only
// whether it is there.
package nsys

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"slices"

	"decodegap/traces"
)

const (
	sqliteName = "nsys"
	magic      = "SQLite format 3\x00"
)

// SQLite is the export of `nsys export --type sqlite`.
var SQLite = traces.Format{
	Name:  sqliteName,
	Doc:   "Nsight Systems SQLite export (nsys export --type sqlite)",
	Sniff: sniffSQLite,
	Open:  openSQLite,
}

// sniffSQLite also takes a head of zeros: that is what an interrupted export
// leaves, and nothing else begins so.
func sniffSQLite(head []byte) bool {
	return bytes.HasPrefix(head, []byte(magic)) || zeroed(head)
}

func zeroed(head []byte) bool {
	return len(head) >= headerSize && !slices.ContainsFunc(head[:headerSize], func(b byte) bool { return b != 0 })
}

// reader reads one export.
type reader struct {
	db      *database
	name    string
	meta    traces.Meta
	strings *stringTable
	intern  *interner
	ranks   map[uint64]int // globalPid → number

	graphLaunches, hidden, hiddenNs int64
	graphNodes, onHost              int64
	gpuRows                         int64
	graphMode                       string // of the capture's options, "" unknown
	done                            bool
}

func openSQLite(file io.ReaderAt, size int64, name string) (traces.Reader, error) {
	db, err := openDatabase(file, size)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	r := &reader{db: db, name: name, intern: newInterner()}
	r.meta = traces.Meta{Format: sqliteName, Bytes: size, Devices: map[int]string{}, Facts: map[string]string{}, Truncated: db.cut}
	if !slices.ContainsFunc(eventTables, func(t eventTable) bool { return db.has(t.name) }) &&
		!db.has("META_DATA_EXPORT") && !db.has("EXPORT_META_DATA") {
		db.close()
		return nil, fmt.Errorf("%s: an SQLite database, but none of Nsight Systems: it has neither META_DATA_EXPORT nor a CUPTI_ACTIVITY_KIND table; export with nsys export --type sqlite", name)
	}
	r.strings = newStringTable(db)
	r.readMeta()
	return r, nil
}

// Meta is what the export says of itself, by allow-list.
func (r *reader) Meta() traces.Meta { return r.meta }

// Close lets go of the database; the file stays the caller's.
func (r *reader) Close() error {
	r.strings.close()
	return r.db.close()
}

// Events yields the rows of each event table in turn, in the order they are
// stored.
func (r *reader) Events() iter.Seq2[traces.Event, error] {
	return func(yield func(traces.Event, error) bool) {
		if r.done {
			return
		}
		r.done = true
		if r.db.cut && !yield(traces.Event{}, r.damage("the database ends before its last page: the export was interrupted, or the copy")) {
			return
		}
		r.numberProcesses()
		for _, t := range eventTables {
			if r.db.has(t.name) && !r.readTable(t, yield) {
				return
			}
		}
		if what := r.strings.fault; what != "" && !yield(traces.Event{}, r.damage(what)) {
			return
		}
		r.warn()
	}
}

// readTable yields the events of t; false when the caller wants no more.
func (r *reader) readTable(t eventTable, yield func(traces.Event, error) bool) bool {
	more := true
	err := r.db.scan(t.name, t.columns, func(w row) bool {
		r.meta.Events++
		e, use := t.event(r, w)
		switch use {
		case keep:
			more = yield(e, nil)
		case badTime:
			r.meta.Skipped++
		case noEvent:
		}
		return more
	})
	if err != nil && more {
		return yield(traces.Event{}, r.damage(fmt.Sprintf("table %s: %v; its rows behind this are lost", t.name, err)))
	}
	return more
}

func (r *reader) damage(what string) *traces.Damage {
	return &traces.Damage{File: r.name, Offset: -1, What: what}
}

// warn says what changes how the events must be read.
func (r *reader) warn() {
	add := func(code, format string, args ...any) {
		r.meta.Warnings = append(r.meta.Warnings, traces.Warning{Code: code, Text: fmt.Sprintf(format, args...)})
	}
	const again = "capture again with nsys profile --cuda-graph-trace=node"
	switch {
	case r.hidden > 0:
		add("graph-kernels-hidden", "%d CUDA graph launches, %d ns in all, are one interval each: the kernels inside are in no table; %s", r.hidden, r.hiddenNs, again)
	case r.graphLaunches > 0 && r.graphNodes == 0 && r.graphMode != "Node":
		add("graph-kernels-hidden", "%d CUDA graph launches, but no kernel says that it ran in a graph: the kernels inside are missing; %s", r.graphLaunches, again)
	}
	if r.onHost > 0 {
		add("graph-starts-on-host", "%d CUDA graph launches begin with a host node: their intervals are no device's time and are left out of it", r.onHost)
	}
	if r.gpuRows == 0 {
		add("no-gpu-work", "no kernel, copy or fill is in the export: was nsys run with --trace=cuda,nvtx, did the capture range cover the decode, and did the work run in the profiled process or its children?")
	}
	if r.db.wal {
		add("write-ahead-log", "the database was left in write-ahead mode: rows still in a -wal file beside it are not read")
	}
}
