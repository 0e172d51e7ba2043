package canvas

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Annotator is what a canvas may add to drawing: everything between Begin and
// End belongs together, has a name for scripts (id) and a line of explanation
// for people (title). Plotters must draw the same without it.
type Annotator interface {
	Begin(id, title string)
	End()
}

// Annotate begins a group if the canvas under c is an Annotator and returns
// what ends it. plot wraps canvases in draw.Canvas, several deep.
func Annotate(c vg.Canvas, id, title string) (end func()) {
	for {
		switch under := c.(type) {
		case Annotator:
			under.Begin(id, title)
			return under.End
		case draw.Canvas:
			c = under.Canvas
		case *draw.Canvas:
			c = under.Canvas
		default:
			return func() {}
		}
	}
}
