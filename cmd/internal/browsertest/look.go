package browsertest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
)

// Eval runs JavaScript in the page, waits for it if it is a promise, and
// decodes its value into out, unless out is nil. An
// exception fails the test.
func (p *Page) Eval(js string, out any) {
	p.t.Helper()
	var answer struct {
		Result struct {
			Value json.RawMessage `json:"value"`
		} `json:"result"`
		Details *exception `json:"exceptionDetails"`
	}
	p.call("Runtime.evaluate", map[string]any{
		"expression": js, "awaitPromise": true, "returnByValue": true, "userGesture": true}, &answer)
	if e := answer.Details; e != nil {
		p.t.Fatalf("browser: %s: %s %s", js, e.Text, e.Exception.Description)
	}
	if out == nil {
		return
	}
	if err := json.Unmarshal(answer.Result.Value, out); err != nil {
		p.t.Fatalf("browser: %s gave %s: %v", js, answer.Result.Value, err)
	}
}

// Overflow is by how many CSS pixels the page is wider than the window, 0 if
// a reader need not scroll sideways.
func (p *Page) Overflow() int {
	p.t.Helper()
	var n int
	p.Eval(`Math.max(0, document.documentElement.scrollWidth - document.documentElement.clientWidth)`, &n)
	return n
}

// Box is where an element stands, in CSS pixels from the page's top left.
type Box struct{ X, Y, Width, Height float64 }

// Boxes are the boxes of all elements that a CSS selector finds, in document
// order.
func (p *Page) Boxes(selector string) []Box {
	p.t.Helper()
	var boxes []Box
	p.Eval(`[...document.querySelectorAll(`+strconv.Quote(selector)+`)].map(e => {
		const r = e.getBoundingClientRect();
		return {X: r.x + scrollX, Y: r.y + scrollY, Width: r.width, Height: r.height};
	})`, &boxes)
	return boxes
}

// Screenshot saves the whole page as name.png among the test's artifacts (see
// go test -artifacts) and returns the file's path.
func (p *Page) Screenshot(name string) string {
	p.t.Helper()
	var size struct {
		Content struct{ Width, Height float64 } `json:"cssContentSize"`
	}
	p.call("Page.getLayoutMetrics", nil, &size)
	var shot struct {
		Data []byte `json:"data"`
	}
	p.call("Page.captureScreenshot", map[string]any{
		"format": "png", "captureBeyondViewport": true,
		// A page of more than 16,384 pixels is past what one picture can hold.
		"clip": map[string]any{"x": 0, "y": 0, "width": size.Content.Width,
			"height": min(size.Content.Height, 16000), "scale": 1},
	}, &shot)
	path := filepath.Join(p.t.ArtifactDir(), name+".png")
	if err := os.WriteFile(path, shot.Data, 0o644); err != nil {
		p.t.Fatal(err)
	}
	return path
}
