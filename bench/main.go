// Command bench times the decodegap program as a shell sees it: start, floor,
// a whole diagnosis with its reports. It prints and judges nothing: times
// depend on the machine, so no test asserts them. Ratios to the program's own
// start carry further than milliseconds. With -trace it reads a long generated
// trace instead, and the ratio is to encoding/json.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
)

// capturedTrace is what a long trace is made of. As the cases, it is named
// from the repository's root.
const capturedTrace = "testdata/traces/captured/llama8b_graph_b1.json.gz"

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench: "+err.Error())
		os.Exit(1)
	}
}

func run(args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	program := flags.String("program", "./decodegap", "the `file` to time")
	runs := flags.Int("n", 15, "timed `runs` of each case, after one untimed")
	match := flags.String("match", "", "only cases whose name this regular `expression` finds")
	trace := flags.Int("trace", 0, "instead: read a generated Kineto file of so many `MB`")
	file := flags.String("o", "", "also write the table to `file`")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *runs < 1 {
		return fmt.Errorf("-n %d: expected at least 1", *runs)
	}
	only, err := regexp.Compile(*match)
	if err != nil {
		return err
	}
	path, err := filepath.Abs(*program)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "decodegap-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var table string
	if *trace != 0 {
		table, err = measureTrace(path, dir, capturedTrace, *trace, *runs)
	} else {
		table, err = measure(path, dir, *runs, only)
	}
	if err != nil {
		return err
	}
	if *file != "" {
		if err := os.WriteFile(*file, []byte(table), 0o644); err != nil {
			return err
		}
	}
	_, err = io.WriteString(stdout, table)
	return err
}

// measure times the cases that only finds, after the first, which the ratios
// are to, and returns their table.
func measure(program, dir string, runs int, only *regexp.Regexp) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, %d of %d CPUs, %s/%s, %s; median of %d runs\n\n",
		cpu(), runtime.GOMAXPROCS(0), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH, runtime.Version(), runs)
	fmt.Fprintf(&b, "| case | median ms | fastest | slowest | × start |\n|---|---:|---:|---:|---:|\n")
	start := 0.0
	for i, c := range cases(program, dir) {
		if i > 0 && !only.MatchString(c.name) {
			continue
		}
		times, err := timed(c.command, runs)
		if err != nil {
			return "", fmt.Errorf("%s: %w", c.name, err)
		}
		median := times[len(times)/2]
		if i == 0 {
			start = median
		}
		fmt.Fprintf(&b, "| %s | %.1f | %.1f | %.1f | %.1f |\n", c.name, median, times[0], times[len(times)-1], median/start)
	}
	return b.String(), nil
}

// timed is the wall times of runs of command in milliseconds, sorted. A run
// that fails is an error: a fast failure must not look like a fast success.
func timed(command []string, runs int) ([]float64, error) {
	var times []float64
	for i := range runs + 1 {
		cmd := exec.Command(command[0], command[1:]...)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		begin := time.Now()
		err := cmd.Run()
		took := time.Since(begin)
		if err != nil {
			return nil, fmt.Errorf("%s: %w: %s", strings.Join(command, " "), err, strings.TrimSpace(stderr.String()))
		}
		if i > 0 {
			times = append(times, float64(took.Nanoseconds())/1e6)
		}
	}
	slices.Sort(times)
	return times, nil
}

// cpu is the processor's name where the system tells it in a file.
func cpu() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "CPU not known"
	}
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "CPU not known"
}
