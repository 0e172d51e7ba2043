package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"sync"

	"github.com/spf13/cobra"

	"decodegap/cmd/internal/exitcode"
	"decodegap/cmd/internal/term"
	"decodegap/reports"
	"decodegap/reports/fleet"
	"decodegap/roofline/unit"
)

func newMergeCommand(env *environment) *cobra.Command {
	var opt outputOptions
	cmd := &cobra.Command{
		Use:     "merge FILE...",
		GroupID: "main",
		Short:   "Join the records of many GPUs and hosts, and name the slow ones",
		Long: `merge joins ceilings documents (decodegap probe -o) that the ranks of a job wrote,
each on its own GPU, and says what each case took over all of them, and which
GPU, link between GPUs or host is slower than its like: beyond the margin, beyond
the noise of its own sample, and further from the rest than chance puts one of a
hundred healthy fleets. Where most GPUs of a host are slow, the host is named.

Run the probes under the launcher you have; %r in -o becomes the rank:

  srun --ntasks-per-node=8 sh -c 'decodegap probe --device cuda:$SLURM_LOCALID -o ceilings-%r.json'
  torchrun --nproc-per-node 8 --no-python sh -c 'decodegap probe --device cuda:$LOCAL_RANK -o ceilings-%r.json'
  mpirun sh -c 'decodegap probe --device cuda:$OMPI_COMM_WORLD_LOCAL_RANK -o ceilings-%r.json'

` + exitcode.Help,
		Example: `  decodegap merge ceilings-*.json
  decodegap merge --json ceilings-*.json | jq '.slow[]'`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runMerge(cmd.Context(), env, args, opt) },
	}
	opt.AddFlags(cmd.Flags())
	return cmd
}

func runMerge(ctx context.Context, env *environment, paths []string, opt outputOptions) error {
	if i := slices.Index(paths, "-"); i >= 0 && slices.Contains(paths[i+1:], "-") {
		return fmt.Errorf("standard input (-) can be read only once")
	}
	records, err := interruptible(ctx, func() ([]fleet.Record, error) { return readRecords(env, paths, opt.quiet) })
	if err != nil {
		return err
	}
	doc := fleet.Merge(records)
	render := func(w io.Writer) error { return writeMergeText(w, doc, env.tableWidth()) }
	if opt.json {
		render = func(w io.Writer) error { return writeJSON(w, doc) }
	}
	return opt.write(env, render, paths...)
}

// readRecords reads documents several at a time; of several errors the first
// file's is told.
func readRecords(env *environment, paths []string, quiet bool) ([]fleet.Record, error) {
	records, errs := make([]fleet.Record, len(paths)), make([]error, len(paths))
	progress := term.NewProgress(env.stderr, term.Of(env.stderr, os.Getenv), quiet)
	defer progress.Clear()
	var next, done int
	var mu sync.Mutex
	var readers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(paths)) {
		readers.Go(func() {
			for {
				mu.Lock()
				i := next
				next++
				mu.Unlock()
				if i >= len(paths) {
					return
				}
				doc, err := readCeilings(env, paths[i])
				records[i], errs[i] = fleet.Record{Path: paths[i], Doc: doc}, err
				mu.Lock()
				done++
				progress.Set("read %d of %d records", done, len(paths))
				mu.Unlock()
			}
		})
	}
	readers.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return records, nil
}

// readCeilings reads one document and drops what merging does not need: the
// values of thousands would fill the memory.
func readCeilings(env *environment, path string) (*reports.CeilingsDocument, error) {
	var doc *reports.CeilingsDocument
	var err error
	if path == "-" {
		doc, err = reports.ReadCeilingsFrom(env.stdin, "standard input")
	} else {
		doc, err = reports.ReadCeilings(path)
	}
	if err != nil {
		return nil, err
	}
	for i := range doc.Results {
		r := &doc.Results[i]
		r.ReadShare, r.Clocks, r.Step = nil, nil, nil
		if r.TimeS != nil {
			r.TimeS.Values = nil
		}
	}
	doc.Ceilings = nil
	return doc, nil
}

// writeMergeText prints who is slow first, then every case.
func writeMergeText(w io.Writer, doc *reports.MergeDocument, width int) error {
	fmt.Fprintf(w, "%s, %s, %s\n", counted(doc.Records, "record"), counted(doc.GPUs, "device"), counted(doc.Hosts, "host"))
	if !slices.ContainsFunc(doc.Cases, func(c reports.FleetCase) bool { return c.Count >= fleet.Least }) {
		fmt.Fprintf(w, "nothing was compared: no case was measured by %d devices of a kind\n", fleet.Least)
	} else if len(doc.Slow) == 0 {
		fmt.Fprintln(w, "none is slower than its like beyond margin and chance")
	} else {
		fmt.Fprintln(w)
		t := term.Table{Columns: []term.Column{{Title: "slow"}, {Title: "which"}, {Title: "× median", Align: term.Right},
			{Title: "σ from it", Align: term.Right}, {Title: "limit", Align: term.Right}, {Title: "worst in", Shrink: true}, {Title: "cases", Align: term.Right}}}
		for _, s := range doc.Slow {
			t.Rows = append(t.Rows, []string{s.Kind, s.Name, fmt.Sprintf("%.3f", s.Slower), fmt.Sprintf("%.1f", s.Score), fmt.Sprintf("%.1f", s.Limit),
				s.Probe + " " + s.Case, fmt.Sprintf("%d of %d", s.Cases, s.Of)})
		}
		if err := t.Write(w, width); err != nil {
			return err
		}
	}
	fmt.Fprintln(w)
	t := term.Table{Columns: []term.Column{{Title: "probe"}, {Title: "case", Shrink: true}, {Title: "on", Shrink: true}, {Title: "n", Align: term.Right},
		{Title: "median", Align: term.Right}, {Title: "σ, %", Align: term.Right}, {Title: "fastest", Align: term.Right}, {Title: "slowest", Align: term.Right}, {Title: "which is"}}}
	for _, c := range doc.Cases {
		t.Rows = append(t.Rows, []string{c.Probe, c.Case, c.Hardware, fmt.Sprint(c.Count), unit.Seconds(c.MedianS).String(), fmt.Sprintf("%.2f", 100*c.Spread),
			unit.Seconds(c.FastestS).String(), unit.Seconds(c.SlowestS).String(), c.SlowestIs})
	}
	if err := t.Write(w, width); err != nil {
		return err
	}
	if len(doc.Missing) > 0 {
		writeWrapped(w, "no record of rank "+ranges(doc.Missing), width, "")
	}
	for _, warning := range doc.Warnings {
		writeWrapped(w, "warning: "+warning.Text, width, "")
	}
	return nil
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// ranges prints sorted numbers as 1–3, 7.
func ranges(n []int) string {
	var text string
	for i := 0; i < len(n); {
		j := i
		for j+1 < len(n) && n[j+1] == n[j]+1 {
			j++
		}
		if text != "" {
			text += ", "
		}
		text += fmt.Sprint(n[i])
		if j > i {
			text += fmt.Sprintf("–%d", n[j])
		}
		i = j + 1
	}
	return text
}
