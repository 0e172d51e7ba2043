package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestGuides runs the ```sh blocks of docs/guide as a reader would: those of a
// page one after another in one empty folder, decodegap on PATH, $TESTDATA the
// repository's testdata. A block fails at the first command that fails. A
// ```text output``` block behind one is what it prints, “…” standing for any
// lines left out. A block that cannot run here is ```sh no-run: WHY```.
func TestGuides(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("the guides' blocks are for a POSIX shell, and there is no sh on PATH")
	}
	pages, err := filepath.Glob("../../docs/guide/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("docs/guide has no page: %v", err)
	}
	data, err := filepath.Abs("../../testdata")
	if err != nil {
		t.Fatal(err)
	}
	if failing := (shellBlock{text: "false\ntrue\n"}); failing.run(t, sh, t.TempDir(), data) == nil {
		t.Error("a block with a failing command passes")
	}
	for _, page := range pages {
		t.Run(filepath.Base(page), func(t *testing.T) {
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			blocks, err := shellBlocks(string(text))
			if err != nil {
				t.Fatalf("%s:%v", page, err)
			}
			if len(blocks) == 0 {
				t.Errorf("%s has no ```sh block", page)
			}
			dir := t.TempDir()
			for _, b := range blocks {
				if b.skip != "" {
					t.Logf("%s:%d: not run: %s", page, b.line, b.skip)
					continue
				}
				if err := b.run(t, sh, dir, data); err != nil {
					t.Fatalf("%s:%d: %v", page, b.line, err)
				}
			}
		})
	}
}

// shellBlock is a ```sh block of a page and what it is said to print.
type shellBlock struct {
	line     int
	text     string
	skip     string // why it is not run
	output   string
	hasShown bool
}

func (b shellBlock) run(t *testing.T, sh, dir, data string) error {
	cmd := exec.CommandContext(t.Context(), sh, "-eu")
	cmd.Dir = dir
	cmd.Stdin = strings.NewReader(b.text)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TESTDATA=" + data}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%w\n%s%s", err, stdout.String(), stderr.String())
	}
	if b.hasShown {
		return matchOutput(b.output, stdout.String())
	}
	return nil
}

// shellBlocks are the blocks of a page in order; errors begin with a line.
func shellBlocks(page string) ([]shellBlock, error) {
	var blocks []shellBlock
	var fence string // the open block's info string, with the backticks
	var body strings.Builder
	open, number := 0, 0
	for line := range strings.Lines(page) {
		number++
		info := strings.TrimSpace(line)
		if !strings.HasPrefix(info, "```") {
			if fence != "" {
				body.WriteString(line)
			}
			continue
		}
		if fence == "" {
			fence, open = info, number
			body.Reset()
			continue
		}
		switch kind, rest, _ := strings.Cut(strings.TrimPrefix(fence, "```"), " "); {
		case kind == "sh" && rest == "":
			blocks = append(blocks, shellBlock{line: open, text: body.String()})
		case kind == "sh":
			why, ok := strings.CutPrefix(rest, "no-run: ")
			if !ok || strings.TrimSpace(why) == "" {
				return nil, fmt.Errorf("%d: %q: a block that is not run says ```sh no-run: WHY", open, fence)
			}
			blocks = append(blocks, shellBlock{line: open, text: body.String(), skip: why})
		case kind == "text" && rest == "output":
			if len(blocks) == 0 || blocks[len(blocks)-1].hasShown || blocks[len(blocks)-1].skip != "" {
				return nil, fmt.Errorf("%d: no block that is run stands before this output", open)
			}
			last := &blocks[len(blocks)-1]
			last.output, last.hasShown = body.String(), true
		}
		fence = ""
	}
	if fence != "" {
		return nil, fmt.Errorf("%d: the block has no end", open)
	}
	return blocks, nil
}

// matchOutput compares what a page shows with what came; a line “…” stands for
// any number of lines, none included.
func matchOutput(want, got string) error {
	lines := trimmedLines(got)
	skipping := false
	for _, w := range trimmedLines(want) {
		if w == "…" {
			skipping = true
			continue
		}
		for skipping && len(lines) > 0 && lines[0] != w {
			lines = lines[1:]
		}
		if len(lines) == 0 || lines[0] != w {
			return fmt.Errorf("the page shows the line\n%s\nbut the output is\n%s", w, got)
		}
		lines, skipping = lines[1:], false
	}
	if len(lines) > 0 && !skipping {
		return fmt.Errorf("the page ends before\n%s\nof the output\n%s", lines[0], got)
	}
	return nil
}

func trimmedLines(s string) []string {
	var out []string
	for line := range strings.Lines(strings.TrimRight(s, "\n ")) {
		out = append(out, strings.TrimRight(line, " \n"))
	}
	return out
}

func TestShellBlocks(t *testing.T) {
	page := "```sh\nls\n```\n```text output\na\n```\n```yaml\nx: 1\n```\n```sh no-run: needs a GPU\ntop\n```\n```sh\ntrue\n```\n"
	blocks, err := shellBlocks(page)
	if err != nil || len(blocks) != 3 || blocks[0].output != "a\n" || blocks[1].skip != "needs a GPU" || blocks[2].text != "true\n" || blocks[2].line != 13 {
		t.Errorf("got %+v, %v", blocks, err)
	}
	for _, bad := range []string{
		"```sh no-run\nls\n```\n", "```sh no-run: \nls\n```\n", "```sh skip\nls\n```\n", "```sh\nls\n",
		"```text output\na\n```\n", "```sh no-run: why\nls\n```\n```text output\na\n```\n",
	} {
		if blocks, err := shellBlocks(bad); err == nil {
			t.Errorf("%q: got %+v, want an error", bad, blocks)
		}
	}
	for _, c := range []struct {
		want, got string
		same      bool
	}{
		{"a\nb\n", "a\nb\n", true}, {"a\n…\nc\n", "a\nb\nb\nc\n", true}, {"a\n…\n", "a\nb\n", true}, {"…\nb\n", "a\nb  \n\n", true}, {"a\n…\nb\n", "a\nb\n", true},
		{"a\n", "a\nb\n", false}, {"a\nc\n", "a\nb\nc\n", false}, {"…\nd\n", "a\n", false}, {"a\nb\n", "a\n", false},
	} {
		if err := matchOutput(c.want, c.got); (err == nil) != c.same {
			t.Errorf("%q against %q: %v", c.want, c.got, err)
		}
	}
}
