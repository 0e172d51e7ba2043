package browsertest

import (
	"fmt"
	"net/url"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// View is how a page is looked at.
type View struct {
	Width, Height int  // CSS pixels; Height 0: 900. Below 600 wide it is a phone
	Dark          bool // prefers-color-scheme
	Print         bool // the print style sheet
	NoScript      bool // the page loads as where scripts are switched off
}

func (v View) String() string {
	s := fmt.Sprintf("%d-light", v.Width)
	if v.Dark {
		s = fmt.Sprintf("%d-dark", v.Width)
	}
	if v.Print {
		s += "-print"
	}
	if v.NoScript {
		s += "-noscript"
	}
	return s
}

// Page is an open file.
type Page struct {
	t       testing.TB
	b       *Browser
	session string
	url     string
	loaded  chan struct{}

	mu       sync.Mutex
	errors   []string
	requests []string
}

// Open shows file in a new page and waits until it has loaded, its fonts are
// there and two frames are drawn. Faults of the browser fail t, which may be a
// subtest of Start's.
func (b *Browser) Open(t testing.TB, file string, v View) *Page {
	t.Helper()
	path, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	p := &Page{t: t, b: b, session: b.attach(t), loaded: make(chan struct{}, 1)}
	p.url = (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String()
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		p.call(domain+".enable", nil, nil)
	}
	p.look(v)
	b.mu.Lock()
	b.pages[p.session] = p
	b.mu.Unlock()

	var moved struct {
		Error string `json:"errorText"`
	}
	p.call("Page.navigate", map[string]any{"url": p.url}, &moved)
	if moved.Error != "" {
		t.Fatalf("browser: cannot open %s: %s", file, moved.Error)
	}
	select {
	case <-p.loaded:
	case <-time.After(deadline):
		t.Fatalf("browser: %s has not loaded after %v", file, deadline)
	}
	// Promises and frames need scripts; the page's own have had their chance.
	p.call("Emulation.setScriptExecutionDisabled", map[string]any{"value": false}, nil)
	var ready bool
	p.Eval(`document.fonts.ready.then(() => new Promise(done =>
		requestAnimationFrame(() => requestAnimationFrame(() => done(true)))))`, &ready)
	return p
}

func (p *Page) look(v View) {
	height, scheme, media := v.Height, "light", ""
	if height == 0 {
		height = 900
	}
	if v.Dark {
		scheme = "dark"
	}
	if v.Print {
		media = "print"
	}
	p.call("Emulation.setDeviceMetricsOverride", map[string]any{
		"width": v.Width, "height": height, "deviceScaleFactor": 1, "mobile": v.Width < 600}, nil)
	p.call("Emulation.setEmulatedMedia", map[string]any{
		"media": media, "features": []any{map[string]any{"name": "prefers-color-scheme", "value": scheme}}}, nil)
	p.call("Emulation.setScriptExecutionDisabled", map[string]any{"value": v.NoScript}, nil)
}

func (p *Page) call(method string, params map[string]any, out any) {
	p.t.Helper()
	p.b.call(p.t, p.session, method, params, out)
}

// event notes what the page did wrong.
func (p *Page) event(m message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch m.Method {
	case "Page.loadEventFired":
		select {
		case p.loaded <- struct{}{}:
		default:
		}
	case "Runtime.exceptionThrown":
		e := decode[thrown](m).Details
		p.errors = append(p.errors, fmt.Sprintf("%d:%d: %s %s", e.Line+1, e.Column+1, e.Text, e.Exception.Description))
	case "Runtime.consoleAPICalled":
		if e := decode[logged](m); e.Type == "error" || e.Type == "assert" {
			p.errors = append(p.errors, "console."+e.Type+": "+e.text())
		}
	case "Log.entryAdded":
		if e := decode[entry](m).Entry; e.Level == "error" {
			p.errors = append(p.errors, fmt.Sprintf("%s: %s %s", e.Source, e.Text, e.URL))
		}
	case "Network.requestWillBeSent":
		if u := decode[request](m).Request.URL; u != p.url && !inline(u) {
			p.requests = append(p.requests, u)
		}
	case "Network.webSocketCreated":
		p.requests = append(p.requests, decode[socket](m).URL)
	}
}

// inline says whether a URL holds its own data: no request leaves the page.
func inline(u string) bool {
	parsed, err := url.Parse(u)
	return err == nil && (parsed.Scheme == "data" || parsed.Scheme == "blob" || u == "about:blank")
}

// Errors are uncaught exceptions, console errors and what the browser itself
// logged as an error (a blocked style sheet, a failed load), so far.
func (p *Page) Errors() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.errors...)
}

// Requests are the URLs the page asked for, itself and inline data aside, so
// far. None was answered from a network.
func (p *Page) Requests() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.requests...)
}
