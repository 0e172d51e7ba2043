package main

import (
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing/fstest"
	"time"

	"decodegap/probes"
	"decodegap/probes/decode"
	"decodegap/roofline"
)

// scripted is decodegap on a machine made of script, for tests: two threads,
// memory that reads at 20 GB/s, a clock that only kernels move. Its variables:
//
//	SLOW=cpu/gemv=1.1   that kernel takes 1.1 times as long
//	LOAD=0.5            other processes use half a CPU
//	SEED=2              of the noise
//	WAIT=cpu/gemv       that kernel blocks until the program is interrupted
func scripted() {
	os.Exit(run(&environment{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, workbench: newScript().workbench()}))
}

type script struct {
	now       time.Time
	own, busy time.Duration
	load      float64
	rng       *rand.Rand
	slow      map[string]float64
	wait      string
}

func newScript() *script {
	s := &script{now: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC), slow: map[string]float64{}, wait: os.Getenv("WAIT")}
	seed, _ := strconv.ParseUint(os.Getenv("SEED"), 10, 64)
	s.rng = rand.New(rand.NewPCG(seed, 1))
	s.load, _ = strconv.ParseFloat(os.Getenv("LOAD"), 64)
	if name, factor, ok := strings.Cut(os.Getenv("SLOW"), "="); ok {
		s.slow[name], _ = strconv.ParseFloat(factor, 64)
	}
	return s
}

func (s *script) pass(d time.Duration) {
	s.now = s.now.Add(d)
	s.own += d
	s.busy += d + time.Duration(s.load*float64(d))
}

// Open makes the script the machine's /proc.
func (s *script) Open(name string) (fs.File, error) {
	return fstest.MapFS{
		"proc/stat":    {Data: fmt.Appendf(nil, "cpu0 %d 0 0 0 0 0 0 0 0 0\n", s.busy/(10*time.Millisecond))},
		"proc/cpuinfo": {Data: []byte("model name : Scripted CPU\n")},
		"proc/meminfo": {Data: []byte("MemTotal: 33554432 kB\nMemAvailable: 16777216 kB\n")},
	}.Open(name)
}

func (s *script) workbench() *workbench {
	supported := func(name, doc string, rate float64, provides ...roofline.Resource) probes.Probe {
		return probes.Probe{Name: name, Doc: doc, Formula: "n", Checked: "exactly", Provides: provides,
			Plan: func(probes.Host) []probes.Case {
				return []probes.Case{{Name: "M=1 8×8", Shape: map[string]int{"m": 1}, Format: "NVFP4", Bytes: 4e6, FLOPs: 16e6}}
			},
			Prepare: func(context.Context, probes.Host, probes.Case) (probes.Subject, error) {
				return &scriptedKernel{s, name, 4e6 / rate}, nil
			}}
	}
	router := supported("cpu/router", "a router", 1e12, roofline.GraphNode)
	plan := router.Plan
	router.Plan = func(h probes.Host) []probes.Case {
		c := plan(h)
		c[0].Bytes, c[0].FLOPs = 0, 0
		return c
	}
	amx := probes.Probe{Name: "cpu/amx", Doc: "what this machine lacks", Check: func(probes.Host) error {
		return fmt.Errorf("no AMX: %w", probes.ErrUnsupported)
	}}
	return &workbench{
		probes: []probes.Probe{supported("cpu/read", "reads", 20e9, roofline.DRAMRead), supported("cpu/gemv", "multiplies", 16e9, roofline.TensorBF16), router, amx},
		step: func(_ *decode.Plan, _ decode.Point, c probes.Case) probes.Probe {
			p := supported("cpu/step", "a whole step", 1)
			p.Plan = func(probes.Host) []probes.Case { return []probes.Case{c} }
			p.Prepare = func(context.Context, probes.Host, probes.Case) (probes.Subject, error) {
				return &scriptedStep{scriptedKernel{s, "cpu/step", float64(c.Bytes) / 14e9}, nil}, nil
			}
			return p
		},
		host: func() probes.HostSource {
			return probes.HostSource{Root: s, Affinity: []int{0, 1}, OS: "linux", Arch: "amd64", ISAs: []string{"script"}}
		},
		session: func(h probes.Host, budget time.Duration) *probes.Session {
			return &probes.Session{Host: h, Budget: budget, Clock: func() time.Time { return s.now },
				Watch: &probes.Watch{Root: s, Usage: func() (probes.Usage, bool) { return probes.Usage{CPU: s.own}, true }},
				Sleep: func(_ context.Context, d time.Duration) { s.pass(d) }}
		},
		now: func() time.Time { return s.now },
	}
}

// scriptedKernel takes about the same time each run.
type scriptedKernel struct {
	script  *script
	name    string
	seconds float64
}

func (k *scriptedKernel) Time(ctx context.Context, n int) ([]float64, error) {
	if k.script.wait == k.name {
		fmt.Fprintln(os.Stderr, "waiting")
		<-ctx.Done()
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	out := make([]float64, n)
	for i := range out {
		out[i] = k.seconds * (1 + 0.02*k.script.rng.Float64())
		if f, ok := k.script.slow[k.name]; ok {
			out[i] *= f
		}
		k.script.pass(time.Duration(out[i] * 1e9))
	}
	return out, nil
}

func (k *scriptedKernel) Verify() (probes.Correctness, error) {
	return probes.Correctness{RelativeL2: 1e-6, MaxAbs: 1e-5, Bound: 1e-3, Values: 64}, nil
}

func (k *scriptedKernel) Kernel() string { return "script, 2 threads" }
func (k *scriptedKernel) Close()         {}

// scriptedStep spends three quarters of its time in the feed-forward blocks.
type scriptedStep struct {
	scriptedKernel
	times []float64
}

func (k *scriptedStep) Time(ctx context.Context, n int) ([]float64, error) {
	t, err := k.scriptedKernel.Time(ctx, n)
	k.times = append(k.times, t...)
	return t, err
}

func (k *scriptedStep) Parts() map[roofline.Component][]float64 {
	parts := map[roofline.Component][]float64{}
	for _, t := range k.times {
		parts[roofline.MLPDense] = append(parts[roofline.MLPDense], 0.75*t)
		parts[roofline.Rope] = append(parts[roofline.Rope], 0.25*t)
	}
	return parts
}
