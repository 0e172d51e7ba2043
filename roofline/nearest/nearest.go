// Package nearest suggests the known names closest to a mistyped one, for
// error messages. It never corrects silently.
package nearest

import (
	"slices"
	"strings"
)

// Names returns up to three of known that are close to name, nearest first.
func Names(name string, known []string) []string {
	type scored struct {
		name string
		cost int
	}
	want := fold(name)
	if len(want) > maxName {
		want = want[:maxName]
	}
	var close []scored
	for _, k := range known {
		folded := fold(k)
		cost := distance(want, folded)
		if strings.Contains(folded, want) && want != "" {
			cost = min(cost, 2)
		}
		if cost <= max(2, len(want)/3) {
			close = append(close, scored{k, cost})
		}
	}
	slices.SortStableFunc(close, func(a, b scored) int { return a.cost - b.cost })
	var out []string
	for _, c := range close[:min(3, len(close))] {
		out = append(out, c.name)
	}
	return out
}

// Hint is the tail of an error message: the nearest names if there are any,
// else all of a short list.
func Hint(name string, known []string) string {
	if near := Names(name, known); len(near) > 0 {
		return "did you mean " + strings.Join(near, " or ") + "?"
	}
	if len(known) <= 12 {
		return "known: " + strings.Join(known, ", ")
	}
	return ""
}

// maxName bounds the work on a hostile name.
const maxName = 200

func fold(s string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case ' ', '-', '_', '.':
			return -1
		}
		return r
	}, strings.ToLower(s))
}

// distance is the edit distance of a and b by bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diag := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diag
			if a[i] != b[j] {
				cost = 1 + min(diag, row[j], row[j+1])
			}
			diag, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
