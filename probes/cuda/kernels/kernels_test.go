package kernels

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestManifest: every build is in the manifest, made from the sources as they
// are now, and no PTX file is without one. `make ptx` writes both.
func TestManifest(t *testing.T) {
	m, err := ReadManifest()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(m.Flags, Flags()) {
		t.Errorf("the manifest's flags are %q, the package's %q: run make ptx", m.Flags, Flags())
	}
	var want, got []string
	for _, b := range Builds {
		want = append(want, b.Name())
	}
	for _, e := range m.Files {
		got = append(got, e.PTX)
		if d := digest(t, e.PTX); d != e.PTXDigest {
			t.Errorf("%s is not the file of the manifest: run make ptx", e.PTX)
		}
		if len(e.Sources) < 2 {
			t.Errorf("%s is made from %v: expected a source and device.h", e.PTX, e.Sources)
		}
		for name, known := range e.Sources {
			if digest(t, name) != known {
				t.Errorf("%s has changed since %s was made: run make ptx", name, e.PTX)
			}
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(want, got) {
		t.Errorf("the manifest has %v, Builds lists %v: run make ptx", got, want)
	}
	there, err := filepath.Glob("*.ptx")
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(there)
	if !slices.Equal(there, want) {
		t.Errorf("the folder has %v, Builds lists %v", there, want)
	}
}

func digest(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	d := sha256.Sum256(text)
	return hex.EncodeToString(d[:])
}

// TestPTX: each file says the version and target of its level, and holds
// nothing of a toolkit's library or of a register file that overflowed.
func TestPTX(t *testing.T) {
	version := regexp.MustCompile(`(?m)^\.version (\S+)$`)
	target := regexp.MustCompile(`(?m)^\.target (\S+)$`)
	for _, b := range Builds {
		text, err := b.PTX()
		if err != nil {
			t.Error(err)
			continue
		}
		if v := version.FindStringSubmatch(text); v == nil || v[1] != b.Level.PTX {
			t.Errorf("%s: version %q, expected %s", b.Name(), v, b.Level.PTX)
		}
		if v := target.FindStringSubmatch(text); v == nil || v[1] != b.Level.Target {
			t.Errorf("%s: target %q, expected %s", b.Name(), v, b.Level.Target)
		}
		for _, bad := range []string{".local", ".extern .func", "vprintf", "__assertfail"} {
			if strings.Contains(text, bad) {
				t.Errorf("%s: holds %s", b.Name(), bad)
			}
		}
		// What only a dependent launch needs is absent below its level.
		if b.Level == SM80 && strings.Contains(text, "griddepcontrol") {
			t.Errorf("%s: holds griddepcontrol, which %s lacks", b.Name(), b.Level.Target)
		}
	}
}

func TestFind(t *testing.T) {
	for _, c := range []struct {
		source       string
		major, minor int
		want         string
	}{
		{"bf16_gemv", 8, 0, "sm_80_bf16_gemv.ptx"},
		{"bf16_gemv", 8, 9, "sm_80_bf16_gemv.ptx"},
		{"bf16_gemv", 9, 0, "sm_90_bf16_gemv.ptx"},
		{"bf16_gemv", 12, 0, "sm_90_bf16_gemv.ptx"},
		{"read", 10, 0, "sm_80_read.ptx"},
		{"read", 7, 5, ""},
		{"indexer", 8, 6, "sm_80_indexer.ptx"},
		{"indexer", 8, 9, "sm_89_indexer.ptx"},
		{"indexer", 9, 0, "sm_90a_indexer.ptx"},
		{"indexer", 12, 0, "sm_90_indexer.ptx"},
		{"nvfp4_wgmma", 9, 0, "sm_90a_nvfp4_wgmma.ptx"},
		{"nvfp4_wgmma", 8, 9, ""},
		{"nvfp4_wgmma", 10, 0, ""},
		{"nvfp4_native", 9, 0, ""},
		{"nvfp4_native", 10, 0, ""},
		{"nvfp4_native", 12, 0, "sm_120a_nvfp4_native.ptx"},
		{"nvfp4_native", 12, 1, "sm_120f_nvfp4_native.ptx"},
		{"nvfp4_native", 13, 0, ""},
		{"nothing of ours", 9, 0, ""},
	} {
		b, err := Find(c.source, c.major, c.minor)
		if (err != nil) != (c.want == "") || err == nil && b.Name() != c.want {
			t.Errorf("%s on %d.%d: %s, %v; expected %q", c.source, c.major, c.minor, b.Name(), err, c.want)
		}
	}
}
