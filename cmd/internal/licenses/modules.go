package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// module is a module as go list knows it.
type module struct {
	Path, Version, Dir string
	Main               bool
}

// platforms are the builds we ship, as GOOS, GOARCH and CGO_ENABLED. Listing
// needs neither a C compiler nor the platform.
var platforms = [][3]string{
	{"linux", "amd64", "1"},
	{"linux", "arm64", "0"},
	{"darwin", "arm64", "0"},
	{"windows", "amd64", "0"},
}

// modules lists what is linked into the program on any platform, and what the
// tests need beyond that, each sorted by path.
func modules(root string) (linked, tests []module, err error) {
	seen := map[string]module{}
	for _, p := range platforms {
		if err := list(root, p, seen, "./cmd/decodegap"); err != nil {
			return nil, nil, err
		}
	}
	all := map[string]module{}
	if err := list(root, platforms[0], all, "-test", "./..."); err != nil {
		return nil, nil, err
	}
	for path := range seen {
		delete(all, path)
	}
	return sorted(seen), sorted(all), nil
}

func sorted(set map[string]module) []module {
	var s []module
	for _, m := range set {
		s = append(s, m)
	}
	slices.SortFunc(s, func(a, b module) int { return strings.Compare(a.Path, b.Path) })
	return s
}

// list adds the modules of the packages that args name, and of all they
// import, to found.
func list(root string, platform [3]string, found map[string]module, args ...string) error {
	args = append([]string{"list", "-deps", "-tags", "minimal", "-json=ImportPath,Module"}, args...)
	cmd := exec.Command("go", args...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOOS="+platform[0], "GOARCH="+platform[1], "CGO_ENABLED="+platform[2])
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, stderr.String())
	}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct{ Module *module }
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
		}
		if p.Module != nil && !p.Module.Main {
			found[p.Module.Path] = *p.Module
		}
	}
}
