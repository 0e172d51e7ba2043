package assemble

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

	"decodegap/traces"
)

// maxFilesAtOnce bounds the files that are read at the same time: each holds
// its beginning until it is its turn.
const maxFilesAtOnce = 4

// Read adds a file. The error says why nothing of it could be used.
func (t *Trace) Read(ctx context.Context, path string) error {
	return t.ReadAll(ctx, []string{path})[0]
}

// ReadAll adds files, several of which are read at the same time; they are
// added in the order given, and one that is there twice is added once. Each error says why nothing of the file at its
// index could be used. After the context's end all that were not added have
// its error.
func (t *Trace) ReadAll(ctx context.Context, paths []string) []error {
	if limit := debug.SetMemoryLimit(-1); limit > readMemory {
		debug.SetMemoryLimit(readMemory)
		defer debug.SetMemoryLimit(limit)
	}
	errs := make([]error, len(paths))
	var once []int // indices of the files that are read
	same := twice(paths)
	for i, first := range same {
		if first < 0 {
			once = append(once, i)
			continue
		}
		text := fmt.Sprintf("%s is given twice; it is counted once", paths[i])
		if paths[i] != paths[first] {
			text = fmt.Sprintf("%s has the same content as %s; it is counted once", paths[i], paths[first])
		}
		t.warn("same-file", text)
	}
	read := make([]chan *tracedFile, len(once))
	start := func(k int) {
		read[k] = make(chan *tracedFile, 1)
		go func() { read[k] <- t.read(ctx, paths[once[k]], heldOf(len(once))) }()
	}
	atOnce := min(runtime.GOMAXPROCS(0), maxFilesAtOnce, len(once))
	for k := range atOnce {
		start(k)
	}
	for k, i := range once {
		f := <-read[k]
		errs[i] = t.take(paths[i], f)
		f.close()
		if next := k + atOnce; next < len(once) {
			start(next)
		}
	}
	for i, first := range same {
		if first >= 0 {
			errs[i] = errs[first]
		}
	}
	return errs
}

// read gathers the events of a file. It changes nothing of t, so that files
// can be read at the same time.
func (t *Trace) read(ctx context.Context, path string, held int) *tracedFile {
	f := newTracedFile(held)
	if f.failed = ctx.Err(); f.failed != nil {
		return f
	}
	if f.reader, f.failed = traces.Open(path, t.Formats); f.failed != nil {
		return f
	}
	if t.Totalled {
		f.totals = &operationTotals{}
	}
	for e, err := range f.reader.Events() {
		if err != nil {
			if f.faults++; f.fault == nil {
				f.fault = err
			}
			continue
		}
		if f.add(e); f.seen%4096 == 0 && ctx.Err() != nil {
			f.failed = ctx.Err()
			break
		}
	}
	return f
}

func (f *tracedFile) close() {
	f.lines.Close()
	if f.reader != nil {
		f.reader.Close()
	}
}
