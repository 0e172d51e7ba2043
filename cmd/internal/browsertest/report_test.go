package browsertest_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"decodegap/cmd/internal/browsertest"
	"decodegap/reports/html"
	"decodegap/reports/schema/schematest"
)

// TestReport opens the HTML report of a full record as readers do: on a phone
// and a wide screen, light and dark, and where scripts are off.
func TestReport(t *testing.T) {
	b := browsertest.Start(t)
	var page bytes.Buffer
	if err := html.Renderer.Render(&page, schematest.Run()); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "gap.html")
	if err := os.WriteFile(file, page.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, v := range []browsertest.View{
		{Width: 360}, {Width: 360, Dark: true}, {Width: 1440}, {Width: 1440, Dark: true},
		{Width: 1440, NoScript: true}, {Width: 800, Print: true},
	} {
		t.Run(v.String(), func(t *testing.T) {
			p := b.Open(t, file, v)
			p.Screenshot(v.String())
			if e := p.Errors(); len(e) > 0 {
				t.Errorf("errors: %q", e)
			}
			if r := p.Requests(); len(r) > 0 {
				t.Errorf("requests: %q", r)
			}
			if n := p.Overflow(); n > 0 {
				t.Errorf("the page is %d pixels wider than the window", n)
			}
			drawings := p.Boxes("figure svg")
			if len(drawings) == 0 {
				t.Error("no drawing")
			}
			for i, d := range drawings {
				if d.Width < 100 || d.Height < 50 {
					t.Errorf("drawing %d is %.0f × %.0f pixels", i+1, d.Width, d.Height)
				}
			}
			var title string
			p.Eval(`document.querySelector("h1").innerText`, &title)
			if title == "" {
				t.Error("no headline")
			}
		})
	}
}
