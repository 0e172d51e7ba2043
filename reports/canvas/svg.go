package canvas

import (
	"fmt"
	"image"
	"image/color"
	"strings"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// families is the font stack of the fragment: all metric-compatible with the
// Liberation fonts that plots are laid out with.
const (
	families     = "'Liberation Sans',Arial,Helvetica,sans-serif"
	monoFamilies = "'Liberation Mono','Courier New',monospace"
)

// SVG is a vg.Canvas that writes one inline <svg> element. One unit is one
// point of the design size; the page scales it.
type SVG struct {
	pens
	size   vg.Point
	head   string
	body   strings.Builder
	groups int
}

var (
	_ vg.CanvasSizer = (*SVG)(nil)
	_ Annotator      = (*SVG)(nil)
)

// NewSVG starts a fragment of the given design size. id must be unique on the
// page; title and desc are what a screen reader says.
func NewSVG(w, h vg.Length, id, title, desc string) *SVG {
	s := &SVG{size: vg.Point{X: w, Y: h}}
	s.pens = newPens(matrix{a: 1, d: -1, f: float64(h)})
	id = escape(id)
	s.head = fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" class="figure" id="%[1]s" width="%[2]s" height="%[3]s" viewBox="0 0 %[2]s %[3]s" `+
		`role="img" aria-labelledby="%[1]s-title %[1]s-desc" font-family="%[4]s" fill="none" stroke-linejoin="round">`+"\n"+
		`<title id="%[1]s-title">%[5]s</title>`+"\n"+`<desc id="%[1]s-desc">%[6]s</desc>`+"\n",
		id, number(float64(w)), number(float64(h)), families, escape(title), escape(desc))
	return s
}

// Size is the design size.
func (s *SVG) Size() (w, h vg.Length) { return s.size.X, s.size.Y }

// String is the fragment drawn so far, with every open group closed.
func (s *SVG) String() string {
	return s.head + s.body.String() + strings.Repeat("</g>", s.groups) + "</svg>\n"
}

// Begin opens a group; browsers show title when the pointer rests on it.
func (s *SVG) Begin(id, title string) {
	s.groups++
	fmt.Fprintf(&s.body, `<g data-id="%s" data-title="%s"><title>%[2]s</title>`+"\n", escape(id), escape(title))
}

// End closes the group that the last Begin opened.
func (s *SVG) End() {
	if s.groups > 0 {
		s.groups--
		s.body.WriteString("</g>\n")
	}
}

// Stroke draws along the path.
func (s *SVG) Stroke(p vg.Path) {
	if s.now.width <= 0 || len(p) == 0 {
		return
	}
	scale := s.now.at.scale()
	fmt.Fprintf(&s.body, `<path d="%s"%s stroke-width="%s"`,
		pathData(p, s.now.at), paint("stroke", s.now.color), number(float64(s.now.width)*scale))
	if len(s.now.dashes) > 0 {
		list := make([]string, len(s.now.dashes))
		for i, d := range s.now.dashes {
			list[i] = number(float64(d) * scale)
		}
		fmt.Fprintf(&s.body, ` stroke-dasharray="%s"`, strings.Join(list, " "))
		if s.now.offset != 0 {
			fmt.Fprintf(&s.body, ` stroke-dashoffset="%s"`, number(float64(s.now.offset)*scale))
		}
	}
	s.body.WriteString("/>\n")
}

// Fill fills the path.
func (s *SVG) Fill(p vg.Path) {
	if len(p) > 0 {
		fmt.Fprintf(&s.body, `<path d="%s"%s/>`+"\n", pathData(p, s.now.at), paint("fill", s.now.color))
	}
}

// FillString writes text with its baseline's left end at pt.
func (s *SVG) FillString(f font.Face, pt vg.Point, text string) {
	text = escape(text)
	if f.Font.Size <= 0 || strings.TrimSpace(text) == "" {
		return
	}
	m, size := s.now.at, float64(f.Font.Size)
	x, y := m.apply(pt)
	if m.upright() {
		fmt.Fprintf(&s.body, `<text x="%s" y="%s"`, number(x), number(y))
		size *= m.a
	} else {
		fmt.Fprintf(&s.body, `<text transform="matrix(%s %s %s %s %s %s)"`,
			ratio(m.a), ratio(m.b), ratio(-m.c), ratio(-m.d), number(x), number(y))
	}
	fmt.Fprintf(&s.body, ` font-size="%s"`, number(size))
	if f.Font.Weight >= xfont.WeightSemiBold {
		s.body.WriteString(` font-weight="700"`)
	}
	if f.Font.Style == xfont.StyleItalic {
		s.body.WriteString(` font-style="italic"`)
	}
	if f.Font.Variant == "Mono" {
		s.body.WriteString(` font-family="` + monoFamilies + `"`)
	}
	s.body.WriteString(paint("fill", s.now.color) + ">" + text + "</text>\n")
}

// DrawImage draws nothing: a report holds no raster.
func (s *SVG) DrawImage(vg.Rectangle, image.Image) {}

// paint is the attribute that sets fill or stroke. Inks become CSS variables,
// with the light value for viewers that know none.
func paint(attribute string, c color.Color) string {
	switch c := c.(type) {
	case Ink:
		return fmt.Sprintf(` %s="%s"`, attribute, variable(c))
	case Tint:
		return fmt.Sprintf(` %s="%s" %[1]s-opacity="%[3]s"`, attribute, variable(c.Ink), number(c.Alpha))
	}
	n := color.NRGBAModel.Convert(c).(color.NRGBA)
	out := fmt.Sprintf(` %s="#%02x%02x%02x"`, attribute, n.R, n.G, n.B)
	if n.A < 255 {
		out += fmt.Sprintf(` %s-opacity="%s"`, attribute, number(float64(n.A)/255))
	}
	return out
}

func variable(i Ink) string { return "var(" + i.Var() + "," + i.Hex(false) + ")" }

// escape makes text safe in XML content and in quoted attributes.
func escape(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;").Replace(Printable(s))
}
