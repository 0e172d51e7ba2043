package all

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
)

// tool finds a program of poppler; without it the test is skipped, in CI it
// fails.
func tool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("no %s on PATH (Debian: apt-get install poppler-utils)", name)
		}
		t.Skipf("no %s on PATH (Debian: apt-get install poppler-utils)", name)
	}
	return path
}

// TestPDF reads the documents back: their text, their fonts, the pages' edges.
func TestPDF(t *testing.T) {
	pdftotext, pdffonts := tool(t, "pdftotext"), tool(t, "pdffonts")
	for name, run := range runs(t) {
		pdf, ok := ByName("pdf")
		if !ok {
			t.Fatal("no pdf format")
		}
		file := filepath.Join(t.ArtifactDir(), name+".pdf")
		if err := os.WriteFile(file, render(t, pdf, run), 0o644); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(pdftotext, "-layout", "-enc", "UTF-8", file, "-").Output()
		if err != nil {
			t.Fatalf("pdftotext %s: %v", file, err)
		}
		text := string(out)
		wanted := []string{"≤ η μ", "η ≤ 1", "What each number means", "page 1 of "}
		if name == "founding" {
			wanted = append(wanted, "5.4 %", "95.14", "5.152", "7.427", "you are 4.9× behind", "+87.713", "92.2 %", "unattributed", "comm.allreduce",
				"0f4c1d8a6b2e9375c8d1f0a4b7e6325190cdab84f3e2716509bc8d7ef6a15243", "In this report", "not comparable")
		}
		for _, want := range wanted {
			if !strings.Contains(text, want) {
				t.Errorf("%s.pdf does not say %q", name, want)
			}
		}
		for i, c := range text {
			if unicode.Is(unicode.C, c) && c != '\n' && c != '\f' {
				t.Errorf("%s.pdf: %U at byte %d of its text", name, c, i)
				break
			}
		}
		out, err = exec.Command(pdffonts, file).Output()
		if err != nil {
			t.Fatalf("pdffonts %s: %v", file, err)
		}
		checkFonts(t, name, string(out))
	}
}

// checkFonts wants each font embedded and its characters readable ("emb" and
// "uni" are "yes").
func checkFonts(t *testing.T, name, table string) {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(table), "\n")
	if len(lines) < 4 {
		t.Fatalf("%s.pdf: pdffonts lists %d lines, expected at least two fonts:\n%s", name, len(lines), table)
	}
	emb, uni := strings.Index(lines[0], "emb"), strings.Index(lines[0], "uni")
	for _, l := range lines[2:] {
		if len(l) < uni+3 || l[emb:emb+3] != "yes" || l[uni:uni+3] != "yes" {
			t.Errorf("%s.pdf: a font is not embedded or not readable: %s", name, l)
		}
	}
}

// TestPDFEdges: no word leaves the sheet.
func TestPDFEdges(t *testing.T) {
	pdftotext := tool(t, "pdftotext")
	for name, run := range runs(t) {
		pdf, _ := ByName("pdf")
		file := filepath.Join(t.TempDir(), name+".pdf")
		if err := os.WriteFile(file, render(t, pdf, run), 0o644); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(pdftotext, "-bbox", file, "-").Output()
		if err != nil {
			t.Fatalf("pdftotext -bbox %s: %v", file, err)
		}
		words := 0
		for line := range strings.Lines(string(out)) {
			var x0, y0, x1, y1 float64
			if !box(line, &x0, &y0, &x1, &y1) {
				continue
			}
			words++
			if x0 < 40 || x1 > 595.28-40 || y0 < 20 || y1 > 841.89-15 {
				t.Errorf("%s.pdf: outside the margins: %s", name, strings.TrimSpace(line))
			}
		}
		if words < 100 {
			t.Errorf("%s.pdf: %d words found, the check sees nothing", name, words)
		}
	}
}
