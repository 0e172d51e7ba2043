package traces

import (
	"cmp"
	"fmt"
	"slices"
)

// minForOutliers is the fewest steps of which one can be called unlike the
// others.
const minForOutliers = 5

// chooseSteps sets aside what is not a usual decode step and picks the median.
func chooseSteps(s *Steps, truncated bool) {
	setAsidePhases(s)
	if truncated {
		setAsideCut(s)
	}
	setAsideKinds(s)
	setAsideOutliers(s)

	var closed, counts []int
	for i, st := range s.All {
		if st.Aside != "" {
			continue
		}
		counts = append(counts, i)
		if !st.Open {
			closed = append(closed, i)
		}
	}
	s.Counts = len(counts)
	// The last step lacks the time to a next one; with few steps it is still
	// better evidence than none.
	if n := len(counts); len(closed) < n && n > 1 {
		text := fmt.Sprintf("the last of the %d steps has none behind it, so the time to a next one is not known: ", n)
		if len(closed) >= 3 {
			counts = closed
			text += fmt.Sprintf("the median is of the other %d", len(closed))
		} else {
			text += "with so few it counts all the same, up to the end of its own work"
		}
		s.Notes = append(s.Notes, Warning{"last-step-open", text})
	}
	slices.SortStableFunc(counts, func(a, b int) int { return cmp.Compare(s.All[a].Wall(), s.All[b].Wall()) })
	s.MedianOf = len(counts)
	s.Median = counts[(len(counts)-1)/2]
}

// setAsidePhases keeps decode steps where there are any, else steps that do
// not say, else mixed ones, else prefill.
func setAsidePhases(s *Steps) {
	count := map[Phase]int{}
	for _, st := range s.All {
		count[st.Mark.Phase]++
	}
	keep := Unphased
	for _, p := range [...]Phase{Decode, Unphased, Mixed, Prefill, Idle} {
		if count[p] > 0 {
			keep = p
			break
		}
	}
	if keep != Decode && keep != Unphased {
		s.Notes = append(s.Notes, Warning{"no-decode-steps", fmt.Sprintf("no decode step is marked: the steps counted are %s", keep)})
	}
	for i := range s.All {
		if p := s.All[i].Mark.Phase; p != keep {
			s.All[i].Aside = string(p)
			if p == Unphased {
				s.All[i].Aside = "no phase in its mark"
			}
		}
	}
	for _, p := range [...]Phase{Prefill, Mixed} {
		if p != keep && count[p] > 0 {
			s.Notes = append(s.Notes, Warning{"steps-set-aside", plural(count[p], string(p)+" step", string(p)+" steps") + " set aside"})
		}
	}
}

// setAsideKinds keeps the steps of the most frequent batch size and graph,
// unless no size occurs often enough to have a median.
func setAsideKinds(s *Steps) {
	type kind struct {
		batch int
		graph uint64
	}
	count := map[kind]int{}
	total := 0
	var most kind
	for _, st := range s.All {
		if st.Aside == "" {
			count[kind{st.Mark.Batch, st.graph}]++
			total++
		}
	}
	for _, st := range s.All { // in time order, so that ties do not depend on the map
		k := kind{st.Mark.Batch, st.graph}
		if st.Aside == "" && count[k] > count[most] {
			most = k
		}
	}
	if len(count) < 2 {
		return
	}
	if count[most] < 3 && total >= 3 {
		s.Notes = append(s.Notes, Warning{"batch-varies", fmt.Sprintf("%d steps of %d kinds (batch size, graph): the median is over all of them", total, len(count))})
		return
	}
	for i := range s.All {
		st := &s.All[i]
		if st.Aside != "" {
			continue
		}
		if st.Mark.Batch != most.batch {
			st.Aside = "another batch"
		} else if st.graph != most.graph {
			st.Aside = "another graph"
		}
	}
	text := fmt.Sprintf("%d of %d steps set aside: another graph is replayed in them", total-count[most], total)
	if most.batch > 0 {
		text = fmt.Sprintf("%d of %d steps set aside: their batch is not %d", total-count[most], total, most.batch)
	}
	s.Notes = append(s.Notes, Warning{"steps-set-aside", text})
}

// setAsideOutliers drops steps further than three median absolute deviations
// and a tenth from the median wall time.
func setAsideOutliers(s *Steps) {
	// The last step ends where its own work does, so it is shorter than others:
	// chooseSteps leaves it out where that can be afforded.
	var walls []int64
	for _, st := range s.All {
		if st.Aside == "" && !st.Open {
			walls = append(walls, st.Wall())
		}
	}
	if len(walls) < minForOutliers {
		return
	}
	median := lowerMiddle(walls)
	away := make([]int64, len(walls))
	for i, w := range walls {
		away[i] = abs(w - median)
	}
	mad := lowerMiddle(away)
	warm, out, leading := 0, 0, true
	for i := range s.All {
		st := &s.All[i]
		if st.Aside != "" || st.Open {
			continue
		}
		d := abs(st.Wall() - median)
		switch {
		case d/3 <= mad || d <= median/10:
			leading = false
		case leading && st.Wall() > median:
			st.Aside = "warm-up"
			warm++
		default:
			st.Aside = "outlier"
			out++
		}
	}
	if warm > 0 {
		s.Notes = append(s.Notes, Warning{"steps-set-aside", plural(warm, "step", "steps") + " at the start set aside as warm-up"})
	}
	if out > 0 {
		s.Notes = append(s.Notes, Warning{"steps-set-aside", plural(out, "step", "steps") + " set aside: more than 3 median absolute deviations and 10 % from the median"})
	}
}

// lowerMiddle sorts v and returns its median, the lower of two.
func lowerMiddle(v []int64) int64 {
	slices.Sort(v)
	return v[(len(v)-1)/2]
}

func abs(v int64) int64 {
	if v < 0 {
		return -v
	}
	return v
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
