package traces

import "slices"

// setAsideCut sets aside the steps at the end of a file that was cut which lack
// work: the last, whose end nothing marks, when any operation is missing that
// others have, and those before it that lack a tenth. One step is always kept;
// that it may lack work is said.
func setAsideCut(s *Steps) {
	var counts []int
	for i, st := range s.All {
		if st.Aside == "" {
			counts = append(counts, i)
		}
	}
	if len(counts) < 2 {
		if s.All[counts[0]].Open {
			s.Notes = append(s.Notes, Warning{"step-cut-off", "the file ends early, inside or behind its only step: work of it may be missing"})
		}
		return
	}
	// In two steps the larger is the better evidence of what one holds.
	ops := make([]int, len(counts))
	for k, i := range counts {
		ops[k] = s.All[i].Ops
	}
	slices.Sort(ops)
	usual := ops[len(ops)/2]
	cut := 0
	for k := len(counts) - 1; k > 0; k-- {
		st := &s.All[counts[k]]
		if !(st.Open && st.Ops < usual || st.Ops < usual-usual/10) {
			break
		}
		st.Aside = "cut off"
		cut++
	}
	if cut > 0 {
		s.Notes = append(s.Notes, Warning{"step-cut-off", plural(cut, "step", "steps") + " at the end set aside: the file ends early, and they lack operations that the others have"})
	}
}
