package browsertest

import (
	"bytes"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const pages = "../../../testdata/browser"

func TestCleanPage(t *testing.T) {
	b := Start(t)
	for _, c := range []struct {
		view             View
		told, background string
	}{
		{View{Width: 360}, "a script ran", "rgb(255, 255, 255)"},
		{View{Width: 360, Dark: true}, "a script ran", "rgb(17, 17, 17)"},
		{View{Width: 1440}, "a script ran", "rgb(255, 255, 255)"},
		{View{Width: 1440, Dark: true, NoScript: true}, "no script ran", "rgb(17, 17, 17)"},
	} {
		t.Run(c.view.String(), func(t *testing.T) {
			p := b.Open(t, filepath.Join(pages, "clean.html"), c.view)
			if e := p.Errors(); len(e) > 0 {
				t.Errorf("errors: %q", e)
			}
			if r := p.Requests(); len(r) > 0 {
				t.Errorf("requests: %q", r)
			}
			if n := p.Overflow(); n != 0 {
				t.Errorf("%d pixels too wide", n)
			}
			want := Box{Width: float64(c.view.Width), Height: 100}
			if boxes := p.Boxes("figure > svg"); len(boxes) != 1 || boxes[0].Width != want.Width || boxes[0].Height != want.Height {
				t.Errorf("boxes %v, want one of %v", boxes, want)
			}
			var told, background string
			p.Eval(`document.getElementById("told").textContent`, &told)
			p.Eval(`Promise.resolve(getComputedStyle(document.body).backgroundColor)`, &background)
			if told != c.told || background != c.background {
				t.Errorf("the page says %q on %s, want %q on %s", told, background, c.told, c.background)
			}
			shot, err := os.ReadFile(p.Screenshot(c.view.String()))
			if err != nil {
				t.Fatal(err)
			}
			picture, err := png.DecodeConfig(bytes.NewReader(shot))
			if err != nil || picture.Width != c.view.Width {
				t.Errorf("screenshot %d wide (%v), want %d", picture.Width, err, c.view.Width)
			}
		})
	}
}

func TestFaultyPage(t *testing.T) {
	p := Start(t).Open(t, filepath.Join(pages, "faulty.html"), View{Width: 1440})
	errors, requests := strings.Join(p.Errors(), "\n"), strings.Join(p.Requests(), "\n")
	for _, want := range []string{"said by console.error 7", "thrown by a script", "picture.invalid", "missing.css"} {
		if !strings.Contains(errors, want) {
			t.Errorf("no error with %q in\n%s", want, errors)
		}
	}
	for _, want := range []string{"http://picture.invalid/a.png", "/missing.css", "ws://socket.invalid/", "http://fetch.invalid/"} {
		if !strings.Contains(requests, want) {
			t.Errorf("no request for %s in\n%s", want, requests)
		}
	}
	if p.Overflow() < 500 {
		t.Errorf("a page of 2,000 pixels in a window of 1,440 overflows by %d", p.Overflow())
	}
}
