package term

import (
	"fmt"
	"io"
	"sync"
)

// Progress is one line that says what goes on, rewritten in place. It is
// silent where the output is not a terminal. Its methods may be called from
// several goroutines, and on a nil Progress, which is silent too.
type Progress struct {
	mu    sync.Mutex
	w     io.Writer
	width int
	shown bool
}

// NewProgress is a progress line on w, or nil when w's screen is no terminal
// or quiet is asked.
func NewProgress(w io.Writer, screen Screen, quiet bool) *Progress {
	if quiet || !screen.TTY {
		return nil
	}
	return &Progress{w: w, width: screen.Width}
}

// Set replaces the line. Text longer than the terminal is cut with ….
func (p *Progress) Set(format string, args ...any) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	text := Truncate(Clean(fmt.Sprintf(format, args...)), p.width-1)
	fmt.Fprintf(p.w, "\r\x1b[K%s", text)
	p.shown = true
}

// Clear removes the line, before other output or at the end.
func (p *Progress) Clear() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown {
		io.WriteString(p.w, "\r\x1b[K")
		p.shown = false
	}
}
