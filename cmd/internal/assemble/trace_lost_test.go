package assemble

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"decodegap/reports"
)

// TestLost: rows that cannot be read or used are said, by readers of every
// format.
func TestLost(t *testing.T) {
	stats := filepath.Join(t.TempDir(), "stats.csv")
	text := "Start (ns),Duration (ns),CorrId,Device,Strm,Name\n1000,500,1,GPU (0),7,k\n2000,-5,2,GPU (0),7,k\nabc,5,3,GPU (0),7,k\nx,5,3,GPU (0),7,k\n"
	if err := os.WriteFile(stats, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	doc := documentOf(t, stats)
	for code, part := range map[string]string{"damaged": "2 parts could not be read; the first: byte 94", "unusable-times": "1 event was left out"} {
		if !slices.ContainsFunc(doc.Warnings, func(w reports.Warning) bool { return w.Code == code && strings.Contains(w.Text, part) }) {
			t.Errorf("warnings %v, want %s: %s", doc.Warnings, code, part)
		}
	}
}

// TestSameRank: two files of one rank are two runs, and what one takes longer
// for a collective than the other is not waiting.
func TestSameRank(t *testing.T) {
	write := func(name, rank, dur string) string {
		var events []string
		for _, at := range []string{"1", "2", "3", "4"} {
			events = append(events, `{"ph":"X","cat":"kernel","name":"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(x)","pid":0,"tid":7,"ts":`+at+`000,"dur":`+dur+`,"args":{"device":0,"stream":7}}`,
				`{"ph":"X","cat":"gpu_user_annotation","name":"decode_step","pid":0,"tid":7,"ts":`+at+`000,"dur":900,"args":{"External id":`+at+`}}`)
		}
		path := filepath.Join(t.TempDir(), name)
		text := `{"distributedInfo":{"rank":` + rank + `,"world_size":2},"traceEvents":[` + strings.Join(events, ",") + `]}`
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	first, same, other := write("a.json", "0", "100"), write("b.json", "0", "300"), write("c.json", "1", "300")
	if doc := documentOf(t, first, other); doc.Step == nil || doc.Step.CommWaitMs == nil || *doc.Step.CommWaitMs != 0.2 {
		t.Errorf("two ranks: step %+v, want a wait of 0.2 ms", doc.Step)
	}
	doc := documentOf(t, first, same)
	if doc.Step == nil || doc.Step.CommWaitMs != nil {
		t.Errorf("one rank twice: step %+v, want one without waiting", doc.Step)
	}
	if !slices.ContainsFunc(doc.Warnings, func(w reports.Warning) bool { return w.Code == "same-rank" }) {
		t.Errorf("warnings %v, want same-rank", doc.Warnings)
	}
}
