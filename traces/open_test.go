package traces

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOpenStrangers: what turns up where a trace is expected is named, with the
// way out.
func TestOpenStrangers(t *testing.T) {
	zipped := func(b []byte) []byte {
		var out bytes.Buffer
		z := gzip.NewWriter(&out)
		z.Write(b)
		z.Close()
		return out.Bytes()
	}
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	if err := w.WriteHeader(&tar.Header{Name: "rank0.json", Size: 2, Mode: 0o600}); err != nil {
		t.Fatal(err)
	}
	w.Write([]byte("{}"))
	w.Close()
	for _, c := range []struct {
		content []byte
		want    string
	}{
		{archive.Bytes(), "a tar archive"},
		{zipped(archive.Bytes()), "a tar archive"},
		{zipped(zipped([]byte(`{"traceEvents":[]}`))), "gzip inside gzip"},
		{[]byte("PK\x03\x04...."), "a zip archive"},
		{[]byte("\x28\xb5\x2f\xfd...."), "zstd -d"},
		{[]byte("version https://git-lfs.github.com/spec/v1\n"), "git lfs pull"},
		{[]byte("  <!DOCTYPE html>"), "an HTML page"},
		{[]byte("\x7fELF..."), "not a trace that is understood"},
		{[]byte(" \n "), "white space"},
		{nil, "empty file"},
	} {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, c.content, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.20q: got %v, want %q", c.content, err, c.want)
		}
	}
}
