// Package term prints for people: aligned tables that fit the terminal, colour
// where it is wanted, one progress line. It refuses to let text from inputs
// reach the terminal unclean, to cut a number short, and to write escape
// sequences into anything that is not a terminal.
package term

import (
	"io"
	"os"
	"strconv"

	xterm "golang.org/x/term"
)

// DefaultWidth is the width in cells where none is known, as for a pipe.
const DefaultWidth = 80

// Screen is what an output can show.
type Screen struct {
	Width  int  // cells
	TTY    bool // a terminal, not a file or pipe
	Colour bool
}

// Of looks at w. The width is DECODEGAP_WIDTH, else COLUMNS, else the
// terminal's, else DefaultWidth; a value that is no number from 20 to 1000 is
// passed over. Colour needs a terminal that is not "dumb", and no NO_COLOR
// (no-color.org). getenv is os.Getenv outside tests.
func Of(w io.Writer, getenv func(string) string) Screen {
	s := Screen{Width: DefaultWidth}
	if f, ok := w.(*os.File); ok && xterm.IsTerminal(int(f.Fd())) {
		s.TTY = true
		if n, _, err := xterm.GetSize(int(f.Fd())); err == nil && usable(n) {
			s.Width = n
		}
	}
	s.Colour = s.TTY && getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
	for _, name := range []string{"DECODEGAP_WIDTH", "COLUMNS"} {
		if n, err := strconv.Atoi(getenv(name)); err == nil && usable(n) {
			s.Width = n
			break
		}
	}
	return s
}

func usable(width int) bool { return width >= 20 && width <= 1000 }

// Style is how a word is set off where there is colour.
type Style string

// The styles. Red and green never stand alone: the text must say it too.
const (
	Plain  Style = ""
	Bold   Style = "1"
	Dim    Style = "2"
	Red    Style = "31"
	Green  Style = "32"
	Yellow Style = "33"
)

// Paint sets text in style on a screen with colour and returns it unchanged on
// any other. The text must be clean already.
func (s Screen) Paint(style Style, text string) string {
	if !s.Colour || style == Plain || text == "" {
		return text
	}
	return "\x1b[" + string(style) + "m" + text + "\x1b[0m"
}
