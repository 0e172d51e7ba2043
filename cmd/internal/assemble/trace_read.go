package assemble

import (
	"context"
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
// added in the order given. Each error says why nothing of the file at its
// index could be used. After the context's end all that were not added have
// its error.
func (t *Trace) ReadAll(ctx context.Context, paths []string) []error {
	if limit := debug.SetMemoryLimit(-1); limit > readMemory {
		debug.SetMemoryLimit(readMemory)
		defer debug.SetMemoryLimit(limit)
	}
	read := make([]chan *tracedFile, len(paths))
	start := func(i int) {
		read[i] = make(chan *tracedFile, 1)
		go func() { read[i] <- t.read(ctx, paths[i], heldOf(len(paths))) }()
	}
	atOnce := min(runtime.GOMAXPROCS(0), maxFilesAtOnce, len(paths))
	for i := range atOnce {
		start(i)
	}
	errs := make([]error, len(paths))
	for i, path := range paths {
		f := <-read[i]
		errs[i] = t.take(path, f)
		f.close()
		if next := i + atOnce; next < len(paths) {
			start(next)
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
			f.fault = err
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
