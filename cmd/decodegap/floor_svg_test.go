package main

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"decodegap/reports"
)

// sweepDocument is a document of the given GPU counts at batch 1 and 8.
func sweepDocument(tps ...int) *reports.FloorDocument {
	doc := &reports.FloorDocument{Model: reports.Model{Name: "made-up <8b>\x1b[2J"}, Hardware: reports.Hardware{Name: "GPU & Co"}}
	for _, tp := range tps {
		for _, batch := range []int{1, 8} {
			doc.Points = append(doc.Points, reports.FloorPoint{Operating: reports.Operating{Batch: batch, TP: tp, DP: 1, PP: 1,
				Floors: []reports.Floor{{Kind: "layout", Basis: "sheet", MsPerToken: float64(8+batch) / float64(tp)}}}})
		}
	}
	return doc
}

// TestFloorSVG: the file is well-formed by itself, says whose floor it is, and
// brings its colours for either theme.
func TestFloorSVG(t *testing.T) {
	for heading, doc := range map[string]*reports.FloorDocument{
		"made-up <8b>�[2J on 4 × GPU & Co: floor of a decode step": sweepDocument(4),
		"made-up <8b>�[2J on GPU & Co: floor of a decode step":     sweepDocument(4, 8),
	} {
		var b strings.Builder
		if err := writeFloorSVG(&b, doc); err != nil {
			t.Fatal(err)
		}
		svg := b.String()
		if !strings.HasPrefix(svg, `<?xml version="1.0" encoding="UTF-8"?>`+"\n<svg ") || !strings.HasSuffix(svg, "</svg>\n") {
			t.Errorf("no XML header, or no end: %.80q", svg)
		}
		if strings.ContainsAny(svg, "\x1b") || strings.Contains(svg, `"var(`) {
			t.Error("a control character, or an attribute that only browsers read")
		}
		texts, style := map[string]int{}, ""
		in := ""
		d := xml.NewDecoder(strings.NewReader(svg))
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("not well-formed: %v", err)
			}
			switch token := token.(type) {
			case xml.StartElement:
				in = token.Name.Local
				if token.Name.Space != "http://www.w3.org/2000/svg" {
					t.Errorf("<%s> is of %q", in, token.Name.Space)
				}
			case xml.EndElement:
				in = ""
			case xml.CharData:
				switch in {
				case "text", "title":
					texts[in+" "+string(token)]++
				case "style":
					style += string(token)
				}
			}
		}
		for _, want := range []string{"text " + heading, "title " + heading} {
			if texts[want] != 1 {
				t.Errorf("%q stands there %d times", want, texts[want])
			}
		}
		for _, want := range []string{":root{--fg:#1b1f24;", "@media (prefers-color-scheme: dark){:root{--fg:#e6e8eb;", `[fill="#ffffff"]{fill:var(--surface)}`, `[stroke="#1c6f84"]{stroke:var(--c0)}`} {
			if !strings.Contains(style, want) {
				t.Errorf("the style lacks %q", want)
			}
		}
	}
}

func TestFloorSVGOfOnePoint(t *testing.T) {
	doc := sweepDocument(4)
	doc.Points = doc.Points[:1]
	var b strings.Builder
	err := writeFloorSVG(&b, doc)
	const want = "a chart needs at least two points: give lists to --batch, --context or --tp"
	if err == nil || err.Error() != want || b.Len() > 0 {
		t.Errorf("error %v after %d bytes, want %q", err, b.Len(), want)
	}
}
