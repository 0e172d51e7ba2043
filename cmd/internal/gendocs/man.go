package gendocs

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// manDate is fixed, so that the pages change only when the commands do.
const manDate = "2026-12-01"

// man is a command's manual page, in the man macros.
func man(c *cobra.Command) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, ".\\\" Made by \"make docs\" from the command's help; not to be edited by hand.\n")
	fmt.Fprintf(&b, ".TH %s 1 %s decodegap \"decodegap manual\"\n", roff(strings.ToUpper(page(c))), manDate)
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", roff(page(c)), roff(c.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n", roff(c.UseLine()))
	for _, s := range sections(c) {
		if s.title == "" {
			s.title = "DESCRIPTION"
		}
		fmt.Fprintf(&b, ".SH %s\n", roff(s.title))
		verbatim(&b, s.lines)
	}
	options(&b, "OPTIONS", c.NonInheritedFlags())
	options(&b, "OPTIONS OF EVERY COMMAND", c.InheritedFlags())
	if example := strings.Trim(c.Example, "\n"); example != "" {
		fmt.Fprintf(&b, ".SH EXAMPLES\n")
		verbatim(&b, strings.Split(example, "\n"))
	}
	if list := related(c); len(list) > 0 {
		var names []string
		for _, r := range list {
			names = append(names, fmt.Sprintf("\\fB%s\\fP(1)", roff(page(r))))
		}
		fmt.Fprintf(&b, ".SH SEE ALSO\n%s\n", strings.Join(names, ",\n"))
	}
	return b.Bytes()
}

// verbatim keeps line breaks: the help text is laid out already.
func verbatim(b *bytes.Buffer, lines []string) {
	fmt.Fprintf(b, ".nf\n")
	for _, line := range lines {
		fmt.Fprintf(b, "%s\n", roff(line))
	}
	fmt.Fprintf(b, ".fi\n")
}

func options(b *bytes.Buffer, title string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	fmt.Fprintf(b, ".SH %s\n", roff(title))
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Deprecated != "" {
			return
		}
		name, usage := pflag.UnquoteUsage(f)
		b.WriteString(".TP\n")
		if f.Shorthand != "" {
			fmt.Fprintf(b, "\\fB\\-%s\\fP, ", roff(f.Shorthand))
		}
		fmt.Fprintf(b, "\\fB\\-\\-%s\\fP", roff(f.Name))
		if name != "" {
			fmt.Fprintf(b, " \\fI%s\\fP", roff(name))
		}
		fmt.Fprintf(b, "\n%s", roff(usage))
		switch f.DefValue {
		case "", "false", "[]", "0":
		default:
			fmt.Fprintf(b, " (default %s)", roff(f.DefValue))
		}
		b.WriteByte('\n')
	})
}

// roff escapes what the formatter would take for its own.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(s)
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
