package junit

import (
	"fmt"
	"io"
	"strings"

	"decodegap/reports"
)

// Renderer is the JUnit format of a run record: its points and findings as
// cases, for dashboards that read nothing else. It judges no speed, since a
// record has no limits; that is what gate is for.
var Renderer = reports.Renderer{
	Name: "junit", Ext: ".xml",
	Doc:    "JUnit XML: a case for each point and finding; high findings fail",
	Render: Render,
}

// Render writes one suite of points and one of findings. A point without a
// measurement is skipped; only findings of high severity fail.
func Render(w io.Writer, run *reports.Run) error {
	var points, findings suite
	points.name, findings.name = "decodegap points", "decodegap findings"
	for i := range run.Points {
		points.point(&run.Points[i])
	}
	for _, f := range run.Findings {
		findings.finding(f)
	}
	var b strings.Builder
	b.WriteString("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n")
	fmt.Fprintf(&b, "<testsuites name=\"decodegap\" tests=\"%d\" failures=\"%d\" errors=\"0\" skipped=\"%d\">\n",
		points.tests+findings.tests, points.failures+findings.failures, points.skipped+findings.skipped)
	points.write(&b)
	findings.write(&b)
	b.WriteString("</testsuites>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// suite collects cases and counts them for the attributes before them.
type suite struct {
	name                     string
	tests, failures, skipped int
	cases                    strings.Builder
}

func (s *suite) write(b *strings.Builder) {
	fmt.Fprintf(b, "  <testsuite name=\"%s\" tests=\"%d\" failures=\"%d\" errors=\"0\" skipped=\"%d\">\n%s  </testsuite>\n",
		escape(s.name), s.tests, s.failures, s.skipped, s.cases.String())
}

// add appends a case whose one child is element, already escaped.
func (s *suite) add(class, name, element string) {
	s.tests++
	fmt.Fprintf(&s.cases, "    <testcase classname=\"%s\" name=\"%s\">\n      %s\n    </testcase>\n", escape(class), escape(name), element)
}

func (s *suite) point(p *reports.RunPoint) {
	name := fmt.Sprintf("batch %d, context %d", p.Batch, p.Context)
	if p.Label != "" {
		name += ", label " + p.Label
	}
	if p.Measured == nil {
		s.skipped++
		s.add("decodegap.point", name, `<skipped message="not measured"/>`)
		return
	}
	text := fmt.Sprintf("%.4g ms per token (%s, %s)", p.Measured.ValueMs, p.Measured.Statistic, p.Measured.Source)
	for _, e := range p.Efficiency {
		text += fmt.Sprintf("; %s/%s %.3g %%", e.Floor.Kind, e.Floor.Basis, 100*e.Ratio)
	}
	s.add("decodegap.point", name, "<system-out>"+escape(text)+"</system-out>")
}

func (s *suite) finding(f reports.Finding) {
	text := f.Text + " (" + f.Where + ")"
	if f.Advice != "" {
		text += "; " + f.Advice
	}
	if f.Cost != "" {
		text += "; cost: " + f.Cost
	}
	if f.Severity != "high" {
		s.add("decodegap.finding."+f.Check, f.Text, "<system-out>"+escape(f.Severity+": "+text)+"</system-out>")
		return
	}
	s.failures++
	s.add("decodegap.finding."+f.Check, f.Text, fmt.Sprintf("<failure type=\"high\" message=\"%s\">%s</failure>", escape(f.Text), escape(text)))
}
