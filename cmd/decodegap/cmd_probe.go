package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"decodegap/cmd/internal/assemble"
	"decodegap/cmd/internal/exitcode"
	"decodegap/cmd/internal/term"
	"decodegap/probes"
	"decodegap/probes/all"
	"decodegap/reports"
	"decodegap/roofline/unit"
)

// workbench is what probes run on: the machine, the list of them and the
// session that times them. Tests have one of their own.
type workbench struct {
	probes  []probes.Probe
	step    assemble.StepProbe
	host    func() probes.HostSource
	session func(probes.Host, time.Duration) *probes.Session
	child   func(context.Context) *exec.Cmd // a process that times probes of a GPU
	now     func() time.Time
}

// thisMachine is the workbench outside tests.
func thisMachine() *workbench {
	return &workbench{
		probes:  slices.Concat(all.All, all.CUDA),
		step:    all.Step,
		host:    func() probes.HostSource { return probes.ThisHost(all.ISAs()) },
		session: probes.NewSession,
		child:   cudaChild,
		now:     time.Now,
	}
}

// probing are the flags of everything that runs probes.
type probing struct {
	budget time.Duration
	memory string
}

func (o *probing) AddFlags(f *pflag.FlagSet, budget time.Duration) {
	f.DurationVar(&o.budget, "budget", budget, "time for all probes together, such as 30s or 2m")
	f.StringVar(&o.memory, "memory", "", "memory for the probes' operands, such as 4GB or 512MiB; default half of what is available, of a GPU nearly all")
}

// most is the memory that operands may take, 0 for the default.
func (o *probing) most() (unit.Bytes, error) {
	if o.memory == "" {
		return 0, nil
	}
	b, err := unit.ParseBytes(o.memory)
	if err != nil {
		return 0, fmt.Errorf("--memory: %w", err)
	}
	return b, nil
}

func (o *probing) check() error {
	if o.budget < time.Second || o.budget > 24*time.Hour {
		return fmt.Errorf("--budget %s: expected 1s to 24h", o.budget)
	}
	_, err := o.most()
	return err
}

type probeOptions struct {
	outputOptions
	probing
	stepOptions
	device  string
	libcuda string
	threads int
	format  string
}

func (o *probeOptions) AddFlags(f *pflag.FlagSet) {
	o.outputOptions.AddFlags(f)
	f.Lookup("output").Usage = "also write the ceilings document (JSON) to `FILE`, for --ceilings and merge; %r in it becomes the rank"
	o.probing.AddFlags(f, 2*time.Minute)
	o.stepOptions.AddFlags(f)
	f.StringVar(&o.device, "device", "cpu", "`DEVICE` to probe: cpu, cuda or cuda:1")
	f.StringVar(&o.libcuda, "libcuda", "", "the NVIDIA driver's library at `FILE`; default DECODEGAP_LIBCUDA, or libcuda.so.1 as the system finds it")
	f.IntVar(&o.threads, "threads", 0, "hardware threads the CPU's kernels may use; default all that this process may")
	f.StringVar(&o.format, "format", "text", "`FORMAT` on stdout: text, json, gobench (for benchstat)")
}

func newProbeCommand(env *environment) *cobra.Command {
	var opt probeOptions
	cmd := &cobra.Command{
		Use:     "probe [NAME...]",
		GroupID: "parts",
		Short:   "Time decode components on this machine",
		Long: `probe times the parts of a decode step with its own kernels: what this machine
really reaches, to set beside what its data sheet says. NAME is a probe of
decodegap list probes, the beginning of one (gemv), or a pattern (cpu/gemv_*);
without any, all of the device are run.

Each kernel runs in turns with a kernel that only reads memory, and its rate is
given as a share of that same-run read ceiling: the share holds where a noisy
machine moves both. Operands are rotated so that none is still cached. The
output of the timed run is checked against float64; a wrong one has no number.

A result is good, noisy (a wide interval, or a ceiling that moved) or
unreliable (evidence from outside, such as another process, steal or throttling,
speaks against a fifth of its blocks). No block is left out for looking odd.

--device cuda runs them on an NVIDIA GPU, in a child process: a kernel that never
ends costs its own result. NVML tells of clocks, heat and power meanwhile; a
window in which heat or hardware slowed the GPU down speaks against its blocks.

probe step --model MODEL runs a whole decode step of a model that fits in
memory: every layer with random weights of its own in the model's formats and
shapes, the cache of --context tokens, our own kernels, in a loop. It is what
this machine can attain, not a sum of parts.

With -o the ceilings go to a file that floor, diagnose, compare and merge read;
it is replaced whole at the end. Interrupted, the command prints and writes what
is finished and ends with status 130; killed, it leaves the file as it was.

` + exitcode.Help,
		Example: `  decodegap probe -o ceilings.json
  decodegap probe read gemv --budget 30s
  decodegap probe step --model qwen3-0.6b --weights nvfp4 --context 512
  decodegap probe --format gobench > new.txt; benchstat old.txt new.txt
  decodegap compare before.json after.json`,
		ValidArgsFunction: func(_ *cobra.Command, _ []string, begin string) ([]string, cobra.ShellCompDirective) {
			var names []string
			for _, p := range env.bench().probes {
				if strings.HasPrefix(p.Name, begin) {
					names = append(names, p.Name+"\t"+p.Doc)
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error { return runProbe(cmd.Context(), env, args, opt) },
	}
	opt.AddFlags(cmd.Flags())
	return cmd
}

func runProbe(ctx context.Context, env *environment, names []string, opt probeOptions) error {
	if opt.json {
		opt.format = "json"
	}
	write, ok := map[string]func(io.Writer, *reports.CeilingsDocument) error{
		"text":    func(w io.Writer, doc *reports.CeilingsDocument) error { return writeCeilingsText(w, doc, env.width()) },
		"json":    func(w io.Writer, doc *reports.CeilingsDocument) error { return writeJSON(w, doc) },
		"gobench": writeGoBench,
	}[opt.format]
	if !ok {
		return fmt.Errorf("--format %q: expected text, json or gobench", opt.format)
	}
	if err := opt.check(); err != nil {
		return err
	}
	if opt.threads < 0 || opt.threads > 1<<14 {
		return fmt.Errorf("--threads %d: expected 1 or more", opt.threads)
	}
	rank := thisRank()
	if opt.file, ok = ofRank(opt.file, rank); !ok {
		return fmt.Errorf("-o %s: all %d ranks would write this file: put %%r into its name, which becomes the rank", opt.file, rank.Of)
	}
	if opt.file != "-" {
		if err := checkOutputs([]string{opt.file}, nil); err != nil {
			return err
		}
		if err := checkPlace(opt.file); err != nil {
			return err
		}
	}
	mine, err := ofDevice(env.bench().probes, opt.device)
	if err != nil {
		return err
	}
	if opt.model != "" && opt.device != "cpu" {
		return exitcode.With(exitcode.Unavailable, fmt.Errorf("--model with --device %s: this version runs whole steps on the CPU only", opt.device))
	}
	step, err := opt.step(env.bench().step)
	if err != nil {
		return err
	}
	if mine, err = withStep(mine, step, names); err != nil {
		return err
	}
	chosen, err := probes.Choose(mine, names)
	if err != nil {
		return err
	}
	env.finishes.Store(true)
	var doc *reports.CeilingsDocument
	if strings.HasPrefix(opt.device, "cuda") {
		doc, err = env.probeGPU(ctx, mine, chosen, opt)
	} else {
		doc, err = env.probe(ctx, mine, chosen, step, opt.probing, opt.threads, opt.quiet)
	}
	if err != nil {
		return err
	}
	doc.Rank = rank
	var text bytes.Buffer
	if err := write(&text, doc); err != nil {
		return err
	}
	// What took minutes to measure goes to either of two places where the other
	// fails.
	kept := opt.keep(env, doc)
	if _, err := env.stdout.Write(text.Bytes()); err != nil {
		return errors.Join(kept, err)
	}
	if kept != nil {
		return kept
	}
	if opt.format != "text" {
		for _, w := range doc.Warnings {
			opt.talk(env, "warning: %s", w.Text)
		}
	}
	return probeEnd(ctx, doc, chosen)
}

// keep writes the document to the file of -o, if there is one.
func (o *probeOptions) keep(env *environment, doc *reports.CeilingsDocument) error {
	if o.file == "-" {
		return nil
	}
	var buf bytes.Buffer
	if err := writeJSON(&buf, doc); err != nil {
		return err
	}
	if err := writeFile(o.file, buf.Bytes()); err != nil {
		return err
	}
	o.talk(env, "wrote %s", o.file)
	return nil
}

// probe runs the chosen probes and makes their document; all are those of the
// device, step is the model's among them, nil for none.
func (e *environment) probe(ctx context.Context, all, chosen []probes.Probe, step *assemble.Attainable, o probing, threads int, quiet bool) (*reports.CeilingsDocument, error) {
	memory, err := o.most()
	if err != nil {
		return nil, err
	}
	bench := e.bench()
	host := probes.Detect(bench.host(), memory)
	if threads > host.Threads {
		return nil, fmt.Errorf("--threads %d: this process may use %d", threads, host.Threads)
	}
	if threads > 0 {
		host = host.Limit(threads)
	}
	if host.Available > 0 && memory > host.Available {
		return nil, fmt.Errorf("--memory %s: %s is available", memory, host.Available)
	}
	session := bench.session(host, o.budget)
	var clear func()
	session.Progress, clear = e.progress(quiet)
	when := bench.now()
	run := session.Run(ctx, all, chosen)
	clear()
	return assemble.Ceilings(run, all, step, host, version, when, o.budget), nil
}

// progress is the line that says where a session stands, and what clears it.
func (e *environment) progress(quiet bool) (set func(probes.Progress), clear func()) {
	line := term.NewProgress(e.stderr, term.Of(e.stderr, os.Getenv), quiet)
	return func(p probes.Progress) {
		line.Set("%d of %d  %s %s  (%s left)", p.Done+1, p.Total, p.Probe, p.Case, p.Left.Round(time.Second))
	}, line.Clear
}

// probeEnd is how the command ends after its output is written: status 4 if
// none of the chosen probes can run here.
func probeEnd(ctx context.Context, doc *reports.CeilingsDocument, chosen []probes.Probe) error {
	if ctx.Err() != nil {
		return exitcode.With(exitcode.Interrupted, errors.New("interrupted; what was finished is in the output"))
	}
	counts := map[string]int{}
	for _, r := range doc.Results {
		if slices.ContainsFunc(chosen, func(p probes.Probe) bool { return p.Name == r.Probe }) {
			counts[r.Outcome]++
		}
	}
	switch {
	case counts["failed"] > 0:
		return exitcode.With(exitcode.NotComparable, errors.New("probe: there are cases that failed; the reasons are above"))
	case counts["measured"] == 0 && counts["unsupported"] > 0:
		return exitcode.With(exitcode.Unavailable, errors.New("probe: none of this can be measured here; the reasons are above"))
	}
	return nil
}

// ofDevice are the probes of a device, an error with status 4 where this build
// has none.
func ofDevice(list []probes.Probe, device string) ([]probes.Probe, error) {
	kind := device
	if device != "cpu" {
		if _, err := gpuIndex(device); err != nil {
			return nil, err
		}
		kind = "cuda"
	}
	mine := slices.DeleteFunc(slices.Clone(list), func(p probes.Probe) bool { return !strings.HasPrefix(p.Name, kind+"/") })
	if len(mine) == 0 {
		return nil, exitcode.With(exitcode.Unavailable, fmt.Errorf("--device %s: %s", device, cmp.Or(all.Missing, "no probes are listed")))
	}
	return mine, nil
}
