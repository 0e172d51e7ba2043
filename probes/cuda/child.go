//go:build cgo && linux

package cuda

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"decodegap/probes"
	"decodegap/probes/cuda/driver"
)

// mostRequest bounds a request.
const mostRequest = 1 << 20

// Serve is a child: it reads a request from in, runs the probes and writes
// lines to out. Telemetry opens the watch on the GPU at a PCI address; nil
// where there is none. Serve's error is one of writing or of the request; what
// the GPU lacks or fails at is in the lines.
func Serve(ctx context.Context, in io.Reader, out io.Writer, telemetry Telemetry) error {
	var req Request
	if err := json.NewDecoder(io.LimitReader(in, mostRequest)).Decode(&req); err != nil {
		return fmt.Errorf("read the request: %w", err)
	}
	w := &lines{to: json.NewEncoder(out)}
	stop := w.live()
	defer stop()
	seen := outside{none: req.Blind}
	m, err := openWithin(req.Deadline, func() (*Machine, error) {
		return openAfter(req.Library, req.Device, req.Deadline, func(l *driver.Library) {
			if req.Blind == "" {
				_ = w.send(Line{Stage: stageTelemetry})
				seen = look(l, req.Device, telemetry)
				_ = w.send(Line{Stage: stageOpen})
			}
		})
	})
	if err != nil {
		return w.send(Line{Error: err.Error(), Missing: errors.Is(err, probes.ErrUnsupported)})
	}
	defer m.Close()
	host := m.Host(req.Memory)
	seen.describe(host.GPU)
	if err := w.send(Line{GPU: host.GPU}); err != nil {
		return err
	}
	session := &probes.Session{Host: host, Budget: req.Budget, Clock: time.Now, GPU: seen.watch, Continues: len(req.Done) > 0}
	session.Progress = func(p probes.Progress) { _ = w.send(Line{Progress: &p}) }
	session.Each = func(r probes.Result) { _ = w.send(Line{Result: &r, Lost: m.device.Lost() != nil}) }
	run := session.Run(ctx, All, chosen(m, req))
	// What could not even be planned was not told one by one.
	for _, r := range run.Results {
		if r.Case.Name == "" {
			_ = w.send(Line{Result: &r})
		}
	}
	run.Results = nil
	return w.send(Line{Run: run})
}

// openWithin gives an opening up that takes longer than its calls may: a driver
// whose first ones do not return can only be left with the process.
func openWithin(deadline time.Duration, open func() (*Machine, error)) (*Machine, error) {
	if deadline <= 0 {
		deadline = waitLimit
	}
	type opened struct {
		m   *Machine
		err error
	}
	done := make(chan opened, 1)
	go func() {
		m, err := open()
		done <- opened{m, err}
	}()
	limit := (callShare + 1) * deadline
	select {
	case o := <-done:
		return o.m, o.err
	case <-time.After(limit):
		return nil, fmt.Errorf("the driver did not open the GPU within %s", limit)
	}
}

// chosen are the probes of a request without the cases that are done.
func chosen(m *Machine, req Request) []probes.Probe {
	var out []probes.Probe
	for _, p := range All {
		if !slices.Contains(req.Probes, p.Name) {
			continue
		}
		plan := p.Plan
		p.Plan = func(h probes.Host) []probes.Case {
			return slices.DeleteFunc(plan(h), func(c probes.Case) bool {
				return slices.Contains(req.Done, Done{p.Name, c.Name})
			})
		}
		if p.Name == req.Hang {
			prepare := p.Prepare
			p.Prepare = func(ctx context.Context, h probes.Host, c probes.Case) (probes.Subject, error) {
				s, err := prepare(ctx, h, c)
				return &hanging{s, m}, err
			}
		}
		out = append(out, p)
	}
	return out
}

// hanging is a subject whose kernel does not end while anybody waits.
type hanging struct {
	probes.Subject
	m *Machine
}

// forEver is longer than every deadline.
const forEver = time.Hour

// Time starts a kernel that does not end.
func (s *hanging) Time(ctx context.Context, n int) ([]float64, error) {
	return nil, s.m.run(ctx, s.m.hold(forEver))
}

// lines writes lines, one at a time.
type lines struct {
	mu sync.Mutex
	to *json.Encoder
}

func (w *lines) send(l Line) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.to.Encode(l); err != nil {
		return fmt.Errorf("write a line: %w", err)
	}
	return nil
}

// live says every now and then that the process lives, until stopped.
func (w *lines) live() (stop func()) {
	end := make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() {
		t := time.NewTicker(beat)
		defer t.Stop()
		for {
			select {
			case <-end:
				return
			case <-t.C:
				_ = w.send(Line{})
			}
		}
	})
	return func() { close(end); done.Wait() }
}
