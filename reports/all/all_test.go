package all

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"decodegap/reports"
	"decodegap/reports/pprof"
)

var update = flag.Bool("update", false, "rewrite testdata/golden")

const (
	runsFolder   = "../../testdata/runs"
	goldenFolder = "../../testdata/golden"
)

// runs reads the records that every format is tried on.
func runs(t *testing.T) map[string]*reports.Run {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(runsFolder, "*.json"))
	if err != nil || len(files) < 3 {
		t.Fatalf("%d run records in %s, expected at least 3 (%v)", len(files), runsFolder, err)
	}
	out := map[string]*reports.Run{}
	for _, f := range files {
		run, err := reports.ReadRun(f)
		if err != nil {
			t.Fatal(err)
		}
		out[strings.TrimSuffix(filepath.Base(f), ".json")] = run
	}
	return out
}

// render is nil where a record holds nothing to make a profile of.
func render(t *testing.T, r reports.Renderer, run *reports.Run) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := r.Render(&b, run); err != nil && !(errors.Is(err, pprof.ErrNoTrace) && len(run.Points) > 0 && run.Points[0].Traced == nil) {
		t.Fatalf("%s: %v", r.Name, err)
	}
	return b.Bytes()
}

// binary says whether a format's bytes are no text: it has tests of its own.
func binary(r reports.Renderer) bool { return r.Name == "pdf" || r.Name == "pprof" }

// TestGolden compares every format of every record with what was looked at and
// kept. A PDF is compared by its text in TestPDF, a
// profile by its sums where it is made.
func TestGolden(t *testing.T) {
	drawing := regexp.MustCompile(`(?s)<svg xmlns.*?</svg>`)
	for name, run := range runs(t) {
		for _, r := range All {
			got := render(t, r, run)
			if again := render(t, r, run); !bytes.Equal(got, again) {
				t.Errorf("%s of %s: two renderings differ", r.Name, name)
			}
			if binary(r) {
				continue
			}
			if r.Name == "html" { // the drawings have goldens of their own
				got = drawing.ReplaceAll(got, []byte("<svg></svg>"))
			}
			file := filepath.Join(goldenFolder, name+".report"+r.Ext)
			if *update {
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
				continue
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatalf("%v; make it with: go test ./reports/all -update", err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%s of %s differs from %s at %s; look at it, then: go test ./reports/all -update", r.Name, name, file, difference(got, want))
			}
		}
	}
}

// difference is the first line that differs, both ways.
func difference(got, want []byte) string {
	g, w := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return "line " + strings.TrimSpace(g[i]) + " ≠ " + strings.TrimSpace(w[i])
		}
	}
	return "the end"
}

// TestSayTheSame: the figures of the first page stand in every format that
// people read.
func TestSayTheSame(t *testing.T) {
	run := runs(t)["founding"]
	for _, r := range people() {
		text := strings.Join(strings.Fields(string(render(t, r, run))), " ")
		for _, want := range []string{
			"GLM-5-NVFP4", "5.4 %", "95.14", "5.152", "3.076", "7.427", "layout floor", "sheet", "you are 4.9× behind",
			"+87.713", "92.2 %", "unattributed", "+1.635", "5.9 to 12.9 ms", "comm.allreduce", "GDDR7", "η ≤ 1", "≤ η μ",
			"0f4c1d8a6b2e9375c8d1f0a4b7e6325190cdab8",
		} {
			plain := strings.NewReplacer("&lt;", "<", "&gt;", ">", "&#43;", "+").Replace(text)
			if !strings.Contains(plain, want) {
				t.Errorf("%s does not say %q", r.Name, want)
			}
		}
	}
}

// people are the formats whose words can be read back as they stand.
func people() []reports.Renderer {
	var out []reports.Renderer
	for _, name := range []string{"text", "md", "html"} {
		if r, ok := ByName(name); ok {
			out = append(out, r)
		}
	}
	return out
}

// TestNothingClaimed: a record without a measurement gets no ratio, and one
// that contradicts itself gets a warning.
func TestNothingClaimed(t *testing.T) {
	share := regexp.MustCompile(`\d %`)
	for _, r := range people() {
		minimal := string(render(t, r, runs(t)["minimal"]))
		if _, body, styled := strings.Cut(minimal, "<body>"); styled {
			minimal = body
		}
		minimal = strings.ToLower(minimal)
		minimal = minimal[:max(0, strings.LastIndex(minimal, "what each number means"))]
		if found := share.FindString(minimal); found != "" {
			t.Errorf("%s of a record without measurement states a share: %q", r.Name, found)
		}
		if !strings.Contains(minimal, "nothing was measured") {
			t.Errorf("%s does not say that nothing was measured", r.Name)
		}
		if text := string(render(t, r, runs(t)["hostile"])); !strings.Contains(text, "do not describe the same step") {
			t.Errorf("%s does not warn of a measurement below the floor", r.Name)
		}
	}
}

// TestClean: no format lets a control character, an override of direction or
// invalid UTF-8 through.
func TestClean(t *testing.T) {
	for _, r := range All {
		if binary(r) || r.Name == "json" { // escaped by the encoder
			continue
		}
		for i, c := range string(render(t, r, runs(t)["hostile"])) {
			if unicode.Is(unicode.C, c) && c != '\n' && !(c == '\r' && r.Name == "csv") {
				t.Errorf("%s: %U at byte %d", r.Name, c, i)
				break
			}
		}
	}
}

func TestByName(t *testing.T) {
	for in, want := range map[string]string{
		"html": "html", "md": "md", "markdown": "md", ".md": "md", "TXT": "text", ".txt": "text", ".htm": "html", "csv": "csv", ".pdf": "pdf", "json": "json", ".pb.gz": "pprof",
	} {
		if r, ok := ByName(in); !ok || r.Name != want {
			t.Errorf("ByName(%q) = %q, %v; want %q", in, r.Name, ok, want)
		}
	}
	if r, ok := ByName("docx"); ok {
		t.Errorf("ByName(docx) = %q", r.Name)
	}
	seen := map[string]bool{}
	for _, r := range All {
		if r.Name == "" || r.Doc == "" || r.Render == nil || !strings.HasPrefix(r.Ext, ".") || seen[r.Name] || seen[r.Ext] {
			t.Errorf("%q: a format needs its own name and extension, a line of doc and a function", r.Name)
		}
		seen[r.Name], seen[r.Ext] = true, true
	}
}
