package internal

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// dependencies lists every package that the packages of args are built from.
// CGO_ENABLED is given, so that the answer does not depend on a C compiler.
func dependencies(t *testing.T, platform, cgo string, args ...string) []string {
	t.Helper()
	args = append([]string{"list", "-deps", "-tags", "minimal", "-json=ImportPath"}, args...)
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOOS="+platform, "GOARCH=amd64", "CGO_ENABLED="+cgo)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, stderr.Bytes())
	}
	var packages []string
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct{ ImportPath string }
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p.ImportPath)
	}
}

// TestLinked checks what the program is linked from, on every platform:
// nothing that only tests need, and none of gonum/plot's own back ends, which
// bring licences we do not take (-tags minimal leaves them out).
func TestLinked(t *testing.T) {
	for _, platform := range []struct{ os, cgo string }{{"linux", "1"}, {"linux", "0"}, {"darwin", "0"}, {"windows", "0"}} {
		for _, p := range dependencies(t, platform.os, platform.cgo, "./cmd/decodegap") {
			if below(p, testOnly...) || below(p, "github.com/ajstarks/svgo", "github.com/golang/freetype", "github.com/spf13/cobra/doc") {
				t.Errorf("%s, cgo %s: the program links %s", platform.os, platform.cgo, p)
			}
			if platform.cgo == "0" && below(p, "github.com/NVIDIA/go-nvml", "runtime/cgo") {
				t.Errorf("%s without cgo: the program links %s", platform.os, p)
			}
		}
	}
}

// TestProbesLinkWithoutNVML: go-nvml's link flag hides C functions of ours
// that have no body, so the test programs of probes must be linked without it.
func TestProbesLinkWithoutNVML(t *testing.T) {
	for _, p := range dependencies(t, "linux", "1", "-test", "./probes/...") {
		if below(p, "github.com/NVIDIA/go-nvml") {
			t.Errorf("a test of probes links %s", p)
		}
	}
}
