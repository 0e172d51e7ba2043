// Ptx compiles the GPU kernels: it writes the PTX files and their manifest, or
// with -check says which of them another compilation would change. It needs
// clang with its NVPTX target, and no CUDA toolkit.
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"decodegap/probes/cuda/kernels"
)

const folder = "probes/cuda/kernels"

func main() {
	check := flag.Bool("check", false, "change nothing; fail where a file would change")
	clang := flag.String("clang", "clang-16", "the compiler")
	flag.Parse()
	if err := run(*clang, *check); err != nil {
		fmt.Fprintln(os.Stderr, "ptx:", err)
		os.Exit(1)
	}
}

func run(clang string, check bool) error {
	version, err := exec.Command(clang, "--version").Output()
	if err != nil {
		return fmt.Errorf("%s: %w; on Debian: apt-get install clang-16", clang, err)
	}
	first, _, _ := strings.Cut(string(version), "\n")
	m := kernels.Manifest{Compiler: first, Flags: kernels.Flags()}
	changed := 0
	write := func(name string, text []byte) error {
		path := filepath.Join(folder, name)
		if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, text) {
			return nil
		}
		changed++
		if check {
			fmt.Println("differs ", path)
			return nil
		}
		fmt.Println("write   ", path)
		return os.WriteFile(path, text, 0o644)
	}
	for _, b := range kernels.Builds {
		e, text, err := compile(clang, b)
		if err != nil {
			return err
		}
		m.Files = append(m.Files, e)
		if err := write(e.PTX, text); err != nil {
			return err
		}
	}
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	if err := write("MANIFEST.json", append(text, '\n')); err != nil {
		return err
	}
	if check && changed > 0 {
		return errors.New("the files above are not what their sources give; run make ptx")
	}
	return nil
}

var included = regexp.MustCompile(`(?m)^#include "([a-z0-9_]+\.h)"`)

// compile makes one PTX file in memory.
func compile(clang string, b kernels.Build) (kernels.Entry, []byte, error) {
	source := b.Source + ".cu"
	e := kernels.Entry{PTX: b.Name(), Sources: map[string]string{}, Flags: b.Level.Flags()}
	for todo := []string{source}; len(todo) > 0; todo = todo[1:] {
		text, err := os.ReadFile(filepath.Join(folder, todo[0]))
		if err != nil {
			return e, nil, err
		}
		e.Sources[todo[0]] = digest(text)
		for _, m := range included.FindAllSubmatch(text, -1) {
			if name := string(m[1]); e.Sources[name] == "" {
				todo = append(todo, name)
			}
		}
	}
	cmd := exec.Command(clang, append(append(kernels.Flags(), b.Level.Flags()...), source, "-o", "-")...)
	cmd.Dir = folder
	var said bytes.Buffer
	cmd.Stderr = &said
	text, err := cmd.Output()
	if err != nil {
		return e, nil, fmt.Errorf("%s for %s: %w\n%s", source, b.Level.Target, err, said.Bytes())
	}
	if text, err = b.Level.Header(text); err != nil {
		return e, nil, fmt.Errorf("%s: %w", source, err)
	}
	e.PTXDigest = digest(text)
	return e, text, nil
}

func digest(text []byte) string {
	d := sha256.Sum256(text)
	return hex.EncodeToString(d[:])
}
