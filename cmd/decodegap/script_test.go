package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"decodegap/reports/schema/schematest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"decodegap": main, "scripted": scripted})
}

// TestScripts runs testdata/script/*.txtar: each is a session at the shell, in
// an empty folder, with no environment but what is set here. $TESTDATA is the
// repository's testdata. With -update, what cmp compares output with is
// rewritten. Beside testscript's own commands there are
//
//	exits CODE PROGRAM ARGS…   the program must end with that code
//	validate KIND FILE         FILE (or stdout) is a document of that kind
func TestScripts(t *testing.T) {
	runScripts(t, "script", nil)
}

// TestCorpusScripts runs testdata/script/corpus/*.txtar, on captured traces too
// large for the repository: $CORPUS is the folder that has them.
func TestCorpusScripts(t *testing.T) {
	corpus := os.Getenv("DECODEGAP_CORPUS")
	if corpus == "" {
		t.Skip("DECODEGAP_CORPUS names no folder with captured traces")
	}
	corpus, err := filepath.Abs(corpus)
	if err != nil {
		t.Fatal(err)
	}
	runScripts(t, "script/corpus", map[string]string{"CORPUS": corpus})
}

func runScripts(t *testing.T, dir string, variables map[string]string) {
	data, err := filepath.Abs("../../testdata")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join(data, filepath.FromSlash(dir)),
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("TESTDATA", data)
			for name, value := range variables {
				e.Setenv(name, value)
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "validate": validate},
	})
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARGS…")
	}
	want, err := strconv.Atoi(args[0])
	if err != nil {
		ts.Fatalf("exits: expected an exit code, got %q", args[0])
	}
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("exits: %v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("%s ended with %d, want %d", args[1], got, want)
	}
}

func validate(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: validate KIND FILE")
	}
	switch err := schematest.Check(args[0], []byte(ts.ReadFile(args[1]))); {
	case err != nil && !neg:
		ts.Fatalf("%s is no valid %s document: %v", args[1], args[0], err)
	case err == nil && neg:
		ts.Fatalf("%s is a valid %s document", args[1], args[0])
	}
}
