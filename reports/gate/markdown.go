package gate

import (
	"fmt"
	"io"
	"strings"

	"decodegap/reports"
)

// WriteMarkdown prints a gate's result as a table for a job summary or a pull
// request comment.
func WriteMarkdown(w io.Writer, doc *reports.GateDocument) error {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s**\n\n| | rule | point | limit | value | why |\n|---|---|---|--:|--:|---|\n", escapeMarkdown(Summary(doc)))
	for _, r := range doc.Rules {
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", mark(r.Verdict), escapeMarkdown(r.Name), escapeMarkdown(r.Point),
			quantity(r.Limit, r.Unit), quantity(r.Value, r.Unit), escapeMarkdown(r.Why))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// quantity prints a rule's limit or value in its unit; nothing if absent.
func quantity(v *float64, unit string) string {
	switch {
	case v == nil:
		return ""
	case unit == "ratio":
		return share(*v)
	case unit == "ms":
		return ms(*v)
	}
	return fmt.Sprintf("%g %s", *v, escapeMarkdown(unit))
}

// escapeMarkdown keeps text from being read as markup or leaving its cell.
func escapeMarkdown(s string) string {
	var b strings.Builder
	for _, r := range reports.OneLine(s, 0) {
		if strings.ContainsRune("\\`*_{}[]<>()#+!|~&@$", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
