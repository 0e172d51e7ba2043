// Package browsertest opens an HTML file in headless Chromium, for tests that
// check what a reader would see: errors, requests, boxes, a screenshot. It
// refuses the network: a page that asks for anything but itself gets nothing,
// and the test is told. Only tests may import it.
package browsertest

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// deadline bounds each command to the browser, its start included: a first
// start on a busy machine takes tens of seconds.
const deadline = 60 * time.Second

// Browser is a running Chromium; it ends with the test.
type Browser struct {
	pipe *pipe

	mu    sync.Mutex
	pages map[string]*Page // by session
}

// Start runs Chromium for t. Where there is none the test is skipped, unless
// CI is "true" or DECODEGAP_REQUIRE_BROWSER is "1": then it fails.
func Start(t testing.TB) *Browser {
	t.Helper()
	program := find()
	if program == "" {
		const missing = "no chromium, chromium-browser or google-chrome on PATH (Debian: apt-get install chromium)"
		if os.Getenv("CI") == "true" || os.Getenv("DECODEGAP_REQUIRE_BROWSER") == "1" {
			t.Fatal(missing)
		}
		t.Skip(missing)
	}
	// Not t.TempDir: Chromium's helpers may still write while they end, and a
	// folder that cannot be removed must not fail the test.
	home, err := os.MkdirTemp("", "browsertest")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	b := &Browser{pages: map[string]*Page{}}
	b.launch(t, program, home)
	return b
}

func find() string {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// flags keep Chromium quiet, without a sandbox (tests run as root in
// containers) and without a way to any host.
func flags(home string) []string {
	return []string{
		"--headless=new", "--remote-debugging-pipe", "--user-data-dir=" + filepath.Join(home, "profile"),
		"--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--mute-audio",
		"--no-first-run", "--no-default-browser-check", "--disable-extensions", "--disable-breakpad",
		"--disable-quic", "--disable-background-networking", "--disable-component-update", "--disable-sync",
		"--disable-default-apps", "--host-resolver-rules=MAP * ~NOTFOUND", "about:blank",
	}
}

func (b *Browser) launch(t testing.TB, program, home string) {
	t.Helper()
	theirIn, ourOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ourIn, theirOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	cmd := exec.Command(program, flags(home)...)
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_CACHE_HOME="+home)
	cmd.ExtraFiles = []*os.File{theirIn, theirOut} // file descriptors 3 and 4
	cmd.Stderr = &said
	cmd.WaitDelay = 5 * time.Second // helpers may hold stderr open
	if err := cmd.Start(); err != nil {
		t.Fatalf("cannot start %s: %v", program, err)
	}
	theirIn.Close()
	theirOut.Close()
	b.pipe = newPipe(ourOut, b.event)
	go b.pipe.read(ourIn)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		b.pipe.call(ctx, "", "Browser.close", nil, nil) // best effort: it is killed below if it stays
		cancel()
		ourOut.Close()
		kill := time.AfterFunc(10*time.Second, func() { cmd.Process.Kill() })
		cmd.Wait()
		kill.Stop()
		ourIn.Close()
		if t.Failed() {
			t.Logf("%s said:\n%s", program, telling(said.String()))
		}
	})
}

// event routes what a page says to that page.
func (b *Browser) event(m message) {
	b.mu.Lock()
	page := b.pages[m.Session]
	b.mu.Unlock()
	if page != nil {
		page.event(m)
	}
}

// call fails the test when the browser does not do as told.
func (b *Browser) call(t testing.TB, session, method string, params map[string]any, out any) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	if err := b.pipe.call(ctx, session, method, params, out); err != nil {
		t.Fatalf("browser: %v", err)
	}
}

// attach opens an empty page and returns its session.
func (b *Browser) attach(t testing.TB) string {
	t.Helper()
	var target struct {
		ID string `json:"targetId"`
	}
	b.call(t, "", "Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct {
		Session string `json:"sessionId"`
	}
	b.call(t, "", "Target.attachToTarget", map[string]any{"targetId": target.ID, "flatten": true}, &attached)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), deadline)
		defer cancel()
		b.pipe.call(ctx, "", "Target.closeTarget", map[string]any{"targetId": target.ID}, nil) // or it ends with the browser
	})
	return attached.Session
}

// decode reads an event's parameters; an event of another shape than expected
// is left empty.
func decode[T any](m message) (v T) {
	_ = json.Unmarshal(m.Params, &v)
	return v
}

// telling drops the complaints of a Chromium without a desktop around it.
func telling(said string) string {
	var kept []string
	for line := range strings.Lines(said) {
		if !strings.Contains(line, "ERROR:dbus/") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}
