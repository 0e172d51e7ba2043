package kernels

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// Manifest says what each PTX file was made from.
type Manifest struct {
	Compiler string   `json:"compiler"` // its own version line
	Flags    []string `json:"flags"`    // besides those of the level
	Files    []Entry  `json:"files"`
}

// Entry is one PTX file. Digests are SHA-256 in hexadecimal.
type Entry struct {
	PTX       string            `json:"ptx"`
	PTXDigest string            `json:"ptx_sha256"`
	Sources   map[string]string `json:"sources_sha256"` // the source and the headers it includes, by name
	Flags     []string          `json:"flags"`
}

// Flags are those of every compilation.
func Flags() []string {
	return []string{"-x", "cuda", "-nocudainc", "-nocudalib", "--cuda-device-only", "-S", "-O3", "-std=c++20", "-Wall", "-Werror", "-Wno-parentheses"}
}

// Flags are those of the level. A source knows a target that the compiler does
// not by its name: SM_90A.
func (l Level) Flags() []string {
	target, version := l.compiled()
	flags := []string{"--cuda-gpu-arch=" + target, "--cuda-feature=+ptx" + version[:1] + version[2:]}
	if target != l.Target {
		flags = append(flags, "-D"+strings.ToUpper(l.Target))
	}
	return flags
}

// compiled is what the compiler writes for.
func (l Level) compiled() (target, version string) {
	if l.ClangTarget == "" {
		return l.Target, l.PTX
	}
	return l.ClangTarget, l.ClangPTX
}

// Header gives PTX of the compiler the level's own version and target.
func (l Level) Header(text []byte) ([]byte, error) {
	target, version := l.compiled()
	before := fmt.Appendf(nil, ".version %s\n.target %s\n", version, target)
	if bytes.Count(text, before) != 1 {
		return nil, fmt.Errorf("expected %q once in PTX for %s", before, l.Target)
	}
	return bytes.Replace(text, before, fmt.Appendf(nil, ".version %s\n.target %s\n", l.PTX, l.Target), 1), nil
}

// ReadManifest reads the embedded manifest.
func ReadManifest() (*Manifest, error) {
	text, err := files.ReadFile("MANIFEST.json")
	if err != nil {
		return nil, err
	}
	var m Manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, fmt.Errorf("MANIFEST.json: %w", err)
	}
	return &m, nil
}
