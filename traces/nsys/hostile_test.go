package nsys

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"strings"
	"testing"
)

// many fills the kernel table so that it takes several pages.
func many(n int) string {
	return fmt.Sprintf(`WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i+1 FROM c WHERE i<%d)
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT i*100,i*100+50,0,1,NULL,7,i,%d,10,11,12,8,2,1,128,1,1,NULL,0 FROM c`, n, pidA)
}

// TestSecrets plants an environment where Nsight Systems keeps it and looks
// for it in everything that comes out.
func TestSecrets(t *testing.T) {
	const secret = "hf_TopSecretToken"
	data := build(t, texts, version325, kernels325, many(3),
		`INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_COMMENT','`+secret+`')`,
		`INSERT INTO StringIds VALUES (900,'HF_TOKEN=`+secret+`')`,
		`CREATE TABLE META_DATA_CAPTURE (name TEXT NOT NULL, value TEXT);
INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:ENVIRONMENT_VARIABLE','HF_TOKEN=`+secret+`'),('PROCESS_0:COMMAND','serve --key `+secret+`'),('CUDA_GRAPH_TRACE_OPTIONS:MODE','Node')`,
		`CREATE TABLE DIAGNOSTIC_EVENT (timestamp INTEGER, severity INTEGER, text TEXT); INSERT INTO DIAGNOSTIC_EVENT VALUES (1,1,'HF_TOKEN=`+secret+`')`,
		`CREATE TABLE ProcessStreams (globalPid INTEGER, filenameId INTEGER, contentId INTEGER); INSERT INTO ProcessStreams VALUES (1,900,900)`,
		`CREATE TABLE TARGET_INFO_SYSTEM_ENV (name TEXT, value TEXT); INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES ('Hostname','`+secret+`')`)
	if !bytes.Contains(data, []byte(secret)) {
		t.Fatal("the secret is not in the file")
	}
	events, m, faults := read(t, SQLite, data)
	if len(events) != 3 {
		t.Errorf("%d events, want 3", len(events))
	}
	if out := fmt.Sprintf("%+v %+v %v", events, m, faults); strings.Contains(out, "Secret") || strings.Contains(out, "HF_TOKEN") {
		t.Errorf("the environment came out: %s", out)
	}
	if !m.Environment || m.Facts["cuda_graph_trace"] != "Node" {
		t.Errorf("meta %+v", m)
	}
	// A version is no place to hide one either.
	_, m, _ = read(t, SQLite, build(t, kernels325, `CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);
INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PRODUCT_VERSION','`+secret+`')`))
	if m.Environment || len(m.Facts) != 0 {
		t.Errorf("meta %+v", m)
	}
}

// TestViewsAndTriggers: what is no table is not read, however it is called.
func TestViewsAndTriggers(t *testing.T) {
	data := build(t, texts, version325,
		`CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS WITH RECURSIVE c(i) AS (VALUES(1) UNION ALL SELECT i+1 FROM c) SELECT i AS start, i+1 AS end, 0 AS deviceId FROM c`,
		`CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER, end INTEGER AS (length(hex(zeroblob(1000)))), deviceId INTEGER, extra INTEGER AS (abs(start)))`,
		`CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start TEXT, end BLOB, deviceId INTEGER)`,
		`CREATE TRIGGER t AFTER INSERT ON CUPTI_ACTIVITY_KIND_MEMCPY BEGIN SELECT randomblob(1); END`,
		`INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET(start,deviceId) VALUES (5,0)`,
		`INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES ('now',zeroblob(3000),0),('-9223372036854775808',1,0)`)
	events, m, faults := read(t, SQLite, data)
	if len(events) != 0 {
		t.Errorf("events %+v", events)
	}
	if m.Skipped != 3 {
		t.Errorf("meta %+v, faults %v", m, faults)
	}
}

// TestHugeTexts: a text beyond the bound is a fault of its own, a long one is
// cut, and neither stops the events.
func TestHugeTexts(t *testing.T) {
	data := build(t, texts, version325, kernels325, many(2),
		`UPDATE StringIds SET value=CAST(zeroblob(3000000) AS TEXT) WHERE id=10`,
		`UPDATE StringIds SET value=replace(hex(zeroblob(30000)),'00','ab') WHERE id=11`)
	events, _, faults := read(t, SQLite, data)
	if len(events) != 2 || len(faults) != 1 {
		t.Fatalf("%d events, faults %v", len(events), faults)
	}
	if n := events[0].Name; len(n) > maxName+8 || !strings.HasPrefix(n, "abab") {
		t.Errorf("a name of %d bytes", len(n))
	}
}

func TestCut(t *testing.T) {
	whole := build(t, texts, version325, kernels325, many(5000))
	all, _, _ := read(t, SQLite, whole)
	if len(all) != 5000 {
		t.Fatalf("%d events, want 5000", len(all))
	}
	events, m, faults := read(t, SQLite, whole[:len(whole)*2/3])
	if !m.Truncated || len(faults) < 2 {
		t.Errorf("truncated %v, faults %v", m.Truncated, faults)
	}
	if len(events) < 1000 || len(events) >= 5000 {
		t.Errorf("%d of 5000 events out of two thirds of the file", len(events))
	}
	for i, e := range events {
		if e != all[i] && (e.Detail == nil || *e.Detail != *all[i].Detail) {
			t.Fatalf("event %d: %+v, want %+v", i, e, all[i])
		}
	}
}

func TestWriteAheadMode(t *testing.T) {
	data := build(t, texts, version325, kernels325, many(10))
	data[18], data[19] = 2, 2
	events, m, faults := read(t, SQLite, data)
	if len(events) != 10 || len(faults) != 0 || warned(m, "write-ahead-log") == "" {
		t.Errorf("%d events, %v, %+v", len(events), faults, m.Warnings)
	}
}

// TestPagesInACircle: an inner page whose children are all the same leaf holds
// more rows than the file has room for; so does one that is its own child.
func TestPagesInACircle(t *testing.T) {
	data := build(t, `PRAGMA page_size=512`, texts, version325, kernels325, many(4000))
	const page = 512
	inner := 0
	for off := page; off+page <= len(data); off += page {
		p := data[off : off+page]
		if p[0] != 5 || binary.BigEndian.Uint16(p[3:]) < 4 {
			continue
		}
		inner++
		cells := int(binary.BigEndian.Uint16(p[3:]))
		first := binary.BigEndian.Uint16(p[12:])
		for c := 1; c < cells; c++ {
			at := binary.BigEndian.Uint16(p[12+2*c:])
			copy(p[at:at+4], p[first:first+4])
		}
	}
	if inner == 0 {
		t.Fatal("the table has no inner page")
	}
	r, err := SQLite.Open(bytes.NewReader(data), int64(len(data)), "f")
	if err != nil {
		return // refused as a whole
	}
	n := 0
	for _, err := range r.Events() {
		if err == nil {
			n++
		}
	}
	_ = r.Close()
	if n > len(data) {
		t.Errorf("%d events out of %d bytes", n, len(data))
	}
}

// TestNothingWritten: reading leaves no file beside the one read.
func TestNothingWritten(t *testing.T) {
	dir := t.TempDir()
	path := dir + "/e.sqlite"
	if err := os.WriteFile(path, build(t, texts, version325, kernels325, many(10)), 0o444); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, _ := f.Stat()
	r, err := SQLite.Open(f, info.Size(), path)
	if err != nil {
		t.Fatal(err)
	}
	if events, _, _ := drain(t, r); len(events) != 10 {
		t.Errorf("%d events, want 10", len(events))
	}
	if list, _ := os.ReadDir(dir); len(list) != 1 {
		t.Errorf("files beside the export: %v", list)
	}
}

// FuzzSQLite changes bytes of an export: patch holds groups of two bytes of
// position and one of value, and cut is how much of the end is missing.
func FuzzSQLite(f *testing.F) {
	small := build(f, `PRAGMA page_size=512`, texts, version325, kernels325, runtime, many(20))
	f.Add("", uint16(0))
	f.Add("", uint16(len(small)/2))
	f.Add("\x00\x12\x02\x00\x13\x02", uint16(0)) // write-ahead mode
	f.Add("\x00\x64\x05\x02\x00\x05", uint16(0)) // inner pages for leaves
	f.Fuzz(func(t *testing.T, patch string, cut uint16) {
		data := bytes.Clone(small[:len(small)-min(len(small), int(cut))])
		for ; len(patch) >= 3 && len(data) > 0; patch = patch[3:] {
			data[(int(patch[0])<<8|int(patch[1]))%len(data)] = patch[2]
		}
		SQLite.Sniff(data)
		r, err := SQLite.Open(bytes.NewReader(data), int64(len(data)), "f")
		if err != nil {
			return
		}
		for e, err := range r.Events() {
			if err == nil && (e.Dur < 0 || len(e.Name) > maxName+8) {
				t.Errorf("%+v", e)
			}
		}
		_ = r.Close()
	})
}
