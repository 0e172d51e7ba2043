package safetensors

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// entry is a tensor to write.
type entry struct {
	name  string
	dtype string
	shape []int64
	bytes int64
}

// headerOf is the JSON that describes the entries, laid out one after the
// other. The keys are in the order given.
func headerOf(metadata string, entries ...entry) string {
	var parts []string
	if metadata != "" {
		parts = append(parts, `"__metadata__":`+metadata)
	}
	var at int64
	for _, e := range entries {
		name, err := json.Marshal(e.name)
		if err != nil {
			panic(err)
		}
		shape := strings.ReplaceAll(fmt.Sprint(e.shape), " ", ",")
		parts = append(parts, fmt.Sprintf(`%s:{"dtype":%q,"shape":%s,"data_offsets":[%d,%d]}`,
			name, e.dtype, shape, at, at+e.bytes))
		at += e.bytes
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// fileOf is a file with the header and so many bytes of data.
func fileOf(header string, data int64) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	b = append(b, header...)
	return append(b, make([]byte, data)...)
}

// valid is a complete file of the entries.
func valid(entries ...entry) []byte {
	var data int64
	for _, e := range entries {
		data += e.bytes
	}
	return fileOf(headerOf(`{"format":"pt"}`, entries...), data)
}

// write puts files into a new folder: text as it is, entries as a safetensors
// file, a link as "-> target".
func write(t *testing.T, files map[string]any) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		var err error
		switch c := content.(type) {
		case []entry:
			err = os.WriteFile(path, valid(c...), 0o600)
		case []byte:
			err = os.WriteFile(path, c, 0o600)
		case string:
			if target, ok := strings.CutPrefix(c, "-> "); ok {
				err = os.Symlink(target, path)
			} else if c == "folder" {
				err = os.Mkdir(path, 0o700)
			} else {
				err = os.WriteFile(path, []byte(c), 0o600)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// indexOf is an index of names and files.
func indexOf(pairs ...string) string {
	var parts []string
	for i := 0; i < len(pairs); i += 2 {
		parts = append(parts, fmt.Sprintf("%q:%q", pairs[i], pairs[i+1]))
	}
	return `{"metadata":{"total_size":20,"note":"x"},"weight_map":{` + strings.Join(parts, ",") + `}}`
}

// checkError wants an error of one printable line that holds all of want.
func checkError(t *testing.T, err error, want ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want %q", want)
	}
	for _, w := range want {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q, want %q in it", err, w)
		}
	}
	if strings.ContainsFunc(err.Error(), func(r rune) bool { return r < ' ' || r == 0x7f || r == 0xfffd }) {
		t.Errorf("error %q: not one printable line", err)
	}
	if len(err.Error()) > 1000 {
		t.Errorf("error of %d bytes: %.200q", len(err.Error()), err)
	}
}
