package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"decodegap/reports/schema/schematest"
)

// rankFile writes a record of a GPU whose read takes so many µs.
func rankFile(t *testing.T, folder string, rank, of int, micros float64) string {
	t.Helper()
	s := micros * 1e-6
	path := filepath.Join(folder, fmt.Sprintf("c-%d.json", rank))
	text := fmt.Sprintf(`{"schema":"decodegap/ceilings/1","fingerprint":{"tool_version":"1","facts":{}},"when":"2026-01-02T03:04:05Z","device":"cuda:%d","hardware":"GPU X",
"rank":{"index":%d,"of":%d,"launcher":"slurm","host":"node%d"},"host":{"os":"linux","arch":"amd64","cores":1,"threads":1},"budget_s":1,"took_s":1,"ceilings":[],
"results":[{"probe":"cuda/read","case":"4 GB","outcome":"measured","kernel":"k","verdict":"good","bytes":4e9,"time_s":{"median":%g,"lo":%g,"hi":%g,"p10":%g,"p90":%g,"mad":0,"values":[%g]},"gbs":1,"blocks":1,"runs_per_block":1,
"checked":{"relative_l2":0,"max_abs":0,"bound":1,"values":1}}],"warnings":[]}`, rank%8, rank, of, rank/8, s, s, s, s, s, s)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestMerge: the slow GPU is first, the rank without a record is named, and the
// JSON is valid.
func TestMerge(t *testing.T) {
	folder := t.TempDir()
	var paths []string
	for i := range 16 {
		if i == 9 || i == 10 {
			continue
		}
		micros := 900 + float64(i%3)
		if i == 12 {
			micros = 1100
		}
		paths = append(paths, rankFile(t, folder, i, 16, micros))
	}
	stdout, stderr, code := command(t, "", append([]string{"merge"}, paths...)...)
	for _, want := range []string{"14 records, 14 devices, 2 hosts", "gpu   node1 cuda:4", "1.221", "no record of rank 9–10"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	if code != 0 || stderr != "" {
		t.Errorf("code %d, %s", code, stderr)
	}
	stdout, _, _ = command(t, "", append([]string{"merge", "--json"}, paths...)...)
	schematest.Validate(t, "merge", []byte(stdout))

	if _, stderr, code = command(t, "", "merge", paths[0], filepath.Join(folder, "none.json")); code != 2 || !strings.Contains(stderr, "none.json") {
		t.Errorf("code %d, %s", code, stderr)
	}
}

// TestOfRank: every rank has a file of its own.
func TestOfRank(t *testing.T) {
	t.Setenv("SLURM_PROCID", "3")
	t.Setenv("SLURM_STEP_NUM_TASKS", "16")
	rank := thisRank()
	if rank == nil || rank.Index != 3 {
		t.Fatalf("%+v", rank)
	}
	if file, ok := ofRank("c-%r.json", rank); file != "c-3.json" || !ok {
		t.Errorf("%s, %v", file, ok)
	}
	if _, ok := ofRank("c.json", rank); ok {
		t.Error("all ranks may write c.json")
	}
	for _, f := range []string{"-", "/dev/null"} {
		if _, ok := ofRank(f, rank); !ok {
			t.Errorf("%s is refused", f)
		}
	}
	if file, ok := ofRank("c.json", nil); file != "c.json" || !ok {
		t.Errorf("%s, %v", file, ok)
	}
	if _, stderr, code := command(t, "", "probe", "-o", "c.json"); code != 2 || !strings.Contains(stderr, "put %r into its name") {
		t.Errorf("code %d: %s", code, stderr)
	}
}
