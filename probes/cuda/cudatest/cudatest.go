// Package cudatest builds the stand-in for libcuda (testdata/fakecuda) that
// tests run on where there is no GPU. It refuses nothing: a test that cannot
// build it fails.
package cudatest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Library compiles the stand-in and returns its path; flags are such as
// "-DWITHOUT_GRAPHS". Root is the repository's, from the test's folder.
func Library(t testing.TB, root string, flags ...string) string {
	t.Helper()
	cc := os.Getenv("CC")
	if cc == "" {
		cc = "cc"
	}
	path := filepath.Join(t.TempDir(), "libcuda.so.1")
	args := append([]string{"-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror", "-o", path}, flags...)
	cmd := exec.Command(cc, append(args, filepath.Join(root, "testdata", "fakecuda", "fakecuda.c"))...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build the stand-in for libcuda: %v\n%s", err, out)
	}
	return path
}
