package gendocs

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

func tree() *cobra.Command {
	run := func(*cobra.Command, []string) {}
	root := &cobra.Command{Use: "decodegap", Short: "Measure the gap"}
	gate := &cobra.Command{
		Use: "gate RUN", Short: "Fail when a_ratio <falls>", Run: run,
		Long:    "gate judges a run.\n\n  pass  0\n  fail  1\n\nThat is all.\n\nEXIT STATUS\n  0    passed\n  1    failed\n",
		Example: "  decodegap gate run.json --policy .gate.yaml",
	}
	gate.Flags().StringP("policy", "p", "gate.yaml", "read rules from `FILE`")
	gate.Flags().Bool("strict", false, ".starts with a dot and a \\ backslash")
	gate.Flags().Bool("secret", false, "")
	gate.Flags().MarkHidden("secret")
	root.AddCommand(gate, &cobra.Command{Use: "child", Hidden: true, Run: run})
	return root
}

func TestFiles(t *testing.T) {
	files, err := Files(tree())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"decodegap.md", "decodegap-gate.md", "man/decodegap.1", "man/decodegap-gate.1",
		"completion/decodegap.bash", "completion/decodegap.zsh", "completion/decodegap.fish", "completion/decodegap.ps1",
	} {
		if len(files[name]) == 0 {
			t.Errorf("no %s", name)
		}
	}
	if len(files) != 8 {
		t.Errorf("%d files, want 8: hidden commands have no page", len(files))
	}
	again, err := Files(tree())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if !bytes.Equal(text, again[name]) {
			t.Errorf("%s differs between two runs", name)
		}
	}
}

func TestMarkdown(t *testing.T) {
	want := "<!-- Made by \"make docs\" from the command's help; not to be edited by hand. -->\n" + `
# decodegap gate

Fail when a\_ratio &lt;falls>

~~~text
decodegap gate RUN [flags]
~~~

gate judges a run.

~~~text
  pass  0
  fail  1
~~~

That is all.

## Exit status

~~~text
  0    passed
  1    failed
~~~

## Examples

~~~text
  decodegap gate run.json --policy .gate.yaml
~~~

## Flags

~~~text
  -h, --help          help for gate
  -p, --policy FILE   read rules from FILE (default "gate.yaml")
      --strict        .starts with a dot and a \ backslash
~~~

## See also

- [decodegap](decodegap.md): Measure the gap
`
	if got := string(markdown(visible(tree())[1])); got != strings.ReplaceAll(want, "~~~", "```") {
		t.Errorf("got\n%s", got)
	}
}

func TestMan(t *testing.T) {
	want := `.\" Made by "make docs" from the command's help; not to be edited by hand.
.TH DECODEGAP\-GATE 1 2026-12-01 decodegap "decodegap manual"
.SH NAME
decodegap\-gate \- Fail when a_ratio <falls>
.SH SYNOPSIS
.B decodegap gate RUN [flags]
.SH DESCRIPTION
.nf
gate judges a run.

  pass  0
  fail  1

That is all.
.fi
.SH EXIT STATUS
.nf
  0    passed
  1    failed
.fi
.SH OPTIONS
.TP
\fB\-h\fP, \fB\-\-help\fP
help for gate
.TP
\fB\-p\fP, \fB\-\-policy\fP \fIFILE\fP
read rules from FILE (default gate.yaml)
.TP
\fB\-\-strict\fP
\&.starts with a dot and a \e backslash
.SH EXAMPLES
.nf
  decodegap gate run.json \-\-policy .gate.yaml
.fi
.SH SEE ALSO
\fBdecodegap\fP(1)
`
	if got := string(man(visible(tree())[1])); got != want {
		t.Errorf("got\n%s", got)
	}
}
