package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"decodegap/cmd/internal/exitcode"
	"decodegap/reports"
	"decodegap/reports/schema"
	"decodegap/reports/schema/schematest"
)

// command runs one command line in a folder of its own files and returns its
// output and exit code.
func command(t *testing.T, stdin string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, talk bytes.Buffer
	env := &environment{stdin: strings.NewReader(stdin), stdout: &out, stderr: &talk}
	root := newRootCommand(env)
	root.SetArgs(args)
	err := root.Execute()
	if text := errorText(err); text != "" {
		talk.WriteString("decodegap: " + text + "\n")
	}
	return out.String(), talk.String(), exitcode.Of(err)
}

// gateFiles writes a run record and policies, and enters their folder.
func gateFiles(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	other := schematest.Run()
	other.Hardware.Name = "Another GPU"
	edited := schematest.Run()
	edited.Points[0].Efficiency[4].Ratio = 0.9
	for name, doc := range map[string]any{
		"run.json": schematest.Run(), "other.json": other, "edited.json": edited,
		"bare.json": schematest.MinimalRun(), "floor.json": schematest.Floor(),
	} {
		data, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		writeTest(t, name, string(data))
	}
	const floor = "floor: {kind: latency, basis: probed}\npoints: [{batch: 1}]\n"
	writeTest(t, "pass.yaml", floor+"min_efficiency: 7%\n")
	writeTest(t, "fail.yaml", floor+"min_efficiency: 50%\n")
	writeTest(t, "open.yaml", floor+"min_efficiency: 7%\nregression: {relative: 5%}\n")
	writeTest(t, "typo.yaml", floor+"min_eficiency: 7%\n")
}

func writeTest(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestGateExitCodes(t *testing.T) {
	gateFiles(t)
	for _, c := range []struct {
		args string
		code int
		want string // in stdout, or in stderr for an input error
	}{
		{"gate run.json --policy pass.yaml", 0, "gate: pass, all"},
		{"gate run.json --policy fail.yaml", 1, "gate: FAIL, 1 of"},
		{"gate run.json --policy open.yaml", 3, "gate: NOT COMPARABLE"},
		{"gate run.json --policy open.yaml --baseline run.json", 0, "regression"},
		{"gate run.json --policy open.yaml --baseline other.json", 3, "hardware Example GPU 96 GB, baseline Another GPU"},
		{"gate bare.json --policy pass.yaml", 3, "the run has no operating point"},
		{"gate run.json --policy pass.yaml --format md", 0, "| ✓ | efficiency |"},
		{"gate run.json --policy fail.yaml --format junit", 1, "<failure"},
		{"gate run.json --policy fail.yaml --json --quiet", 1, `"verdict": "fail"`},
		{"gate run.json --policy fail.yaml --json --format json", 1, `"verdict": "fail"`},

		{"gate run.json", 2, "decodegap gate init run.json -o policy.yaml"},
		{"gate run.json --policy typo.yaml", 2, "typo.yaml:3:1: unknown key \"min_eficiency\" in the policy; did you mean min_efficiency?\n    3 | min_eficiency: 7%\n      | ^"},
		{"gate run.json --policy none.yaml", 2, "cannot read the policy"},
		{"gate none.json --policy pass.yaml", 2, "cannot read the run record"},
		{"gate edited.json --policy pass.yaml", 2, "edited.json: points[0].efficiency[4].ratio: 0.9, but"},
		{"gate run.json --policy pass.yaml --baseline edited.json", 2, "edited.json: points[0]"},
		{"gate floor.json --policy pass.yaml", 2, `schema "decodegap/floor/1": expected "decodegap/run/1"`},
		{"gate", 2, "expected one RUN record"},
		{"gate run.json other.json --policy pass.yaml", 2, "expected one RUN record"},
		{"gate run.json --policy pass.yaml --format xml", 2, `no format "xml"`},
		{"gate run.json --policy pass.yaml --json --format md", 2, "exclude each other"},
		{"gate run.json --policy pass.yaml --junit none/gate.xml", 2, "cannot write none/gate.xml"},

		{"gate init bare.json", 3, "nothing to gate"},
		{"gate init edited.json", 2, "ratio"},
		{"gate init", 2, "expected one RUN record"},
	} {
		t.Run(c.args, func(t *testing.T) {
			stdout, stderr, code := command(t, "", strings.Fields(c.args)...)
			said := stdout
			if code == exitcode.Usage || stdout == "" {
				said = stderr
			}
			if code != c.code || !strings.Contains(said, c.want) {
				t.Errorf("exit %d, want %d with %q\nstdout: %s\nstderr: %s", code, c.code, c.want, stdout, stderr)
			}
			if code == exitcode.Usage && stdout != "" {
				t.Errorf("an input error still wrote to stdout: %s", stdout)
			}
		})
	}
}

func TestGateOutputs(t *testing.T) {
	gateFiles(t)
	stdout, stderr, code := command(t, "", "gate", "run.json", "--policy", "fail.yaml", "--json", "--junit", "gate.xml")
	if code != exitcode.GateFailed {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	schematest.Validate(t, "gate", []byte(stdout))
	var doc reports.GateDocument
	if err := json.Unmarshal([]byte(stdout), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Efficiency == nil || doc.Interval == nil || *doc.Efficiency <= doc.Interval[0] || *doc.Efficiency >= doc.Interval[1] {
		t.Errorf("efficiency %v in %v", doc.Efficiency, doc.Interval)
	}
	xml, err := os.ReadFile("gate.xml")
	if err != nil || !strings.Contains(string(xml), `failures="1"`) {
		t.Errorf("JUnit file: %v\n%s", err, xml)
	}
	stdout, stderr, code = command(t, "", "gate", "run.json", "--policy", "pass.yaml", "-o", "gate.txt")
	text, err := os.ReadFile("gate.txt")
	if code != 0 || stdout != "" || err != nil || !strings.Contains(string(text), "gate: pass") || !strings.Contains(stderr, "gate: pass") {
		t.Errorf("exit %d, stdout %q, stderr %q, file %q, %v", code, stdout, stderr, text, err)
	}
}

// TestGateInit holds the starter policy, as YAML and as JSON, to pass the run
// it was written from, also when the run comes on standard input.
func TestGateInit(t *testing.T) {
	gateFiles(t)
	run, err := os.ReadFile("run.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, form := range [][]string{{"gate", "init", "run.json"}, {"gate", "init", "-"}, {"gate", "init", "run.json", "--json"}} {
		policy, stderr, code := command(t, string(run), form...)
		if code != 0 {
			t.Fatalf("%v: exit %d: %s", form, code, stderr)
		}
		if form[len(form)-1] == "--json" {
			schematest.Validate(t, "policy", []byte(policy))
		} else if !strings.Contains(policy, "# ") {
			t.Errorf("%v: a starter without comments:\n%s", form, policy)
		}
		path := filepath.Join(t.TempDir(), "policy.yaml")
		writeTest(t, path, policy)
		if stdout, stderr, code := command(t, string(run), "gate", "-", "--policy", path); code != 0 {
			t.Errorf("%v: the run under its own starter: exit %d\n%s%s", form, code, stdout, stderr)
		}
	}
}

func TestSchemaCommand(t *testing.T) {
	for _, k := range schema.All {
		stdout, stderr, code := command(t, "", "schema", k.Name)
		if code != 0 || stderr != "" || !json.Valid([]byte(stdout)) || !strings.Contains(stdout, "draft/2020-12") {
			t.Errorf("schema %s: exit %d, %s\n%.200s", k.Name, code, stderr, stdout)
		}
	}
	for _, args := range [][]string{{"schema", "nothing-like-it"}, {"schema"}, {"schema", "run", "floor"}} {
		stdout, stderr, code := command(t, "", args...)
		if code != exitcode.Usage || stdout != "" {
			t.Errorf("%v: exit %d, %s", args, code, stdout)
		}
		for _, name := range schema.Names() {
			if !strings.Contains(stderr, name) {
				t.Errorf("%v: the message does not list %s: %s", args, name, stderr)
			}
		}
	}
	if _, stderr, _ := command(t, "", "schema", "flor"); !strings.Contains(stderr, "did you mean floor?") {
		t.Errorf("no suggestion for flor: %s", stderr)
	}
}
