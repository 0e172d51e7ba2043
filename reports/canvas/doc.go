// Package canvas draws gonum plots twice: as an inline SVG fragment that
// follows the page's light or dark theme, and into a rectangle of an fpdf
// page. Both are vectors with real, selectable text.
//
// It refuses raster images (DrawImage draws nothing), scripts, external
// references and unescaped text, and it never writes the same drawing in two
// ways: equal calls give equal bytes.
package canvas
