package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
)

// evaluate computes a line of arithmetic as docs/theory writes it: numbers,
// + - * / ** and parentheses, with Python's precedence.
func evaluate(text string) (float64, error) {
	p := &arithmetic{text: text}
	v := p.sum()
	p.space()
	if p.err == nil && p.at < len(text) {
		p.fail("a sign")
	}
	if p.err == nil && (math.IsNaN(v) || math.IsInf(v, 0)) {
		p.err = fmt.Errorf("%q has no finite value", text)
	}
	return v, p.err
}

type arithmetic struct {
	text string
	at   int
	err  error
}

func (p *arithmetic) fail(expected string) {
	if p.err == nil {
		p.err = fmt.Errorf("%q, column %d: expected %s", p.text, p.at+1, expected)
	}
}

func (p *arithmetic) space() {
	for p.at < len(p.text) && p.text[p.at] == ' ' {
		p.at++
	}
}

// take passes over an operator if it comes next. A single * is not the first
// half of **.
func (p *arithmetic) take(op string) bool {
	p.space()
	rest, ok := strings.CutPrefix(p.text[p.at:], op)
	if !ok || p.err != nil || op == "*" && strings.HasPrefix(rest, "*") {
		return false
	}
	p.at += len(op)
	return true
}

func (p *arithmetic) sum() float64 {
	v := p.product()
	for {
		switch {
		case p.take("+"):
			v += p.product()
		case p.take("-"):
			v -= p.product()
		default:
			return v
		}
	}
}

func (p *arithmetic) product() float64 {
	v := p.signed()
	for {
		switch {
		case p.take("*"):
			v *= p.signed()
		case p.take("/"):
			v /= p.signed()
		default:
			return v
		}
	}
}

func (p *arithmetic) signed() float64 {
	if p.take("-") {
		return -p.signed()
	}
	v := p.number()
	if p.take("**") {
		v = math.Pow(v, p.signed())
	}
	return v
}

func (p *arithmetic) number() float64 {
	if p.take("(") {
		v := p.sum()
		if !p.take(")") {
			p.fail("a closing parenthesis")
		}
		return v
	}
	from := p.at
	for p.at < len(p.text) && (strings.ContainsRune("0123456789.", rune(p.text[p.at])) ||
		p.at > from && p.text[p.at] == 'e') {
		p.at++
	}
	v, err := strconv.ParseFloat(p.text[from:p.at], 64)
	if err != nil {
		p.at = from
		p.fail("a number")
	}
	return v
}

func TestEvaluate(t *testing.T) {
	for text, want := range map[string]float64{
		"1 + 2*3":                 7,
		"(1 + 2) * 3":             9,
		"2 * 3**2":                18,
		"2**3**2":                 512,
		"-2**2":                   -4,
		"2**-1":                   0.5,
		"10 - 4 - 3":              3,
		"64 / 4 / 2":              8,
		"3350e6 / 1e3":            3.35e6,
		"8*(1 - (1 - 2/8)**3)":    4.625,
		"  4096 * (8/4) * 0.5625": 4608,
	} {
		if got, err := evaluate(text); err != nil || math.Abs(got-want) > 1e-12*math.Abs(want) {
			t.Errorf("%q: got %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "1 +", "(1", "1)", "1 2", "2 ** ", "*3", "1/0", "x", "1,000", "1 = 1"} {
		if got, err := evaluate(text); err == nil {
			t.Errorf("%q: got %v, want an error", text, got)
		}
	}
}
