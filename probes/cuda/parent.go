package cuda

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"decodegap/probes"
)

// Parent runs probes in children.
type Parent struct {
	// Command is a child that is to be started: a process that calls Serve on
	// its standard input and output.
	Command func(context.Context) *exec.Cmd
	// Progress is told what children do; nil for silence.
	Progress func(probes.Progress)
}

// Outcome is what the children measured together.
type Outcome struct {
	GPU probes.GPU
	Run *probes.Run
}

// mostChildren bounds how often a new child goes on after one that was lost.
const mostChildren = 8

// What a child may write: bytes in a line, lines at first, and lines a second;
// a case takes two, and a sign of life is due every two seconds.
const (
	mostLine         = 32 << 20
	mostLines        = 10_000
	mostLinesASecond = 100
)

// Run has the probes of a request run, in a new child after each case that its
// child did not survive. A machine without GPU or driver is an error that wraps
// probes.ErrUnsupported. A cancelled context ends the run and keeps what is
// done.
func (p *Parent) Run(ctx context.Context, req Request) (*Outcome, error) {
	begin := time.Now()
	out := &Outcome{}
	var results []probes.Result
	var end *probes.Run
	var notes []string
	var blind string
	for children := 1; ; children++ {
		c := &child{parent: p, req: req}
		c.req.Blind = blind
		c.req.Budget = max(req.Budget-time.Since(begin), time.Second)
		for _, r := range results {
			c.req.Done = append(c.req.Done, Done{r.Probe, r.Case.Name})
		}
		err := c.run(ctx)
		if c.gpu != nil && out.GPU.Name == "" { // a later one finds what an earlier left
			out.GPU = *c.gpu
		}
		if c.stage == stageTelemetry && blind == "" && err != nil && ctx.Err() == nil {
			blind = fmt.Sprintf("the process that asked for it did not survive: %v", err)
			continue
		}
		results = append(results, unseen(results, c.results)...)
		if err == nil {
			end = c.end
			break
		}
		switch {
		case errors.Is(err, probes.ErrUnsupported) && len(results) == 0, c.now == nil && len(c.results) == 0:
			return nil, err
		case ctx.Err() != nil:
			end = &probes.Run{Interrupted: true}
		case children == mostChildren:
			end = &probes.Run{}
			notes = append(notes, fmt.Sprintf("%d processes were lost to the GPU one after another; the cases after the last are not tried", children))
		}
		if c.now != nil && !c.lost && ctx.Err() == nil {
			results = append(results, unseen(results, []probes.Result{{Probe: c.now.Probe, Case: probes.Case{Name: c.now.Case}, Outcome: probes.Failed, Reason: err.Error()}})...)
		}
		if end != nil {
			break
		}
	}
	end.Results = results
	end.Notes = append(notes, end.Notes...)
	end.Took = time.Since(begin)
	out.Run = end
	return out, nil
}

// unseen are the results of cases that no earlier child had: each measures the
// read ceiling anew.
func unseen(before, results []probes.Result) []probes.Result {
	seen := map[Done]bool{}
	for _, r := range before {
		seen[Done{r.Probe, r.Case.Name}] = true
	}
	var out []probes.Result
	for _, r := range results {
		if k := (Done{r.Probe, r.Case.Name}); !seen[k] {
			seen[k] = true
			out = append(out, r)
		}
	}
	return out
}

// child is one process and what it said.
type child struct {
	parent  *Parent
	req     Request
	gpu     *probes.GPU
	stage   Stage
	now     *probes.Progress // the case it is at
	results []probes.Result
	lost    bool // it ended a case that it did not survive
	end     *probes.Run
}

// errBabble ends a child that says more than there is to say.
var errBabble = errors.New("the process that ran it writes lines without end")

// errLost ends a child that said it can use the GPU no more.
var errLost = errors.New("the GPU is lost to the process")

// run starts the process and reads its lines until the last. The error says
// why there was no end.
func (c *child) run(ctx context.Context) error {
	request, err := json.Marshal(c.req)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := c.parent.Command(ctx)
	cmd.Stdin = bytes.NewReader(append(request, '\n'))
	said := &head{most: 200}
	cmd.Stderr = said
	cmd.Cancel = func() error { return interrupt(cmd.Process) }
	cmd.WaitDelay = 5 * time.Second // then it is killed
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start a process for the probes: %w", err)
	}
	read := make(chan Line)
	ended := make(chan error, 1)
	stop := make(chan struct{})
	defer close(stop)
	go func() { ended <- scan(pipe, read, stop) }()
	kill := func() {
		_ = cmd.Process.Kill()
		go func() { _ = cmd.Wait() }() // a process that a driver holds does not end
	}
	quiet := time.NewTimer(silence)
	defer quiet.Stop()
	began, lines := time.Now(), 0
	for {
		select {
		case l := <-read:
			quiet.Reset(silence)
			lines++
			err := c.take(l)
			if err == nil && lines > mostLines+int(time.Since(began).Seconds()*mostLinesASecond) {
				err = errBabble
			}
			if err != nil {
				kill()
				return err
			}
		case err := <-ended:
			if c.end != nil {
				_ = cmd.Wait()
				return nil
			}
			if err == nil {
				err = cmd.Wait()
			} else {
				kill()
			}
			return fmt.Errorf("the process that ran it ended early: %w%s", cmp(err), said)
		case <-quiet.C:
			kill()
			return fmt.Errorf("the process that ran it was silent for %s", silence)
		}
	}
}

// cmp names an end without an error, and who may have ended it from outside.
func cmp(err error) error {
	switch {
	case err == nil:
		return errors.New("without a word")
	case err.Error() == "signal: killed":
		return fmt.Errorf("%w (by somebody, or by the kernel for want of memory: dmesg says so)", err)
	}
	return err
}

// take is told a line; an error ends the child.
func (c *child) take(l Line) error {
	switch {
	case l.Error != "" && l.Missing:
		return fmt.Errorf("%w: %s", probes.ErrUnsupported, l.Error)
	case l.Error != "":
		return errors.New(l.Error)
	case l.Stage != "":
		c.stage = l.Stage
	case l.GPU != nil:
		c.gpu = l.GPU
	case l.Progress != nil:
		c.now = l.Progress
		if c.parent.Progress != nil {
			p := *l.Progress
			p.Done += len(c.req.Done)
			p.Total += len(c.req.Done)
			c.parent.Progress(p)
		}
	case l.Result != nil:
		c.results = append(c.results, *l.Result)
		if l.Lost {
			c.lost = true
			return errLost
		}
	case l.Run != nil:
		c.end = l.Run
	}
	return nil
}

// scan reads lines until the last; nil for an orderly end of the output.
func scan(from io.Reader, to chan<- Line, stop <-chan struct{}) error {
	s := bufio.NewScanner(from)
	s.Buffer(nil, mostLine)
	for s.Scan() {
		var l Line
		if err := json.Unmarshal(s.Bytes(), &l); err != nil {
			return fmt.Errorf("it wrote what is no line of the protocol: %w", err)
		}
		select {
		case to <- l:
		case <-stop:
			return nil
		}
	}
	return s.Err()
}

// head keeps the first of what is written to it: a program that crashes says
// why before it says where.
type head struct {
	most int
	text []byte
}

// Write keeps what there is room for.
func (h *head) Write(p []byte) (int, error) {
	h.text = append(h.text, p[:min(len(p), h.most-len(h.text))]...)
	return len(p), nil
}

// String is what was kept, in one line, behind a colon; "" of nothing.
func (h *head) String() string {
	text := strings.Join(strings.Fields(strings.ToValidUTF8(string(h.text), "?")), " ")
	if text == "" {
		return ""
	}
	return ": " + text
}
