package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"decodegap/traces/kineto"
)

// tracePart is how much of the generated file the readers are compared on.
const tracePart = 64 << 20

// maxTraceMB bounds the file that is written.
const maxTraceMB = 64 << 10

// measureTrace writes a Kineto file of a size to dir, compares the reader with
// encoding/json on its beginning, runs `decodegap trace` on all of it, and
// returns the table.
func measureTrace(program, dir, captured string, mb, runs int) (string, error) {
	if mb < 1 || mb > maxTraceMB {
		return "", fmt.Errorf("-trace %d: expected 1 to %d MB", mb, maxTraceMB)
	}
	c, err := readCapture(captured)
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "trace.json")
	size, repeats, err := writeTrace(c, path, int64(mb)*1_000_000)
	if err != nil {
		return "", err
	}
	defer os.Remove(path)
	// The program first: a child starts with the memory of its parent counted as
	// its own, and that of the comparison is large.
	took, peak, err := runTrace(program, path, filepath.Join(dir, "trace.txt"), runs)
	if err != nil {
		return "", err
	}
	var text bytes.Buffer
	if _, err := c.write(&text, min(tracePart, int64(mb)*1_000_000)); err != nil {
		return "", err
	}
	ours, theirs, err := compareReaders(text.Bytes(), runs)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %d of %d CPUs, %s/%s, %s; median of %d runs\n\n",
		cpu(), runtime.GOMAXPROCS(0), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version(), runs)
	fmt.Fprintf(&b, "| case | MB | MB/s | × encoding/json | peak memory MB |\n|---|---:|---:|---:|---:|\n")
	part := float64(text.Len()) / 1e6
	fmt.Fprintf(&b, "| `encoding/json`, Decoder over the events | %.0f | %.0f | 1.0 | |\n", part, part/theirs)
	fmt.Fprintf(&b, "| the Kineto reader on the same bytes | %.0f | %.0f | %.1f | |\n", part, part/ours, theirs/ours)
	memory := ""
	if peak > 0 {
		memory = fmt.Sprintf("%.0f", float64(peak)/1e6)
	}
	fmt.Fprintf(&b, "| `decodegap trace`, the capture %d times | %.0f | %.0f | | %s |\n", repeats, float64(size)/1e6, float64(size)/1e6/took, memory)
	return b.String(), nil
}

// compareReaders reads text with both readers in turn and returns the median
// seconds of each. That they do not see the same events is an error.
func compareReaders(text []byte, runs int) (ours, theirs float64, err error) {
	var a, b []float64
	for i := range runs + 1 { // the first is not counted
		begin := time.Now()
		n, err := readOurs(text)
		if err != nil {
			return 0, 0, err
		}
		middle := time.Now()
		m, err := readTheirs(text)
		if err != nil {
			return 0, 0, err
		}
		if n != m {
			return 0, 0, fmt.Errorf("the Kineto reader read %d events, encoding/json %d", n, m)
		}
		if i > 0 {
			a, b = append(a, middle.Sub(begin).Seconds()), append(b, time.Since(middle).Seconds())
		}
	}
	slices.Sort(a)
	slices.Sort(b)
	return a[len(a)/2], b[len(b)/2], nil
}

func readOurs(text []byte) (events int64, err error) {
	r, err := kineto.Format.Open(bytes.NewReader(text), int64(len(text)), "generated")
	if err != nil {
		return 0, err
	}
	defer r.Close()
	for _, err := range r.Events() {
		if err != nil {
			return 0, err
		}
	}
	return r.Meta().Events, nil
}

// readTheirs reads what the Kineto reader needs of each event, and no more, to
// be fair to encoding/json.
func readTheirs(text []byte) (events int64, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	for {
		t, err := d.Token()
		if err != nil {
			return 0, fmt.Errorf("no traceEvents: %w", err)
		}
		if t == "traceEvents" {
			break
		}
	}
	if _, err := d.Token(); err != nil {
		return 0, err
	}
	for d.More() {
		var e struct {
			Ph, Cat, Name string
			Pid, Tid      json.RawMessage
			Ts, Dur       json.Number
			Args          struct {
				Device, Stream, Correlation json.Number
				External                    json.Number `json:"External id"`
				Graph                       json.Number `json:"graph node id"`
				Grid, Block                 []int32
				Dims                        json.RawMessage `json:"Input Dims"`
			}
		}
		if err := d.Decode(&e); err != nil {
			return 0, err
		}
		events++
	}
	return events, nil
}

func writeTrace(c *capture, path string, size int64) (written, repeats int64, err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, 0, err
	}
	repeats, err = c.write(f, size)
	at, seek := f.Seek(0, io.SeekCurrent)
	return at, repeats, errors.Join(err, seek, f.Close())
}

// runTrace runs the program on a trace and returns the median seconds and the
// largest resident memory in bytes, 0 where the system does not tell.
func runTrace(program, path, out string, runs int) (seconds float64, peak int64, err error) {
	var times []float64
	for i := range runs + 1 {
		cmd := exec.Command(program, "trace", path, "-o", out)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		begin := time.Now()
		if err := cmd.Run(); err != nil {
			return 0, 0, fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, strings.TrimSpace(stderr.String()))
		}
		if i > 0 {
			times = append(times, time.Since(begin).Seconds())
		}
		peak = max(peak, maxResident(cmd.ProcessState))
	}
	slices.Sort(times)
	return times[len(times)/2], peak, nil
}
