package main

import (
	"strings"
	"testing"
)

func TestTimed(t *testing.T) {
	times, err := timed([]string{"true"}, 3)
	if err != nil {
		t.Fatal(err)
	}
	if len(times) != 3 || times[0] <= 0 || times[0] > times[2] {
		t.Errorf("times %v, want three, sorted, above 0", times)
	}
	if _, err := timed([]string{"false"}, 1); err == nil || !strings.Contains(err.Error(), "false") {
		t.Errorf("a failing command gave %v", err)
	}
}

func TestCases(t *testing.T) {
	names := map[string]bool{}
	for _, c := range cases("decodegap", "dir") {
		if names[c.name] || len(c.command) == 0 {
			t.Errorf("case %q stands twice or has no command", c.name)
		}
		names[c.name] = true
	}
}
