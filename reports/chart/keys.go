package chart

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"decodegap/reports/canvas"
)

// Key is one entry of a legend: what the plot draws, small, and its name.
type Key struct {
	Ink   canvas.Ink
	Line  []vg.Length      // dashes of a line; nil none, empty a solid line
	Glyph draw.GlyphDrawer // nil none
	Block bool             // a filled square, as for bars
	Hatch bool             // the square is hatched
	Alpha float64          // how thinly the ink is laid on, 0 for the ink itself
	Text  string
}

const (
	keyHeight vg.Length = 19
	keySample vg.Length = 26
	keyGap    vg.Length = 18
)

// keyLayout says how many columns of which width hold the keys.
func keyLayout(keys []Key, width vg.Length) (columns int, each vg.Length) {
	sty := normal(canvas.Fg)
	for _, k := range keys {
		each = max(each, sty.Width(canvas.Printable(k.Text)))
	}
	each = min(each+keySample+keyGap, width)
	return max(1, min(len(keys), int(width/each))), each
}

// keysHeight is the height that drawKeys will take.
func keysHeight(keys []Key, width vg.Length) vg.Length {
	if len(keys) == 0 {
		return 0
	}
	columns, _ := keyLayout(keys, width)
	return vg.Length((len(keys)+columns-1)/columns)*keyHeight + 10
}

// drawKeys draws the legend along the upper edge of c, in aligned columns, and
// returns the height it took.
func drawKeys(c draw.Canvas, keys []Key) vg.Length {
	if len(keys) == 0 {
		return 0
	}
	width := c.Max.X - c.Min.X
	columns, each := keyLayout(keys, width)
	sty := normal(canvas.Fg)
	for i, k := range keys {
		x := c.Min.X + vg.Length(i%columns)*each
		y := c.Max.Y - vg.Length(i/columns)*keyHeight - keyHeight/2
		k.draw(c, vg.Point{X: x, Y: y})
		drawText(c, sty, vg.Point{X: x + keySample, Y: y}, fit(sty, k.Text, each-keySample-keyGap/2))
	}
	return keysHeight(keys, width)
}

func (k Key) draw(c draw.Canvas, at vg.Point) {
	if k.Block {
		r := vg.Rectangle{Min: vg.Point{X: at.X + 4, Y: at.Y - 6}, Max: vg.Point{X: at.X + 18, Y: at.Y + 6}}
		if k.Alpha > 0 && !k.Hatch {
			c.SetColor(canvas.Tint{Ink: k.Ink, Alpha: k.Alpha})
			c.Fill(r.Path())
		} else {
			fillBar(c, r, k.Ink, k.Hatch)
		}
	}
	if k.Line != nil {
		c.StrokeLine2(draw.LineStyle{Color: k.Ink, Width: 2, Dashes: k.Line}, at.X, at.Y, at.X+20, at.Y)
	}
	if k.Glyph != nil {
		c.DrawGlyphNoClip(draw.GlyphStyle{Color: k.Ink, Radius: 4, Shape: k.Glyph}, vg.Point{X: at.X + 10, Y: at.Y})
	}
}
