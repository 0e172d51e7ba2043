// Package pdf prints a run record as an A4 document with drawings as vectors,
// embedded fonts, an outline and links. It refuses dates and random
// identifiers: the same record gives the same bytes.
package pdf

import (
	"fmt"
	"io"
	"time"

	"codeberg.org/go-pdf/fpdf"

	"decodegap/reports"
	"decodegap/reports/canvas"
	"decodegap/reports/figures"
)

// Renderer is the PDF format.
var Renderer = reports.Renderer{
	Name: "pdf", Ext: ".pdf",
	Doc:    "an A4 document to forward and to print",
	Render: Render,
}

// Render writes the document. It is laid out twice: the first time finds the
// pages that the second prints in its contents. The error is w's or fpdf's.
func Render(w io.Writer, run *reports.Run) error {
	safe, err := canvas.PDFText()
	if err != nil {
		return fmt.Errorf("cannot read the embedded font: %w", err)
	}
	page := reports.Compose(run)
	found := newPrinter(run, page, safe, nil)
	found.print()
	p := newPrinter(run, page, safe, found)
	p.print()
	if err := p.doc.Error(); err != nil {
		return fmt.Errorf("cannot lay out the PDF: %w", err)
	}
	if err := p.doc.Output(w); err != nil {
		return fmt.Errorf("cannot write the PDF: %w", err)
	}
	return nil
}

// printer lays a page out from top to bottom; lengths are points.
type printer struct {
	doc  *fpdf.Fpdf
	run  *reports.Run
	page *reports.Page
	safe func(string) string
	y    float64

	links  map[string]int // of sections, by id
	starts map[string]int // the page a section starts on
	pages  int
	before *printer // what an earlier layout found; nil the first time
}

// The sheet, in points.
const (
	sheetWidth  = 595.28
	sheetHeight = 841.89
	margin      = 50
	width       = sheetWidth - 2*margin
	top         = 52
	bottom      = sheetHeight - 60
)

// made stands for the time of making: a document is a function of its record.
var made = time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)

func newPrinter(run *reports.Run, page *reports.Page, safe func(string) string, before *printer) *printer {
	doc := fpdf.New("P", "pt", "A4", "")
	doc.SetCatalogSort(true)
	doc.SetCreationDate(made)
	doc.SetModificationDate(made)
	doc.SetAutoPageBreak(false, 0)
	doc.SetMargins(margin, top, margin)
	doc.SetLang("en")
	canvas.Fonts(doc)
	doc.SetTitle(safe(page.Headline.Number+" · "+page.Title.Line()), true)
	doc.SetCreator("decodegap", true)
	p := &printer{doc: doc, run: run, page: page, safe: safe, before: before, links: map[string]int{}, starts: map[string]int{}}
	for _, s := range page.Sections {
		p.links[s.ID] = doc.AddLink()
	}
	doc.SetFooterFunc(p.footer)
	return p
}

func (p *printer) print() {
	p.newPage()
	p.head()
	for i, s := range p.page.Sections {
		if !s.First && (i == 0 || p.page.Sections[i-1].First) {
			p.contents()
		}
		p.section(s)
	}
	p.pages = p.doc.PageCount()
}

func (p *printer) newPage() {
	p.doc.AddPage()
	p.y = top
}

// need starts a new page where fewer than h points are left.
func (p *printer) need(h float64) {
	if p.y+h > bottom && p.y > top {
		p.newPage()
	}
}

func (p *printer) footer() {
	y := float64(sheetHeight - 30)
	p.rule(margin, y-14, width, canvas.Grid, 0.5)
	of := ""
	if p.before != nil {
		of = fmt.Sprintf(" of %d", p.before.pages)
	}
	number := fmt.Sprintf("page %d%s", p.doc.PageNo(), of)
	p.style(small, muted)
	p.put(margin, y, p.fit("decodegap · "+p.page.Title.Model, width-90))
	p.putRight(margin+width, y, number)
}

// section prints a section; its heading stays with what follows.
func (p *printer) section(s reports.Section) {
	p.y += 26
	p.need(50 + p.least(s.Blocks))
	p.starts[s.ID] = p.doc.PageNo()
	p.doc.SetLink(p.links[s.ID], p.y-14, p.doc.PageNo())
	p.rule(margin, p.y-8, width, canvas.Fg, 0.8)
	p.style(heading, strong)
	p.doc.Bookmark(p.safe(s.Title), 0, p.y-14)
	p.y += heading.size * 0.9
	p.put(margin, p.y, s.Title)
	p.y += 12
	for i, b := range s.Blocks {
		if i > 0 {
			p.y += 10
		}
		if _, ok := b.(reports.Heading); ok {
			p.y += 8
			p.need(24 + p.least(s.Blocks[i+1:]))
		}
		p.block(b)
	}
}

// least is the height that the first block of some needs to start: a heading
// above it must not be left behind.
func (p *printer) least(blocks []reports.Block) float64 {
	if len(blocks) == 0 {
		return 0
	}
	switch b := blocks[0].(type) {
	case *reports.Table:
		columns := make([]int, len(b.Columns))
		for i := range columns {
			columns[i] = i
		}
		return min(p.height(b, p.grid(b, columns)), together)
	case reports.Ladder, reports.Figure:
		if f := figures.Of(p.run, b); f != nil {
			_, h := figureSize(f)
			return h + small.lead + 6
		}
	case reports.List:
		return 2 * body.lead
	}
	return body.lead
}

func (p *printer) block(b reports.Block) {
	switch b := b.(type) {
	case reports.Paragraph:
		p.paragraph(string(b), body, plain)
	case reports.Heading:
		p.style(body, strong)
		p.doc.Bookmark(p.safe(b.Title), 1, p.y-10)
		p.paragraph(b.Title, body, strong)
	case reports.List:
		p.list(b)
	case *reports.Table:
		p.table(b)
	default:
		p.figure(b)
	}
}

// contents lists the sections behind the first page, with links.
func (p *printer) contents() {
	var rest []reports.Section
	for _, s := range p.page.Sections {
		if !s.First {
			rest = append(rest, s)
		}
	}
	const line = 14.5
	p.y += 26
	p.need(line*float64(len(rest)) + 30)
	p.rule(margin, p.y-8, width, canvas.Fg, 0.8)
	p.style(heading, strong)
	p.y += heading.size * 0.9
	p.put(margin, p.y, "In this report")
	p.y += 6
	for _, s := range rest {
		p.y += line
		p.style(body, plain)
		p.put(margin, p.y, s.Title)
		if p.before != nil {
			p.style(body, muted)
			p.putRight(margin+width, p.y, fmt.Sprint(p.before.starts[s.ID]))
		}
		p.doc.Link(margin, p.y-10, width, line, p.links[s.ID])
	}
	p.y += 6
}
