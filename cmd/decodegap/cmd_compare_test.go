package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"decodegap/cmd/internal/exitcode"
	"decodegap/reports"
	"decodegap/reports/schema/schematest"
)

const (
	cutlass = benchData + "founding/flashinfer_cutlass.jsonl"
	cutedsl = benchData + "founding/flashinfer_cutedsl.jsonl"
)

func TestCompareFounding(t *testing.T) {
	stdout, stderr, code := command(t, "", "compare", cutlass, cutedsl)
	if code != exitcode.NotComparable || stderr != "" {
		t.Errorf("code %d, stderr %q", code, stderr)
	}
	golden(t, "compare_founding.txt", stdout)

	stdout, _, code = command(t, "", "compare", "--json", cutlass, cutedsl)
	if code != exitcode.NotComparable {
		t.Errorf("code %d", code)
	}
	schematest.Validate(t, "compare", []byte(stdout))
	var doc reports.CompareDocument
	if err := json.Unmarshal([]byte(stdout), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Comparison.Comparable || len(doc.Comparison.Rows) != 5 || len(doc.Comparison.Crossovers) != 2 || doc.Series[1].Name != "flashinfer_cutedsl" {
		t.Errorf("%+v", doc)
	}
}

func TestCompareFacts(t *testing.T) {
	known := []string{}
	for _, s := range []string{"old", "new"} {
		for _, f := range []string{"gpu.driver=590.44", "engine.version=0.5.9", "host.kernel=6.8.0"} {
			known = append(known, "--fact", s+":"+f)
		}
	}
	args := append([]string{"compare", cutlass, cutedsl, "--name", "old", "--name", "new",
		"--fact", "old:flag.moe-runner-backend=flashinfer_cutlass", "--fact", "new:flag.moe-runner-backend=flashinfer_cutedsl"}, known...)
	stdout, _, code := command(t, "", args...)
	if code != exitcode.NotComparable || !strings.Contains(stdout, "flag.moe-runner-backend differs: flashinfer_cutlass in old,") {
		t.Errorf("code %d\n%s", code, stdout)
	}
	stdout, _, code = command(t, "", append(args, "--vary", "flag.moe-runner-backend")...)
	if code != exitcode.OK || !strings.Contains(stdout, "comparable: ") {
		t.Errorf("code %d\n%s", code, stdout)
	}
	stdout, _, code = command(t, "", append(args, "--vary", "flag.*", "--fact", "new:host.kernel=6.14.11")...)
	if code != exitcode.NotComparable || !strings.Contains(stdout, "host.kernel differs: 6.8.0 in old, 6.14.11 in new") {
		t.Errorf("code %d\n%s", code, stdout)
	}
}

func TestCompareRuns(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, run *reports.Run) string {
		data, err := json.Marshal(run)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	a := write("before.json", schematest.Run())
	b := write("after.json", schematest.Run())
	stdout, stderr, code := command(t, "", "compare", a, b)
	if code != exitcode.OK || !strings.Contains(stdout, "same") || !strings.Contains(stdout, "of floor") {
		t.Errorf("code %d, stderr %q\n%s", code, stderr, stdout)
	}
	changed := schematest.Run()
	changed.Fingerprint.Facts["host.kernel"] = "6.8.0"
	c := write("other.json", changed)
	stdout, _, code = command(t, "", "compare", "--json", a, c)
	schematest.Validate(t, "compare", []byte(stdout))
	if code != exitcode.NotComparable || !strings.Contains(stdout, "host.kernel differs") {
		t.Errorf("code %d\n%s", code, stdout)
	}
	if _, _, code = command(t, "", "compare", a, c, "--vary", "host.kernel"); code != exitcode.OK {
		t.Errorf("a kernel that is meant to differ: code %d", code)
	}
	if _, stderr, code = command(t, "", "compare", a, cutlass); code != exitcode.Usage || !strings.Contains(stderr, "run records compare with run records") {
		t.Errorf("mixed: code %d, %q", code, stderr)
	}
}

func TestCompareErrors(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"one file":       {[]string{cutlass}, "requires at least 2 arg"},
		"same file":      {[]string{cutlass, cutlass}, "given twice"},
		"names":          {[]string{cutlass, cutedsl, "--name", "x"}, "1 names for 2 files"},
		"same names":     {[]string{cutlass, cutedsl, "--name", "x", "--name", "x"}, "given twice"},
		"fact":           {[]string{cutlass, cutedsl, "--fact", "nobody:a=b"}, "flashinfer_cutlass and flashinfer_cutedsl"},
		"threshold":      {[]string{cutlass, cutedsl, "--threshold", "0"}, "percentage"},
		"missing":        {[]string{cutlass, "nowhere"}, "nowhere"},
		"directory":      {[]string{cutlass, "."}, "directory"},
		"not a result":   {[]string{cutlass, "cmd_compare.go"}, "run record"},
		"standard input": {[]string{cutlass, "-"}, "standard input"},
	} {
		stdout, stderr, code := command(t, "nothing", append([]string{"compare"}, tc.args...)...)
		if code != exitcode.Usage || stdout != "" || !strings.Contains(stderr, tc.want) {
			t.Errorf("%s: code %d, stdout %q, stderr %q", name, code, stdout, stderr)
		}
	}
	// Files of one name in two folders go by their paths.
	names, err := seriesNames([]string{"a/bench.json", "b/bench.json"}, nil)
	if err != nil || names[0] != "a/bench.json" || names[1] != "b/bench.json" {
		t.Errorf("%v %v", names, err)
	}
}

func TestCompareThreshold(t *testing.T) {
	stdout, _, _ := command(t, "", "compare", "--threshold", "3", cutlass, cutedsl)
	if !strings.Contains(stdout, "-2.8 %  same") {
		t.Errorf("%s", stdout)
	}
}
