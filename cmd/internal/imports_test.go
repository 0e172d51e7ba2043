package internal

import (
	"slices"
	"strings"
	"testing"
)

// leaves are the packages of roofline that import nothing of ours: quantities,
// spelling hints, lenient JSON. Anybody may use them.
var leaves = []string{"roofline/unit", "roofline/nearest", "roofline/lenient"}

// layers says what the packages below a folder may import of ours. The first
// line that fits a folder holds; a package may always import its own parts.
var layers = []struct {
	folder string
	exact  bool     // the folder alone, not what is inside
	only   []string // folders it may import from; nil: all but deny
	deny   []string
}{
	{folder: "roofline/unit", only: []string{}},
	{folder: "roofline/nearest", only: []string{}},
	{folder: "roofline/lenient", only: []string{}},
	{folder: "roofline", exact: true, only: leaves},
	{folder: "roofline/model", deny: []string{"roofline/gap", "probes", "traces", "reports", "cmd"}},
	{folder: "roofline/layout", deny: []string{"roofline/gap", "probes", "traces", "reports", "cmd"}},
	{folder: "roofline/hardware", deny: []string{"roofline/gap", "probes", "traces", "reports", "cmd"}},
	{folder: "roofline", deny: []string{"probes", "traces", "reports", "cmd"}},
	{folder: "probes", deny: []string{"traces", "reports", "cmd"}},
	{folder: "traces", only: append([]string{"traces", "=roofline"}, leaves...)},
	{folder: "reports", deny: []string{"cmd"}},
	{folder: "bench", only: []string{"traces"}}, // readers, timed against encoding/json
	{folder: "cmd"},
}

// may says whether a package in folder may import the package in target, both
// from the root, and false as known for a folder no layer covers.
func may(folder, target string) (allowed, known bool) {
	for _, l := range layers {
		if folder != l.folder && (l.exact || !below(folder, l.folder)) {
			continue
		}
		if l.only == nil {
			return !below(target, l.deny...), true
		}
		for _, o := range l.only {
			if exact, ok := strings.CutPrefix(o, "="); target == exact && ok || !ok && below(target, o) {
				return true, true
			}
		}
		return !l.exact && below(target, folder), true
	}
	return false, false
}

// reserved names the only folders that may import a package, tests included.
var reserved = []struct {
	imported string
	folders  []string
	below    bool // its sub-packages too
}{
	{"C", []string{"roofline/hardware/nvml", "probes/cpu", "probes/cuda/driver"}, false},
	{"github.com/NVIDIA/go-nvml", []string{"roofline/hardware/nvml"}, true},
	{"github.com/spf13/cobra/doc", nil, true},
	{"github.com/spf13/cobra", []string{"cmd"}, true},
	{"github.com/spf13/pflag", []string{"cmd"}, true},
	{module + "/cmd/internal/browsertest", []string{"cmd"}, false},
}

// testOnly modules are imported by test files and packages for tests alone.
var testOnly = []string{
	"github.com/rogpeppe/go-internal",
	"github.com/google/go-cmp",
	"github.com/santhosh-tekuri/jsonschema",
	module + "/cmd/internal/browsertest",
	"testing",
}

func TestImports(t *testing.T) {
	for _, s := range sources(t) {
		for _, imported := range s.Imports {
			if target, ours := strings.CutPrefix(imported, module+"/"); ours && !s.Test() {
				switch allowed, known := may(s.Folder, target); {
				case !known:
					t.Errorf("%s: no rule in layers says what %s may import", s.Path, s.Folder)
				case !allowed:
					t.Errorf("%s imports %s: against the order of packages (docs/architecture.md)", s.Path, target)
				}
			}
			for _, r := range reserved {
				if (imported == r.imported || r.below && below(imported, r.imported)) && !below(s.Folder, r.folders...) {
					t.Errorf("%s imports %s: only %v may", s.Path, imported, r.folders)
				}
			}
			if below(imported, testOnly...) && !s.Test() {
				t.Errorf("%s imports %s: only tests may", s.Path, imported)
			}
		}
	}
}

// TestMay shows that each rule of the order can fail.
func TestMay(t *testing.T) {
	for _, c := range []struct {
		folder, target string
		want           bool
	}{
		{"roofline/unit", "roofline", false},
		{"roofline/nearest", "roofline/unit", false},
		{"roofline", "roofline/unit", true},
		{"roofline", "roofline/model", false},
		{"roofline/model", "roofline/gap", false},
		{"roofline/model/gguf", "roofline/gap", false},
		{"roofline/model", "roofline/model/gguf", true},
		{"roofline/layout", "traces/bench", false},
		{"roofline/hardware/nvml", "roofline/gap", false},
		{"roofline/gap", "roofline/layout", true},
		{"roofline/gap", "traces", false},
		{"roofline/gap", "probes", false},
		{"roofline/gap", "reports", false},
		{"roofline/gap", "cmd/internal/term", false},
		{"probes/cpu", "traces", false},
		{"probes/cpu", "roofline/hardware", true},
		{"traces", "roofline/unit", true},
		{"traces/kineto", "roofline", true},
		{"traces/kineto", "roofline/model", false},
		{"traces/kineto", "traces", true},
		{"traces/bench", "probes/endpoint", false},
		{"traces/bench", "reports", false},
		{"reports/html", "traces", true},
		{"reports/html", "roofline/gap", true},
		{"reports/html", "cmd/internal/term", false},
		{"bench", "reports", false},
		{"cmd/decodegap", "roofline/hardware/nvml", true},
	} {
		if got, known := may(c.folder, c.target); got != c.want || !known {
			t.Errorf("may %s import %s: %v (known %v), want %v", c.folder, c.target, got, known, c.want)
		}
	}
	if _, known := may("tools", "roofline"); known {
		t.Error("a folder outside the layout has a rule")
	}
}

// TestFolders keeps the tree's top to the folders the layout names.
func TestFolders(t *testing.T) {
	for _, s := range sources(t) {
		top, _, _ := strings.Cut(s.Folder, "/")
		if !slices.Contains([]string{"cmd", "roofline", "probes", "traces", "reports", "bench"}, top) {
			t.Errorf("%s: Go code belongs in cmd, roofline, probes, traces, reports or bench", s.Path)
		}
	}
}
