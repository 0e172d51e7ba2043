package classify

import (
	"strconv"
	"strings"

	"decodegap/roofline"
)

// maxDims bounds the shape text that is parsed.
const maxDims = 4096

// byShapes places products whose operand shapes belong to one matrix of the
// model only. It overrules order, which is weaker, but not a rule of the user.
func (s *sequence) byShapes() {
	if len(s.c.shapes) == 0 {
		return
	}
	for i := range s.items {
		it := &s.items[i]
		if it.final || it.k.Dims == "" || !it.gemmLike() || it.expert() {
			continue
		}
		n, k, ok := operands(it.k.Dims)
		if !ok {
			continue
		}
		if c, ok := s.c.match(n, k); ok {
			it.place(c, "operand shapes match one matrix of the model")
		}
	}
}

// match is the only component with an N×K matrix.
func (c *Classifier) match(n, k int) (roofline.Component, bool) {
	var found roofline.Component
	for _, s := range c.shapes {
		if s.N != n || s.K != k {
			continue
		}
		if found != "" && found != s.Component {
			return "", false
		}
		found = s.Component
	}
	return found, found != ""
}

// operands reads N and K of a product from input shapes as operators state
// them: the last two matrices, M×K and K×N.
func operands(dims string) (n, k int, ok bool) {
	lists := parseDims(dims)
	var two [][]int
	for _, l := range lists {
		if len(l) >= 2 {
			two = append(two, l)
		}
	}
	if len(two) < 2 {
		return 0, 0, false
	}
	a, b := two[0], two[1]
	k = a[len(a)-1]
	rows, cols := b[len(b)-2], b[len(b)-1]
	switch {
	case rows == k:
		return cols, k, true
	case cols == k: // aten::linear states the weight as N×K
		return rows, k, true
	}
	return 0, 0, false
}

// parseDims reads "[[1, 4096], [4096, 6144], []]", dropping what is no list
// of positive numbers.
func parseDims(s string) [][]int {
	if len(s) > maxDims {
		s = s[:maxDims]
	}
	var out [][]int
	for len(s) > 0 {
		end := strings.IndexByte(s, ']')
		if end < 0 {
			return out
		}
		if open := strings.LastIndexByte(s[:end], '['); open >= 0 {
			out = append(out, numbers(s[open+1:end]))
		}
		s = s[end+1:]
	}
	return out
}

func numbers(s string) []int {
	var out []int
	for _, f := range strings.Split(s, ",") {
		v, err := strconv.Atoi(strings.TrimSpace(f))
		if err != nil || v < 1 {
			return nil
		}
		out = append(out, v)
	}
	return out
}
