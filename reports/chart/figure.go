package chart

import (
	"fmt"

	"codeberg.org/go-pdf/fpdf"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"decodegap/reports"
	"decodegap/reports/canvas"
)

// designWidth is the width all figures are laid out for, in points: text of 12
// points stays readable when a page shows the figure at 560 pixels, and prints
// at 9 points across a sheet of A4.
const designWidth vg.Length = 680

// Figure is one drawing with its words. Title and Alt are not drawn: the page
// sets the title, and a screen reader reads both.
type Figure struct {
	ID            string // unique in the run, fit for a URL fragment
	Title         string // one line
	Alt           string // what the figure shows, with its main figures
	Width, Height vg.Length
	Plot          *plot.Plot
	Keys          []Key  // the legend, above the plot
	XName, YName  string // of the axes: below it, and above its upper end
	Note          string // one line below the plot
}

// Draw draws legend, plot and note into c.
func (f *Figure) Draw(c draw.Canvas) {
	c = draw.Crop(c, 4, -4, 4, -4)
	if f.Note != "" {
		sty := small(canvas.Muted)
		drawText(c, sty, vg.Point{X: c.Min.X, Y: c.Min.Y + 5}, fit(sty, f.Note, c.Max.X-c.Min.X))
		c.Min.Y += noteHeight
	}
	c.Max.Y -= drawKeys(c, f.Keys)
	// plot places axis names by the middle of the values, which on a
	// logarithmic axis is far from the middle of the axis: they are set here.
	sty := normal(canvas.Muted)
	if f.YName != "" {
		drawText(c, sty, vg.Point{X: c.Min.X, Y: c.Max.Y - 8}, f.YName)
		c.Max.Y -= nameHeight + 4
	}
	if f.XName != "" {
		c.Min.Y += nameHeight
		data := f.Plot.DataCanvas(c)
		drawText(c, center(sty), vg.Point{X: data.Center().X, Y: c.Min.Y - nameHeight + 9}, f.XName)
	}
	f.Plot.Draw(c)
}

const (
	noteHeight vg.Length = 20
	nameHeight vg.Length = 18 // of an axis
)

// SVG is the figure as an inline <svg> element.
func (f *Figure) SVG() (string, error) {
	if err := f.check(); err != nil {
		return "", err
	}
	s := canvas.NewSVG(f.Width, f.Height, "fig-"+f.ID, f.Title, f.Alt)
	f.Draw(draw.New(s))
	return s.String(), nil
}

// DrawPDF draws the figure on the document's current page, its upper left
// corner at (x, y) and w wide, and returns its height; all in the document's
// unit. canvas.Fonts must have been called.
func (f *Figure) DrawPDF(doc *fpdf.Fpdf, x, y, w float64) (height float64, err error) {
	if err := f.check(); err != nil {
		return 0, err
	}
	p := canvas.NewPDF(doc, x, y, w, vg.Point{X: f.Width, Y: f.Height})
	f.Draw(draw.New(p))
	p.Close()
	if err := doc.Error(); err != nil {
		return 0, fmt.Errorf("draw figure %q: %w", f.ID, err)
	}
	return w * float64(f.Height/f.Width), nil
}

func (f *Figure) check() error {
	if f.Plot == nil || f.Width <= 0 || f.Height <= 0 {
		return fmt.Errorf("draw figure %q: it has no plot or no size; make it with a builder of this package", f.ID)
	}
	return nil
}

// For gives every figure that the run has data for, in reading order, of the
// point that Primary names.
func For(run *reports.Run) []Figure {
	var out []Figure
	point := Primary(run)
	for _, build := range []func() (*Figure, error){
		func() (*Figure, error) { return Waterfall(run, point) },
		func() (*Figure, error) { return Timeline(run, point) },
		func() (*Figure, error) { return Roofline(run, point) },
		func() (*Figure, error) { return Throughput(run) },
		func() (*Figure, error) { return Components(run, point) },
	} {
		if f, err := build(); err == nil && f != nil {
			out = append(out, *f)
		}
	}
	return out
}

// Primary is the index of the point that figures are about unless told
// otherwise: the first with a ledger, else the first.
func Primary(run *reports.Run) int {
	for i := range run.Points {
		if run.Points[i].Ledger != nil {
			return i
		}
	}
	return 0
}

// pointOf is the run's point, or an error that says how many there are.
func pointOf(run *reports.Run, point int) (*reports.RunPoint, error) {
	if point < 0 || point >= len(run.Points) {
		return nil, fmt.Errorf("figure of point %d: the run has %d points", point, len(run.Points))
	}
	return &run.Points[point], nil
}

// idOf keeps the figures of several points apart.
func idOf(name string, run *reports.Run, point int) string {
	if point == Primary(run) {
		return name
	}
	return fmt.Sprintf("%s-%d", name, point)
}
