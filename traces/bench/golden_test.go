package bench

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// fixtures are the benchmark files kept in the repository.
func fixtures(tb testing.TB) []string {
	tb.Helper()
	all, err := filepath.Glob("../../testdata/bench/*/*")
	if err != nil {
		tb.Fatal(err)
	}
	var out []string
	for _, f := range all {
		if !strings.HasSuffix(f, ".golden.json") && !strings.HasSuffix(f, ".sh") {
			out = append(out, f)
		}
	}
	if len(out) < 15 {
		tb.Fatalf("found only %d fixtures: %v", len(out), out)
	}
	return out
}

func TestGolden(t *testing.T) {
	for _, path := range fixtures(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			results, err := ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			enc := json.NewEncoder(&got)
			enc.SetEscapeHTML(false)
			enc.SetIndent("", "  ")
			if err := enc.Encode(results); err != nil {
				t.Fatal(err)
			}
			golden := path + ".golden.json"
			if *update {
				if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatalf("%v: run go test -update to write it", err)
			}
			if !bytes.Equal(got.Bytes(), want) {
				t.Errorf("import of %s changed; got\n%s", path, got.String())
			}
		})
	}
}

// TestNothingLeaks looks for what a result must never carry: keys, addresses,
// environments and generated texts, all of which the fixtures hold.
func TestNothingLeaks(t *testing.T) {
	for _, path := range fixtures(t) {
		results, err := ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		out, err := json.Marshal(results)
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range []string{"must-not-leave", "also-not", "10.1.2.3", "/home", "/srv", "operator", "quoted", "boom"} {
			if bytes.Contains(out, []byte(secret)) {
				t.Errorf("%s: %q got out", path, secret)
			}
		}
	}
}
