//go:build unix

package traces

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestOpenPipe: a pipe into which nobody writes is an error, not a wait.
func TestOpenPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Open(path, nil)
	if err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("got %v, want that it is not a regular file", err)
	}
}
