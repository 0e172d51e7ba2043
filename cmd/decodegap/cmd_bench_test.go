package main

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"decodegap/cmd/internal/exitcode"
	"decodegap/cmd/internal/term"
	"decodegap/reports"
	"decodegap/reports/schema/schematest"
)

// golden compares got with testdata/NAME.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v: run go test -update to write it", err)
	}
	if got != string(want) {
		t.Errorf("%s differs; got\n%s", path, got)
	}
}

const benchData = "../../testdata/bench/"

func benchFixtures(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, pattern := range []string{"*.jsonl", "*.partial", "*.txt", "*.md", "*.json"} {
		files, err := filepath.Glob(benchData + "*/" + pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if !strings.HasSuffix(f, ".golden.json") {
				out = append(out, f)
			}
		}
	}
	if len(out) < 15 {
		t.Fatalf("only %d fixtures", len(out))
	}
	return out
}

func TestBenchText(t *testing.T) {
	stdout, stderr, code := command(t, "", "bench", benchData+"founding/flashinfer_cutedsl.jsonl", benchData+"sglang/text_mid2025.txt", benchData+"vllm/serve.json")
	if code != exitcode.OK || stderr != "" {
		t.Errorf("code %d, stderr %q", code, stderr)
	}
	golden(t, "bench.txt", stdout)
	for _, f := range benchFixtures(t) {
		stdout, _, code := command(t, "", "bench", f)
		if code != exitcode.OK {
			t.Errorf("%s: code %d", f, code)
		}
		for _, line := range strings.Split(stdout, "\n")[1:] { // the first is the path
			if term.Width(line) > 80 {
				t.Errorf("%s: %d columns: %s", f, term.Width(line), line)
			}
		}
	}
}

func TestBenchJSON(t *testing.T) {
	for _, f := range benchFixtures(t) {
		stdout, stderr, code := command(t, "", "bench", "--json", f)
		if code != exitcode.OK || stderr != "" {
			t.Errorf("%s: code %d, stderr %q", f, code, stderr)
		}
		schematest.Validate(t, "bench", []byte(stdout))
	}
	stdout, _, _ := command(t, "", "bench", "--json", benchData+"founding/flashinfer_cutedsl.jsonl")
	var doc reports.BenchDocument
	if err := json.Unmarshal([]byte(stdout), &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Results) != 6 || *doc.Results[1].TPOT.Mean != 128.95 || *doc.Results[1].OutputTokPerS != 64.29 || doc.Fit != nil {
		t.Errorf("%+v", doc)
	}
}

func TestBenchFit(t *testing.T) {
	line := func(concurrency int, tpot string) string {
		return `{"backend": "sglang", "dataset_name": "d", "max_concurrency": ` + itoa(concurrency) + `, "mean_tpot_ms": ` + tpot + "}\n"
	}
	in := line(1, "12.5") + line(4, "14") + line(16, "20") + line(64, "44")
	stdout, _, code := command(t, in, "bench", "--json", "-")
	if code != exitcode.OK {
		t.Fatal(code)
	}
	schematest.Validate(t, "bench", []byte(stdout))
	var doc struct {
		Fit map[string]float64
	}
	if err := json.Unmarshal([]byte(stdout), &doc); err != nil {
		t.Fatal(err)
	}
	if _, known := doc.Fit["per_kilotoken_ms"]; known || doc.Fit["points"] != 4 || doc.Fit["fixed_ms"] < 11.99 || doc.Fit["fixed_ms"] > 12.01 {
		t.Errorf("%v", doc.Fit)
	}
	stdout, _, _ = command(t, in, "bench", "-")
	if !strings.Contains(stdout, "fit over 4 points: step = 12.00 ms fixed + 0.500 ms a sequence, residual") {
		t.Errorf("%s", stdout)
	}
}

func itoa(n int) string { b, _ := json.Marshal(n); return string(b) }

func TestBenchErrors(t *testing.T) {
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"no file":      {nil, "requires at least 1 arg"},
		"missing":      {[]string{"nowhere.json"}, "nowhere.json"},
		"directory":    {[]string{benchData}, "is a directory"},
		"not a result": {[]string{"cmd_bench.go"}, "sglang-jsonl"},
		"stdin twice":  {[]string{"-", "-"}, "standard input"},
	} {
		stdout, stderr, code := command(t, `{"model_id": "m", "mean_tpot_ms": 1}`, append([]string{"bench"}, tc.args...)...)
		if code != exitcode.Usage || stdout != "" || !strings.Contains(stderr, tc.want) {
			t.Errorf("%s: code %d, stdout %q, stderr %q", name, code, stdout, stderr)
		}
	}
}

// TestHostileText has escape sequences in a name and in a file.
func TestHostileText(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a\x1b]0;title\a.json")
	text := `{"model_id": "m\u001b[31mred\u202e", "num_prompts": 1, "max_concurrency": 1, "output_throughput": 5, "mean_tpot_ms": 150}`
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Skipf("this file system refuses the name: %v", err)
	}
	for _, args := range [][]string{{"bench", path}, {"compare", path, benchData + "vllm/serve.json"}} {
		stdout, _, _ := command(t, "", args...)
		if strings.ContainsAny(stdout, "\x1b\a\u202e") {
			t.Errorf("%s: %q", args[0], stdout)
		}
	}
}

// TestInterrupted leaves a read of standard input that never ends.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	in, writer := io.Pipe()
	defer writer.Close()
	env := &environment{stdin: in, stdout: io.Discard, stderr: io.Discard}
	for _, args := range [][]string{{"bench", "-"}, {"compare", "-", cutlass}} {
		root := newRootCommand(env)
		root.SetArgs(args)
		if err := root.ExecuteContext(ctx); exitcode.Of(err) != exitcode.Interrupted {
			t.Errorf("%s: %v", args[0], err)
		}
	}
}
