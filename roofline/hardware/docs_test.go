package hardware

import (
	"os"
	"reflect"
	"strings"
	"testing"
)

// TestGuide keeps docs/extend/gpu.md true: its example parses and every field
// of a device file is on it.
func TestGuide(t *testing.T) {
	data, err := os.ReadFile("../../docs/extend/gpu.md")
	if err != nil {
		t.Fatal(err)
	}
	guide := string(data)
	_, rest, _ := strings.Cut(guide, "```json\n")
	example, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("no example")
	}
	if _, err := ParseDevice("example", []byte(example)); err != nil {
		t.Error(err)
	}
	fields := reflect.TypeFor[Device]()
	for i := range fields.NumField() {
		name, _, _ := strings.Cut(fields.Field(i).Tag.Get("json"), ",")
		if !strings.Contains(guide, "`"+name+"`") && !strings.Contains(example, `"`+name+`"`) {
			t.Errorf("field %q is not explained", name)
		}
	}
}
