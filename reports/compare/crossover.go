package compare

import (
	"fmt"
	"math"

	"decodegap/reports"
)

// crossovers finds where a later series and the first change places: between
// two points whose verdicts are opposite, the points between them being the
// same or ambiguous. The place is interpolated between the two adjacent points
// whose values change order, linear in log concurrency and log ratio.
func crossovers(names []string, points []point, threshold float64) []reports.Crossover {
	var out []reports.Crossover
	for b := 1; b < len(names); b++ {
		last := -1 // the latest point with a winner
		for i, p := range points {
			v := verdict(p.sides[0], p.sides[b], threshold)
			if last >= 0 && points[last].group != p.group {
				last = -1
			}
			if v != Faster && v != Slower {
				continue
			}
			if last >= 0 && verdict(points[last].sides[0], points[last].sides[b], threshold) != v {
				if x, ok := crossing(names, points[last:i+1], b, v); ok {
					out = append(out, x)
				}
			}
			last = i
		}
	}
	return out
}

// crossing describes the change within points, after which series b is now
// Faster or Slower.
func crossing(names []string, points []point, b int, now string) (reports.Crossover, bool) {
	first, last := points[0], points[len(points)-1]
	x := reports.Crossover{A: names[0], B: names[b], Between: [2]float64{first.concurrency, last.concurrency}}
	if first.concurrency <= 0 {
		return x, false
	}
	var at, level float64 // log concurrency and log ratio of the point before
	for i, p := range points {
		d := change(p.sides[0], p.sides[b])
		if d == nil {
			continue
		}
		c, r := math.Log(p.concurrency), math.Log1p(d.mid)
		if i > 0 && (r > 0) == (now == Faster) && r != 0 {
			x.At = math.Exp(at + (c-at)*level/(level-r))
			break
		}
		at, level = c, r
	}
	if x.At == 0 {
		return x, false
	}
	verb := "overtakes"
	if now == Slower {
		verb = "falls behind"
	}
	x.Text = fmt.Sprintf("%s %s %s between concurrency %g and %g, at about %s", names[b], verb, names[0], x.Between[0], x.Between[1], about(x.At))
	return x, true
}

// about prints an interpolated concurrency with no more digits than it has.
func about(x float64) string {
	if x < 10 {
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.2g", x)
}
