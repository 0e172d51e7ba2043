package gap

import (
	"fmt"
	"slices"

	"decodegap/roofline"
)

// Way is a set of changes and the floor they lead to.
type Way struct {
	Changes []string
	Floor   Nanoseconds // per emitted token
}

// Ways says which changes bring a floor to a target time per emitted token:
// each single change that does, and else the changes taken one after another,
// the most useful first, until the target is reached or nothing helps any
// more. The last way is the lowest floor found.
func Ways(s Scenario, kind roofline.Kind, target Nanoseconds) (now Nanoseconds, ways []Way, reached bool, err error) {
	floor := func(s Scenario) (Nanoseconds, error) {
		f, err := s.Floor(kind)
		if err != nil {
			return 0, fmt.Errorf("what reaches the target: %w", err)
		}
		return nanos(f.PerToken(s.Workload)), nil
	}
	// after is the floor with a change, false where the change does not apply,
	// cannot be laid out, or needs a latency that is not known.
	after := func(s Scenario, c Change) (Scenario, Nanoseconds, bool) {
		changed, ok := c.Apply(s)
		if !ok {
			return s, 0, false
		}
		t, err := floor(changed)
		return changed, t, err == nil
	}
	if now, err = floor(s); err != nil || now <= target {
		return now, nil, err == nil, err
	}
	for _, c := range Changes {
		if _, t, ok := after(s, c); ok && t <= target {
			ways = append(ways, Way{[]string{c.Name}, t})
		}
	}
	if len(ways) > 0 {
		slices.SortStableFunc(ways, func(a, b Way) int { return int(a.Floor - b.Floor) })
		return now, ways, true, nil
	}
	way := Way{Floor: now}
	for way.Floor > target {
		best, next, name := way.Floor, s, ""
		for _, c := range Changes {
			if slices.Contains(way.Changes, c.Name) {
				continue
			}
			if changed, t, ok := after(s, c); ok && t < best {
				best, next, name = t, changed, c.Name
			}
		}
		if name == "" {
			break
		}
		s, way = next, Way{append(slices.Clone(way.Changes), name), best}
	}
	if len(way.Changes) == 0 {
		return now, nil, false, nil
	}
	return now, []Way{way}, way.Floor <= target, nil
}

// check says whether the changed scenario can be laid out at all.
func (s Scenario) check() error {
	_, err := s.Step(roofline.Layout)
	return err
}
