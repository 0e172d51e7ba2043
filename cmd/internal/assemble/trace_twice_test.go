package assemble

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ncruces/go-sqlite3"

	"decodegap/traces/all"
)

// TestFileTwice: the same work does not count twice, whatever names it has.
func TestFileTwice(t *testing.T) {
	first := writeTrace(t, 20, func(i int) (string, int, int, string) { return "k", 0, 7, "1" })
	content, err := os.ReadFile(first)
	if err != nil {
		t.Fatal(err)
	}
	copied, link := filepath.Join(t.TempDir(), "copy.json"), filepath.Join(t.TempDir(), "link.json")
	if err := os.WriteFile(copied, content, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(first, link); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "other.json") // of the same length
	if err := os.WriteFile(other, []byte(strings.Replace(string(content), `"ts":10,`, `"ts":11,`, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	doc := documentOf(t, first, first, copied, link, other)
	if len(doc.Files) != 2 || len(doc.Ranks) != 2 || doc.Kernels[0].Count != 40 {
		t.Errorf("%d files, %d ranks, %d launches; want the first and the last alone", len(doc.Files), len(doc.Ranks), doc.Kernels[0].Count)
	}
	said := 0
	for _, w := range doc.Warnings {
		if w.Code == "same-file" {
			said++
		}
	}
	if said != 3 {
		t.Errorf("warnings %v, want one for each of the 3", doc.Warnings)
	}
}

// TestMissingFileTwice: what cannot be read is an error for each mention.
func TestMissingFileTwice(t *testing.T) {
	none := filepath.Join(t.TempDir(), "none.json")
	run := Trace{Formats: all.All}
	for i, err := range run.ReadAll(t.Context(), []string{none, none}) {
		if err == nil {
			t.Errorf("mention %d: no error", i)
		}
	}
}

// TestZeroDurations: kernels that last no time are counted and said.
func TestZeroDurations(t *testing.T) {
	path := filepath.Join(t.TempDir(), "zero.json")
	text := `{"traceEvents":[{"ph":"X","cat":"kernel","name":"a","pid":0,"tid":7,"ts":10,"dur":5},{"ph":"X","cat":"kernel","name":"a","pid":0,"tid":7,"ts":20,"dur":0}]}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	doc := documentOf(t, path)
	if got := warned(doc, "zero-duration"); !strings.HasPrefix(got, "1 of 2 kernels") || doc.Ranks[0].Kernels != 2 {
		t.Errorf("warned %q of %d kernels", got, doc.Ranks[0].Kernels)
	}
}

// TestEnvironmentOfAnExport: an nsys export that carries the environment is
// warned about, and nothing of it is told.
func TestEnvironmentOfAnExport(t *testing.T) {
	path := filepath.Join(t.TempDir(), "export.sqlite")
	db, err := sqlite3.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{
		`CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT)`, `INSERT INTO StringIds VALUES (1,'gemm')`,
		`CREATE TABLE META_DATA_CAPTURE (name TEXT, value TEXT)`, `INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:ENVIRONMENT_VARIABLE','HF_TOKEN=hidden')`,
		`CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, shortName INTEGER)`,
		`INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10,20,0,1,7,1,0,1,1)`,
	} {
		if err := db.Exec(sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	doc := documentOf(t, path)
	if warned(doc, "environment") == "" {
		t.Errorf("no word of the environment: %v", doc.Warnings)
	}
	if text, err := json.Marshal(doc); err != nil || strings.Contains(string(text), "hidden") {
		t.Errorf("%v: the document tells it: %s", err, text)
	}
}
