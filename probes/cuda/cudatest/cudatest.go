// Package cudatest builds the stand-ins for the NVIDIA driver's libraries
// (testdata/fakecuda) that tests run on where there is no GPU. It refuses nothing: a test that cannot
// build it fails.
package cudatest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Library compiles the stand-in for libcuda and returns its path; flags are
// such as "-DWITHOUT_GRAPHS". Root is the repository's, from the test's folder.
func Library(t testing.TB, root string, flags ...string) string {
	t.Helper()
	return build(t, root, "libcuda.so.1", "fakecuda.c", flags)
}

// NVML compiles the stand-in for libnvidia-ml and returns its folder, for
// LD_LIBRARY_PATH.
func NVML(t testing.TB, root string, flags ...string) string {
	t.Helper()
	return filepath.Dir(build(t, root, "libnvidia-ml.so.1", "fakenvml.c", flags))
}

func build(t testing.TB, root, name, source string, flags []string) string {
	t.Helper()
	cc := os.Getenv("CC")
	if cc == "" {
		cc = "cc"
	}
	path := filepath.Join(t.TempDir(), name)
	args := append([]string{"-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror", "-o", path}, flags...)
	cmd := exec.Command(cc, append(args, filepath.Join(root, "testdata", "fakecuda", source))...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build the stand-in %s: %v\n%s", name, err, out)
	}
	return path
}
