package reports

import (
	"bytes"
	"encoding/json"
	"testing"
)

// TestWriteJSONControls: nothing that a terminal obeys is printed as it is, and
// the document reads back the same.
func TestWriteJSONControls(t *testing.T) {
	name := "a\u009b31mred\x7f\u202ertl\u2066x\U000e0001 \x1b[0m µ× <b>\\ “ok” 核"
	var out bytes.Buffer
	if err := WriteJSON(&out, map[string]string{"name": name}); err != nil {
		t.Fatal(err)
	}
	for _, r := range out.String() {
		if r != '\n' && (r < ' ' || obeyed(r)) {
			t.Errorf("%U is printed as it is in %q", r, out.String())
		}
	}
	for _, kept := range []string{"µ× <b>", "“ok” 核"} {
		if !bytes.Contains(out.Bytes(), []byte(kept)) {
			t.Errorf("%q is not printed as it is in %q", kept, out.String())
		}
	}
	var back map[string]string
	if err := json.Unmarshal(out.Bytes(), &back); err != nil || back["name"] != name {
		t.Errorf("read back %q, %v; want %q", back["name"], err, name)
	}
}
