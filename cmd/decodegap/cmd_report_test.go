package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"decodegap/cmd/internal/browsertest"
	"decodegap/cmd/internal/exitcode"
	"decodegap/reports"
	"decodegap/reports/all"
)

const recordData = "../../testdata/runs/"

// reportFolder enters an empty folder that holds the founding record.
func reportFolder(t *testing.T) {
	t.Helper()
	data, err := os.ReadFile(recordData + "founding.json")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := os.WriteFile("gap.json", data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestReportText(t *testing.T) {
	stdout, stderr, code := command(t, "", "report", recordData+"founding.json")
	if code != exitcode.OK || stderr != "" || !strings.Contains(stdout, "5.4 %  efficient against the layout floor at sheet ceilings") {
		t.Errorf("code %d, stderr %q\n%s", code, stderr, stdout)
	}
	for line := range strings.Lines(stdout) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

func TestReportJSON(t *testing.T) {
	stdout, stderr, code := command(t, "", "report", "--json", recordData+"founding.json")
	if code != exitcode.OK || stderr != "" {
		t.Fatalf("code %d, stderr %q", code, stderr)
	}
	var got, want reports.Run
	data, err := os.ReadFile(recordData + "founding.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(stdout), &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	a, _ := json.Marshal(got)
	b, _ := json.Marshal(want)
	if !bytes.Equal(a, b) {
		t.Error("the record printed is not the record read")
	}
}

func TestReportFiles(t *testing.T) {
	reportFolder(t)
	stdout, stderr, code := command(t, "", "report", "gap.json", "--format", "html,pdf,md,csv,html,text", "--dir", "out/a")
	if code != exitcode.OK || stdout != "" || strings.Count(stderr, "wrote ") != 5 {
		t.Fatalf("code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	for ext, start := range map[string]string{".html": "<!DOCTYPE html>", ".pdf": "%PDF-", ".md": "# GLM-5-NVFP4", ".csv": "table,point,", ".txt": "GLM-5-NVFP4\n"} {
		data, err := os.ReadFile(filepath.Join("out", "a", "gap"+ext))
		if err != nil || !bytes.HasPrefix(data, []byte(start)) {
			t.Errorf("gap%s: %v, begins with %.40q", ext, err, data)
		}
	}
	if left, _ := filepath.Glob("out/a/.*"); len(left) > 0 {
		t.Errorf("temporary files left: %q", left)
	}
	stdout, _, code = command(t, "", "report", "gap.json", "--format", "markdown", "-o", "one.md", "--quiet")
	if one, err := os.ReadFile("one.md"); code != exitcode.OK || stdout != "" || err != nil || !bytes.HasPrefix(one, []byte("# GLM")) {
		t.Errorf("code %d, stdout %q, %v", code, stdout, err)
	}
}

func TestReportStdin(t *testing.T) {
	data, err := os.ReadFile(recordData + "minimal.json")
	if err != nil {
		t.Fatal(err)
	}
	stdout, stderr, code := command(t, string(data), "report", "-", "--format", "csv")
	if code != exitcode.OK || stderr != "" || !strings.Contains(stdout, "layout.ms_per_token,,2.471,") {
		t.Errorf("code %d, stderr %q\n%s", code, stderr, stdout)
	}
}

func TestReportRefuses(t *testing.T) {
	reportFolder(t)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"gap.json", "--format", "htlm"}, `"htlm" is no format; did you mean html`},
		{[]string{"gap.json", "--format", "docx"}, "known: text, html, pdf"},
		{[]string{"gap.json", "--format", ""}, "names no format"},
		{[]string{"gap.json", "--format", "html,md", "-o", "x"}, "-o names one file"},
		{[]string{"gap.json", "--format", "md", "--json"}, "give one of them"},
		{[]string{"gap.json", "--format", "json,md"}, "would replace the record"},
		{[]string{"missing.json"}, "missing.json"},
	} {
		stdout, stderr, code := command(t, "", append([]string{"report"}, c.args...)...)
		if code != exitcode.Usage || stdout != "" || !strings.Contains(stderr, c.want) {
			t.Errorf("%q: code %d, stdout %.40q, stderr %q; want %q", c.args, code, stdout, stderr, c.want)
		}
	}
	if files, _ := filepath.Glob("*"); len(files) != 1 {
		t.Errorf("files were written: %q", files)
	}
}

// TestReportBrowser opens the HTML report of every record: nothing may be
// requested, logged or wider than the window, and no input may become markup.
func TestReportBrowser(t *testing.T) {
	b := browsertest.Start(t)
	files, err := filepath.Glob(recordData + "*.json")
	if err != nil || len(files) < 3 {
		t.Fatalf("%d records: %v", len(files), err)
	}
	format, ok := all.ByName("html")
	if !ok {
		t.Fatal("no html format")
	}
	for _, f := range files {
		run, err := reports.ReadRun(f)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(f), ".json")
		page := filepath.Join(t.TempDir(), name+".html")
		var html bytes.Buffer
		if err := format.Render(&html, run); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(page, html.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, v := range []browsertest.View{{Width: 360}, {Width: 1440}, {Width: 1440, Dark: true}, {Width: 1440, NoScript: true}, {Width: 794, Print: true}} {
			t.Run(name+"-"+v.String(), func(t *testing.T) {
				p := b.Open(t, page, v)
				p.Screenshot(name + "-" + v.String())
				if e := p.Errors(); len(e) > 0 {
					t.Errorf("errors: %q", e)
				}
				if r := p.Requests(); len(r) > 0 {
					t.Errorf("requests: %q", r)
				}
				if n := p.Overflow(); n != 0 {
					t.Errorf("%d pixels too wide", n)
				}
				var scripts, foreign int
				p.Eval(`document.scripts.length`, &scripts)
				p.Eval(`document.querySelectorAll("img,iframe,object,embed,form,main a:not([href^='#'])").length`, &foreign)
				if scripts != 1 || foreign != 0 {
					t.Errorf("%d scripts, %d foreign elements", scripts, foreign)
				}
			})
		}
	}
}

// TestReportScript uses the page: sorting, the theme, the switches of series,
// tooltips.
func TestReportScript(t *testing.T) {
	b := browsertest.Start(t)
	run, err := reports.ReadRun(recordData + "founding.json")
	if err != nil {
		t.Fatal(err)
	}
	format, _ := all.ByName("html")
	var html bytes.Buffer
	if err := format.Render(&html, run); err != nil {
		t.Fatal(err)
	}
	page := filepath.Join(t.TempDir(), "gap.html")
	if err := os.WriteFile(page, html.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	p := b.Open(t, page, browsertest.View{Width: 1440})
	for _, c := range []struct{ name, js, want string }{
		{"sort by weights, largest first", `(() => { const t = document.getElementById("t-components").closest("table");
			t.tHead.rows[0].cells[2].querySelector("button").click(); return t.tBodies[0].rows[0].cells[0].textContent; })()`, "attention.qkv"},
		{"and smallest", `(() => { const t = document.getElementById("t-components").closest("table");
			t.tHead.rows[0].cells[2].querySelector("button").click(); return t.tBodies[0].rows[0].cells[2].textContent; })()`, "0"},
		{"the sum stays below", `document.getElementById("t-components").closest("table").tFoot.rows[0].cells[0].textContent`, "sum"},
		{"the ledger keeps its order", `String(document.getElementById("t-ledger").closest("table").querySelectorAll("button").length)`, "0"},
		{"theme", `(() => { document.getElementById("theme").click(); return getComputedStyle(document.documentElement).backgroundColor; })()`, "rgb(17, 17, 17)"},
		{"and back", `(() => { document.getElementById("theme").click(); return getComputedStyle(document.documentElement).backgroundColor; })()`, "rgb(255, 255, 255)"},
		{"a switch a series", `[...document.querySelectorAll(".keys button")].map(b => b.textContent).join()`, "flashinfer_cutlass,flashinfer_cutedsl"},
		{"switched off", `(() => { document.querySelector(".keys button").click(); return getComputedStyle(document.querySelector('g[data-id="series-0"]')).display; })()`, "none"},
		{"tooltip", `(() => { const g = document.querySelector("#waterfall g[data-title]");
			g.dispatchEvent(new PointerEvent("pointermove", {bubbles: true, clientX: 300, clientY: 300}));
			return String(!document.getElementById("tip").hidden && document.getElementById("tip").textContent.startsWith("floor")); })()`, "true"},
	} {
		var got string
		p.Eval(c.js, &got)
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	if e := p.Errors(); len(e) > 0 {
		t.Errorf("errors: %q", e)
	}
}
