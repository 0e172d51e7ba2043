package main

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestTheory recomputes the worked examples of docs/theory and sets those that
// the program computes too beside what the program says.
func TestTheory(t *testing.T) {
	t.Chdir("../..")
	for _, page := range theoryPages(t) {
		t.Run(filepath.Base(page), func(t *testing.T) {
			claims := claimsOf(t, page)
			if len(claims) == 0 {
				t.Errorf("%s has no ```text worked``` block", page)
			}
			var program, before []claim
			for _, c := range claims {
				if err := c.check(); err != nil {
					t.Errorf("%s:%d: %v", page, c.line, err)
				}
				if c.command == nil {
					before = append(before, c)
					continue
				}
				program = append(program, c)
				if !slices.ContainsFunc(before, func(b claim) bool { return b.block == c.block && b.value == c.value && b.unit == c.unit }) {
					t.Errorf("%s:%d: no line above comes to %s", page, c.line, c.stated)
				}
			}
			for _, c := range claims {
				if !slices.ContainsFunc(program, func(p claim) bool { return p.block == c.block }) {
					t.Errorf("%s:%d: the block compares nothing with the program", page, c.line)
				}
			}
		})
	}
}

// TestTheoryNoticesAThousandth changes each stated value by 0.1 %, the whole
// numbers below 2000 by one, and expects TestTheory's comparison to fail.
func TestTheoryNoticesAThousandth(t *testing.T) {
	t.Chdir("../..")
	for _, page := range theoryPages(t) {
		for _, c := range claimsOf(t, page) {
			for _, sign := range []float64{1, -1} {
				off := c
				off.value += sign * max(math.Abs(c.value)/1000, c.step)
				if off.check() == nil {
					t.Errorf("%s:%d: %v passes in place of %s", page, c.line, off.value, c.stated)
				}
			}
		}
	}
}

// TestTheoryListed: the folder's README links every page, and no other.
func TestTheoryListed(t *testing.T) {
	t.Chdir("../..")
	index, err := os.ReadFile("docs/theory/README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range theoryPages(t) {
		name := filepath.Base(page)
		if name != "README.md" && !strings.Contains(string(index), "]("+name+")") {
			t.Errorf("docs/theory/README.md does not link %s", name)
		}
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, link := range strings.Split(string(text), "](")[1:] {
			target, _, _ := strings.Cut(link, ")")
			if target, _, _ = strings.Cut(target, "#"); target == "" || strings.Contains(target, "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join("docs/theory", target)); err != nil {
				t.Errorf("%s links %s, which is not there", page, target)
			}
		}
	}
}

func theoryPages(t *testing.T) []string {
	t.Helper()
	pages, err := filepath.Glob("docs/theory/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("docs/theory has no page: %v", err)
	}
	return pages
}

// claim is one line of a worked example: arithmetic or a command, and the
// value and unit it is said to come to.
type claim struct {
	block, line int // numbers in the page
	arithmetic  string
	command     []string // of decodegap, nil for arithmetic
	field       string   // of the document it prints

	stated string
	value  float64
	step   float64 // one in the last place stated
	unit   string
}

// claimsOf reads the worked blocks of a page.
func claimsOf(t *testing.T, page string) []claim {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var claims []claim
	inside, block, number := false, 0, 0
	var command []string // of the fields that follow
	for line := range strings.Lines(string(text)) {
		number++
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.HasPrefix(line, "```"):
			inside, command = !inside && strings.TrimSpace(line) == "```text worked", nil
			block++
		case inside && strings.HasPrefix(line, "-> decodegap "):
			if command = splitWords(line)[2:]; len(command) < 3 || command[len(command)-1] != "--json" {
				t.Fatalf("%s:%d: expected “-> decodegap COMMAND … --json”", page, number)
			}
		case inside && strings.TrimSpace(line) != "":
			c, err := parseClaim(line, command)
			if err != nil {
				t.Fatalf("%s:%d: %v", page, number, err)
			}
			c.block, c.line = block, number
			claims = append(claims, c)
		}
	}
	return claims
}

// parseClaim reads “name: arithmetic = value unit”, or below a command the
// indented “FIELD = value unit”.
func parseClaim(line string, command []string) (claim, error) {
	at := strings.LastIndex(line, " = ")
	if at < 0 {
		return claim{}, fmt.Errorf("%q: expected “name: arithmetic = value unit”", line)
	}
	left, right := line[:at], line[at+3:]
	var c claim
	var err error
	var ok bool
	if c.stated, c.unit, ok = strings.Cut(right, " "); !ok || !slices.Contains(claimUnits, c.unit) {
		return c, fmt.Errorf("%q: expected a value and one of the units %s", right, strings.Join(claimUnits, ", "))
	}
	if c.value, err = strconv.ParseFloat(strings.ReplaceAll(c.stated, ",", ""), 64); err != nil || c.stated != grouped(c.stated) {
		return c, fmt.Errorf("%q: expected a number, its thousands apart", c.stated)
	}
	_, fraction, _ := strings.Cut(c.stated, ".")
	c.step = math.Pow10(-len(fraction))
	if field, ok := strings.CutPrefix(left, "   "); ok && command != nil {
		c.command, c.field = command, field
		return c, nil
	}
	if _, c.arithmetic, ok = strings.Cut(left, ": "); !ok {
		return c, fmt.Errorf("%q: expected “name: arithmetic = value unit”", line)
	}
	return c, nil
}

// claimUnits are the units a worked line may end with; a count names what it
// counts.
var claimUnits = []string{"B", "B/weight", "B/token", "weights", "values", "FLOP", "FLOP/B", "ns", "µs", "ms", "GB/s", "tok/s",
	"tokens", "sequences", "layers", "ranks", "experts", "kernels", "messages", "ratio"}

// fieldUnits tells the unit of a document's field by the end of its name.
var fieldUnits = []struct{ end, unit string }{
	{"bytes", "B"}, {"bytes_per_gpu", "B"}, {"bytes_ideal_per_gpu", "B"}, {"bytes_layout_per_gpu", "B"}, {"bytes_each", "B"},
	{"flops", "FLOP"}, {"flops_per_gpu", "FLOP"}, {"ms", "ms"}, {"ms_per_token", "ms"},
	{"experts", "experts"}, {"busiest_rank", "experts"}, {"allreduce_count", "messages"}, {"launches", "kernels"}, {"repeat", "layers"},
	{"params_total", "weights"}, {"params_active_read", "weights"}, {"ratio", "ratio"}, {"tok_s", "tok/s"}, {"tpot_ms.mean", "ms"},
	{"tokens_per_chunk", "tokens"}, {"batch", "sequences"},
}

// grouped writes a number's thousands apart.
func grouped(s string) string {
	digits := strings.ReplaceAll(s, ",", "")
	sign := ""
	if rest, ok := strings.CutPrefix(digits, "-"); ok {
		sign, digits = "-", rest
	}
	whole, fraction, dot := strings.Cut(digits, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if dot {
		whole += "." + fraction
	}
	return sign + whole
}

// check recomputes a claim.
func (c claim) check() error {
	if c.command == nil {
		got, err := evaluate(c.arithmetic)
		if err != nil {
			return err
		}
		return c.compare(got)
	}
	if !slices.ContainsFunc(fieldUnits, func(f struct{ end, unit string }) bool {
		return strings.HasSuffix(c.field, f.end) && f.unit == c.unit
	}) {
		return fmt.Errorf("field %s is not known to be in %s", c.field, c.unit)
	}
	doc, err := document(c.command)
	if err != nil {
		return err
	}
	got, err := lookup(doc, c.field)
	if err != nil {
		return err
	}
	return c.compare(got)
}

// compare allows half of one in the last place stated. A value with too few
// digits for that to be far below 0.1 % must be exact.
func (c claim) compare(got float64) error {
	off := c.step / 2
	if c.step > math.Abs(c.value)/2000 {
		off = 0
	}
	if math.Abs(got-c.value) <= off+1e-9*math.Abs(c.value) {
		return nil
	}
	return fmt.Errorf("%s is stated, it is %.*f", c.stated, max(6, int(-math.Log10(c.step))+3), got)
}
