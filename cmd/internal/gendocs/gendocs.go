// Package gendocs writes the reference from the commands themselves: a page of
// Markdown and a man page for each, and completion for four shells. Nothing it
// writes depends on the day, the machine or the terminal, so a test can
// compare the files with what is in docs/reference.
package gendocs

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// Files is the reference of root and every visible command below it, by path
// within docs/reference.
func Files(root *cobra.Command) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, c := range visible(root) {
		files[page(c)+".md"] = markdown(c)
		files["man/"+page(c)+".1"] = man(c)
	}
	for name, write := range map[string]func(io.Writer) error{
		"bash": func(w io.Writer) error { return root.GenBashCompletionV2(w, true) },
		"zsh":  root.GenZshCompletion,
		"fish": func(w io.Writer) error { return root.GenFishCompletion(w, true) },
		"ps1":  root.GenPowerShellCompletionWithDesc,
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			return nil, fmt.Errorf("completion for %s: %w", name, err)
		}
		files["completion/decodegap."+name] = b.Bytes()
	}
	return files, nil
}

// visible is c and the commands below it that help shows.
func visible(c *cobra.Command) []*cobra.Command {
	c.InitDefaultHelpFlag()
	c.InitDefaultVersionFlag()
	list := []*cobra.Command{c}
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			list = append(list, visible(sub)...)
		}
	}
	return list
}

// page is the name of a command's pages: "decodegap-gate-init".
func page(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// section is a part of a command's long text. A line in capitals starts one;
// the first has no title.
type section struct {
	title string
	lines []string
}

func sections(c *cobra.Command) []section {
	text := c.Long
	if text == "" {
		text = c.Short
	}
	all := []section{{}}
	for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
		if heading(line) {
			all = append(all, section{title: line})
			continue
		}
		last := &all[len(all)-1]
		last.lines = append(last.lines, strings.TrimRight(line, " "))
	}
	for i := range all {
		all[i].lines = trimBlank(all[i].lines)
	}
	return all
}

// heading says whether a line is capitals and blanks, such as EXIT STATUS.
func heading(line string) bool {
	return len(line) > 1 && strings.Trim(line, "ABCDEFGHIJKLMNOPQRSTUVWXYZ ") == "" && line[0] != ' '
}

func trimBlank(lines []string) []string {
	for len(lines) > 0 && lines[0] == "" {
		lines = lines[1:]
	}
	for len(lines) > 0 && lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// related are a command's parent and children.
func related(c *cobra.Command) []*cobra.Command {
	var list []*cobra.Command
	if c.HasParent() {
		list = append(list, c.Parent())
	}
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			list = append(list, sub)
		}
	}
	return list
}
