package audit

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const fixtures = "../../testdata/launch"

func fixture(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(fixtures, name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestGolden reads every launch script among the fixtures and compares what is
// understood and found with the file beside it.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(fixtures, "*.sh"))
	if err != nil || len(files) < 7 {
		t.Fatalf("%d fixtures, %v", len(files), err)
	}
	for _, path := range files {
		name := filepath.Base(path)
		t.Run(name, func(t *testing.T) {
			l, err := ParseLaunch(name, fixture(t, name))
			if err != nil {
				t.Fatal(err)
			}
			got := describe(l)
			golden := filepath.Join(fixtures, strings.TrimSuffix(name, ".sh")+".golden")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("differs from %s (run with -update and read the change):\n%s", golden, got)
			}
		})
	}
}

// describe is a launch as text: all of it, so that nothing leaves unseen.
func describe(l *Launch) string {
	var b strings.Builder
	p := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	p("%s %d:%d model %q served %q complete %v wrappers %q", l.Engine, l.Line, l.Col, l.Model, l.ServedName, l.Complete(), l.Wrappers)
	degree := func(name string, f func() (int, bool)) {
		if n, ok := f(); ok {
			p("%s %d", name, n)
		} else {
			p("%s unknown", name)
		}
	}
	degree("tp", l.TP)
	degree("pp", l.PP)
	degree("dp", l.DP)
	degree("attention dp", l.AttentionDP)
	degree("ep", l.EP)
	degree("dcp", l.DCP)
	degree("max running", l.MaxRunning)
	if d, ok := l.KVDType(); ok {
		p("kv %s", d)
	}
	if q, ok := l.QuantMethod(); ok {
		p("quantization %s", q)
	}
	if n, s, ok := l.GraphMaxBatch(); ok {
		p("graphs to %d by %s", n, s.Text)
	}
	if s, ok := l.Speculation(); ok {
		p("speculation %q", s.Method)
		if s.DraftTokens != nil {
			p("drafts %d", *s.DraftTokens)
		}
	} else {
		p("speculation unknown")
	}
	p("\nflags")
	for _, f := range l.Flags {
		p("%d:%d %s (%s) = %q unresolved %v", f.Line, f.Col, f.Name, f.Written, f.Value, f.Unresolved)
	}
	p("\nenv")
	for _, v := range l.Env {
		p("%d:%d %s = %q exported %v unresolved %v", v.Line, v.Col, v.Name, v.Value, v.Exported, v.Unresolved)
	}
	p("\nfacts")
	facts := l.Facts()
	for _, k := range slices.Sorted(maps.Keys(facts)) {
		p("%s = %s", k, facts[k])
	}
	p("\nfindings")
	for _, f := range Run(&Facts{Launch: l}) {
		p("%s %s %s\n  %s", f.Severity, f.Check, f.Where, f.Text)
		if f.Advice != "" {
			p("  do: %s", f.Advice)
		}
		if f.Cost != "" {
			p("  cost: %s", f.Cost)
		}
	}
	return b.String()
}
