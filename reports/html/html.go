// Package html prints a run record as one HTML file that opens from disk:
// style, script and drawings are inside it, and its content security policy
// forbids everything else. It refuses the network, and to let a text of the
// record become markup.
package html

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"

	"decodegap/reports"
	"decodegap/reports/canvas"
)

//go:embed page.html
var pageHTML string

//go:embed style.css
var styleCSS string

//go:embed page.js
var pageJS string

// Renderer is the HTML format.
var Renderer = reports.Renderer{
	Name: "html", Ext: ".html",
	Doc:    "one self-contained HTML file with drawings, light and dark",
	Render: Render,
}

// document is what page.html is filled with.
type document struct {
	*reports.Page
	CSP   template.HTMLAttr
	Style template.CSS
	Code  template.JS
}

// Render writes the file. The error is w's.
func Render(w io.Writer, run *reports.Run) error {
	t, err := template.New("page").Funcs(functions(run)).Parse(pageHTML)
	if err != nil {
		return fmt.Errorf("cannot read the page template: %w", err)
	}
	style := inks() + styleCSS
	var buf bytes.Buffer
	err = t.Execute(&buf, document{
		Page: reports.Compose(run),
		CSP: template.HTMLAttr(fmt.Sprintf(`content="default-src 'none'; style-src '%s'; script-src '%s'; img-src data:; base-uri 'none'; form-action 'none'"`,
			hash(style), hash(pageJS))),
		Style: template.CSS(style),
		Code:  template.JS(pageJS),
	})
	if err != nil {
		return fmt.Errorf("cannot print the run record as HTML: %w", err)
	}
	_, err = w.Write(buf.Bytes())
	return err
}

// hash is the source expression that lets one inline text through the policy.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// inks are the drawings' colours for either theme, and for paper.
func inks() string {
	light, dark := canvas.Variables(false), canvas.Variables(true)
	return ":root{" + light + "}\n" +
		"@media (prefers-color-scheme: dark){:root:not([data-theme=light]){" + dark + "}}\n" +
		":root[data-theme=dark]{" + dark + "}\n" +
		"@media print{:root,:root[data-theme]{" + light + "}}\n"
}
