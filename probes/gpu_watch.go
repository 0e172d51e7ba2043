package probes

import (
	"fmt"
	"slices"
	"time"

	"decodegap/roofline/hardware"
)

// GPUWatch looks at a GPU from outside its kernels: clocks, heat, power. What
// it finds against a window makes that window's blocks invalid, as Watch does
// for the CPU. Without an answer it says so once and finds nothing more.
type GPUWatch struct {
	// Ask reads the GPU; held asks for the counters too.
	Ask func(held bool) (hardware.Clocks, error)

	// Patience is how long an answer may take, 0 for one second: a driver can
	// hang.
	Patience time.Duration

	gone error // why nothing is asked any more
	all  []ClockWindow
}

// ClockWindow is what a GPU did while some blocks were taken, of looks between
// them. What its driver does not report is absent.
type ClockWindow struct {
	Start, End      time.Time
	Window          int // its number in the case
	Blocks, Invalid int // taken meanwhile, and of them by evidence

	Looks                 int
	SMLeastMHz, SMMostMHz *uint32
	MemoryLeastMHz        *uint32
	MemoryMostMHz         *uint32
	PState                *int // the slowest
	PowerMostW            *float64
	TemperatureMostC      *int
	Reasons               *hardware.Reason                  // all that any look gave
	Held                  map[hardware.Policy]time.Duration // in the window; policies that are not counted are absent
	held                  map[hardware.Policy]time.Duration // when it began
	lastLook              time.Time
}

// How a window is looked at: not so often that the looks count.
const (
	lookEvery    = 40 * time.Millisecond
	askPatience  = time.Second
	mostHeatHeld = 0.01 // of a window
)

// ask reads the GPU; false where it does not answer, now or any more.
func (w *GPUWatch) ask(held bool) (hardware.Clocks, bool) {
	if w == nil || w.Ask == nil || w.gone != nil {
		return hardware.Clocks{}, false
	}
	type answer struct {
		clocks hardware.Clocks
		err    error
	}
	got := make(chan answer, 1)
	go func() {
		c, err := w.Ask(held)
		got <- answer{c, err}
	}()
	patience := w.Patience
	if patience == 0 {
		patience = askPatience
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case a := <-got:
		w.gone = a.err
		return a.clocks, a.err == nil
	case <-timer.C:
		w.gone = fmt.Errorf("the driver did not answer within %s", patience)
		return hardware.Clocks{}, false
	}
}

// Gone is why the GPU is not looked at any more, nil where it is.
func (w *GPUWatch) Gone() error {
	if w == nil {
		return nil
	}
	return w.gone
}

// begin opens a window; nil where nothing can be seen.
func (w *GPUWatch) begin(at time.Time) *ClockWindow {
	c, ok := w.ask(true)
	if !ok {
		return nil
	}
	cw := &ClockWindow{Start: at, held: c.Held}
	cw.add(c, at)
	return cw
}

// look adds a look, where the last is old enough.
func (w *GPUWatch) look(cw *ClockWindow, at time.Time) {
	if cw == nil || at.Sub(cw.lastLook) < lookEvery {
		return
	}
	if c, ok := w.ask(false); ok {
		cw.add(c, at)
	}
}

// end closes a window of so many blocks and returns the evidence against them.
func (w *GPUWatch) end(cw *ClockWindow, at time.Time, blocks int) []string {
	if cw == nil {
		return nil
	}
	cw.End, cw.Blocks = at, blocks
	if c, ok := w.ask(true); ok {
		cw.add(c, at)
		cw.Held = map[hardware.Policy]time.Duration{}
		for p, d := range c.Held {
			if before, known := cw.held[p]; known && d >= before {
				cw.Held[p] = d - before
			}
		}
	}
	return cw.evidence()
}

// add joins one look: the worst of each value stays.
func (cw *ClockWindow) add(c hardware.Clocks, at time.Time) {
	cw.Looks++
	cw.lastLook = at
	keep(&cw.SMLeastMHz, c.SMMHz, false)
	keep(&cw.SMMostMHz, c.SMMHz, true)
	keep(&cw.MemoryLeastMHz, c.MemoryMHz, false)
	keep(&cw.MemoryMostMHz, c.MemoryMHz, true)
	keep(&cw.PState, c.PState, true)
	keep(&cw.PowerMostW, c.PowerW, true)
	keep(&cw.TemperatureMostC, c.TemperatureC, true)
	if c.Reasons != nil {
		all := *c.Reasons
		if cw.Reasons != nil {
			all |= *cw.Reasons
		}
		cw.Reasons = &all
	}
}

// keep replaces the value at to by v where that is higher, or lower.
func keep[T uint32 | int | float64](to **T, v *T, most bool) {
	if v == nil || *to != nil && (most && *v <= **to || !most && *v >= **to) {
		return
	}
	kept := *v
	*to = &kept
}

// evidence is what speaks against a window's blocks by itself. The clock that
// falls below the usual of other windows is judged when all are there.
func (cw *ClockWindow) evidence() []string {
	var found []string
	if cw.Reasons != nil {
		if r := cw.Reasons.Throttling(); r != 0 {
			found = append(found, "throttle: the GPU's clocks were held down: "+r.String())
		}
	}
	wall := cw.End.Sub(cw.Start)
	if d := cw.Held[hardware.PolicyThermal]; wall > 0 && d.Seconds() > mostHeatHeld*wall.Seconds() {
		found = append(found, fmt.Sprintf("heat: the GPU's clocks were held down for heat %.0f %% of the time", 100*min(d.Seconds()/wall.Seconds(), 1)))
	}
	return found
}

// moment is a window's clocks for the comparison with other windows: the
// lowest that was seen.
func (cw *ClockWindow) moment(m *Moment) {
	if cw == nil {
		return
	}
	m.sm, m.memory = hertz(cw.SMLeastMHz), hertz(cw.MemoryLeastMHz)
}

func hertz(mhz *uint32) *float64 {
	if mhz == nil || *mhz == 0 {
		return nil
	}
	hz := float64(*mhz) * 1e6
	return &hz
}

// memoryClock is the usual memory clock and the usual P-state of windows, nil
// where unknown. The windows of invalid blocks are left out unless there are
// no others.
func memoryClock(all []ClockWindow) (mhz *uint32, pstate *int) {
	valid := slices.DeleteFunc(slices.Clone(all), func(w ClockWindow) bool { return w.Invalid > 0 })
	if len(valid) == 0 {
		valid = all
	}
	var clocks []uint32
	var states []int
	for _, w := range valid {
		if w.MemoryLeastMHz != nil {
			clocks = append(clocks, *w.MemoryLeastMHz)
		}
		if w.PState != nil {
			states = append(states, *w.PState)
		}
	}
	return usual(clocks), usual(states)
}

// usual is the upper median of values as they are, nil of none.
func usual[T uint32 | int](values []T) *T {
	if len(values) == 0 {
		return nil
	}
	slices.Sort(values)
	return &values[len(values)/2]
}
