package kineto_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func kernelEvent(name string, ts int) string {
	return fmt.Sprintf(`{"ph":"X","cat":"kernel","name":%q,"pid":0,"tid":7,"ts":%d,"dur":5,"args":{"device":0,"stream":7}}`, name, ts)
}

// TestBehindTheDocument: what follows the closing bracket is no part of the
// trace, and how much of it there is is said.
func TestBehindTheDocument(t *testing.T) {
	doc := `{"schemaVersion":1,"traceEvents":[` + kernelEvent("a", 1) + "," + kernelEvent("b", 10) + `]}`
	pad := doc + strings.Repeat(" \n\x00", 1<<20)
	for name, tt := range map[string]struct {
		content []byte
		want    string // of the warning, "" for none
	}{
		"alone":          {[]byte(doc + "\n\x00\x00"), ""},
		"twice":          {[]byte(doc + "\n" + doc), fmt.Sprintf("%d bytes follow the trace's closing bracket, from byte %d on", len(doc), len(doc)+1)},
		"far behind":     {[]byte(pad + "tail"), fmt.Sprintf("4 bytes follow the trace's closing bracket, from byte %d on", len(pad))},
		"an array twice": {[]byte("[" + kernelEvent("a", 1) + "," + kernelEvent("b", 10) + "][1]"), "3 bytes follow"},
		"two members":    {slices.Concat(packed(t, doc[:40]), packed(t, doc[40:])), ""},
		"two traces":     {slices.Concat(packed(t, doc), packed(t, doc)), fmt.Sprintf("%d bytes follow", len(doc))},
	} {
		got := read(t, tt.content)
		if len(got.events) != 2 || got.meta.Truncated {
			t.Errorf("%s: %d events, truncated %v; want 2 and a whole file", name, len(got.events), got.meta.Truncated)
		}
		text := ""
		for _, w := range got.meta.Warnings {
			if w.Code == "trailing-bytes" {
				text = w.Text
			}
		}
		if (text == "") != (tt.want == "") || !strings.HasPrefix(text, tt.want) {
			t.Errorf("%s: warned %q, want %q", name, text, tt.want)
		}
	}
}

// TestHugeName: an event that is too long to be one is left out, wherever it
// stands; that is damage, and no end of the file.
func TestHugeName(t *testing.T) {
	huge := kernelEvent(strings.Repeat("x", 17<<20), 20)
	for at := range 3 {
		events := slices.Insert([]string{kernelEvent("a", 1), kernelEvent("b", 10)}, at, huge)
		for _, end := range []string{"]}", "\n],\n\"traceName\": \"a.json\"\n}\n"} {
			got := read(t, []byte(`{"schemaVersion":1,"traceEvents":[`+strings.Join(events, ",\n")+end))
			if len(got.events) != 2 || got.meta.Truncated || !slices.Equal(got.codes(), []string{"damaged"}) {
				t.Errorf("event %d of 3: %d events, truncated %v, %v; want 2 and damage", at, len(got.events), got.meta.Truncated, got.meta.Warnings)
			}
		}
		cut := read(t, bytes.TrimSuffix([]byte(`{"traceEvents":[`+strings.Join(events, ",\n")), []byte("}}")))
		if !cut.meta.Truncated {
			t.Errorf("event %d of 3: a file that ends inside an event is not truncated", at)
		}
	}
}
