package gendocs

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// markdown is a command's page. Tables and lists of the help text keep their
// layout in a code block.
func markdown(c *cobra.Command) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "<!-- Made by \"make docs\" from the command's help; not to be edited by hand. -->\n\n")
	fmt.Fprintf(&b, "# %s\n\n%s\n", c.CommandPath(), escapeMarkdown(c.Short))
	if c.Runnable() {
		fmt.Fprintf(&b, "\n```text\n%s\n```\n", c.UseLine())
	}
	for _, s := range sections(c) {
		if s.title != "" {
			fmt.Fprintf(&b, "\n## %s\n", s.title[:1]+strings.ToLower(s.title[1:]))
		}
		prose(&b, s.lines)
	}
	block(&b, "Examples", c.Example)
	block(&b, "Flags", c.NonInheritedFlags().FlagUsagesWrapped(100))
	block(&b, "Flags of every command below "+c.Root().Name(), c.InheritedFlags().FlagUsagesWrapped(100))
	if list := related(c); len(list) > 0 {
		fmt.Fprintf(&b, "\n## See also\n\n")
		for _, r := range list {
			fmt.Fprintf(&b, "- [%s](%s.md): %s\n", r.CommandPath(), page(r), escapeMarkdown(r.Short))
		}
	}
	return b.Bytes()
}

// prose writes paragraphs as they are and indented lines as a code block.
func prose(b *bytes.Buffer, lines []string) {
	code := false
	for i, line := range lines {
		indented := strings.HasPrefix(line, " ") || code && line == "" && i+1 < len(lines) && strings.HasPrefix(lines[i+1], " ")
		if i == 0 || indented && !code && lines[i-1] != "" {
			b.WriteByte('\n')
		}
		if indented != code {
			b.WriteString(map[bool]string{true: "```text\n", false: "```\n"}[indented])
		}
		code = indented
		if !code {
			line = escapeMarkdown(line)
		}
		b.WriteString(line + "\n")
	}
	if code {
		b.WriteString("```\n")
	}
}

func block(b *bytes.Buffer, title, text string) {
	if text = strings.Trim(text, "\n"); text != "" {
		fmt.Fprintf(b, "\n## %s\n\n```text\n%s\n```\n", title, text)
	}
}

var markdownEscapes = strings.NewReplacer("<", "&lt;", "*", `\*`, "_", `\_`)

func escapeMarkdown(s string) string { return markdownEscapes.Replace(s) }
