package main

import (
	"fmt"
	"strings"

	"decodegap/reports"
	"decodegap/roofline/unit"
)

// busLine sets a GPU's read ceiling beside what its memory bus delivers at the
// clock it had.
func busLine(b *reports.MemoryBus) string {
	state := ""
	if b.PState != nil {
		state = fmt.Sprintf(" in P%d", *b.PState)
	}
	return fmt.Sprintf("memory bus %d MHz%s × %d bit × 2 = %s: the read ceiling is %.1f %% of it", b.MemoryClockMHz, state, b.BusWidthBits, unit.BytesPerSecond(b.Peak), 100*b.Share)
}

// clocksLine is what the GPU did over all windows, "" without telemetry.
func clocksLine(doc *reports.CeilingsDocument) string {
	var sm, memory, state, heat span[int]
	var power span[float64]
	reasons := map[string]bool{}
	var order []string
	for _, r := range doc.Results {
		for _, w := range r.Clocks {
			sm.add(w.SMMHz, w.SMMostMHz)
			memory.add(w.MemoryMHz, w.MemoryMostMHz)
			state.add(w.PState)
			heat.add(w.TemperatureC)
			power.add(w.PowerW)
			for _, name := range w.ClocksReasons {
				if !reasons[name] {
					reasons[name] = true
					order = append(order, name)
				}
			}
		}
	}
	var parts []string
	say := func(known bool, format string, args ...any) {
		if known {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	say(sm.known, "SM %s MHz", sm)
	say(memory.known, "memory %s MHz", memory)
	say(state.known, "P%s", state)
	say(power.known, "up to %.0f W", power.most)
	say(heat.known, "up to %d °C", heat.most)
	if len(parts) == 0 {
		return ""
	}
	say(len(order) > 0, "clocks no higher because of %s", strings.Join(order, ", "))
	return "clocks: " + strings.Join(parts, ", ")
}

// span is the lowest and highest of values.
type span[T int | float64] struct {
	known       bool
	least, most T
}

func (s *span[T]) add(values ...*T) {
	for _, v := range values {
		switch {
		case v == nil:
		case !s.known:
			s.known, s.least, s.most = true, *v, *v
		default:
			s.least, s.most = min(s.least, *v), max(s.most, *v)
		}
	}
}

func (s span[T]) String() string {
	if s.least == s.most {
		return fmt.Sprint(s.least)
	}
	return fmt.Sprintf("%v–%v", s.least, s.most)
}
