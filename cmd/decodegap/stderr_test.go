package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"decodegap/reports"
	"decodegap/roofline/model"
)

// escapes are what a hostile file name or field tries on a terminal: colour, a
// title, a rewritten line, the C1 spelling of a sequence, reordered text.
const escapes = "a\x1b[31mb\x1b]0;title\x07c\rd\u009b2Je\u202ef"

const escaped = "abc def"

// TestTalkIsClean keeps inputs' control characters off stderr.
func TestTalkIsClean(t *testing.T) {
	var b bytes.Buffer
	env := &environment{stderr: &b}
	(&outputOptions{}).talk(env, "wrote %s\n%s", escapes, "100%d")
	if want := "wrote " + escaped + " 100%d\n"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
	b.Reset()
	if (&outputOptions{quiet: true}).talk(env, "wrote"); b.Len() > 0 {
		t.Errorf("--quiet let %q through", b.String())
	}
}

// TestErrorTextIsClean keeps them out of the last line, and keeps a message's
// own line breaks.
func TestErrorTextIsClean(t *testing.T) {
	for _, c := range []struct{ err, want string }{
		{escapes + "\nwrite it with " + escapes, escaped + "\nwrite it with " + escaped},
		{"unknown " + escapes + "\n\nDid you mean this?\n\t" + escapes + "\n\tg\n", "unknown " + escaped + ": did you mean abc or def or g?"},
	} {
		if got := errorText(errors.New(c.err)); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
	if _, err := model.Load("/nowhere/"+escapes, "", model.Options{}); strings.ContainsAny(errorText(err), "\x1b\u009b\u202e\r") {
		t.Errorf("a model's error has control characters: %q", errorText(err))
	}
}

// TestCommandsOwnMessagesAreClean runs what the command frame answers itself.
func TestCommandsOwnMessagesAreClean(t *testing.T) {
	for _, args := range [][]string{{escapes}, {"--" + escapes}, {"help", escapes}, {"list", escapes}, {"floor", "--tp", escapes, "x"}, {"completion", escapes}, {"help", "flo\u009b2J"}} {
		var out, say bytes.Buffer
		root := newRootCommand(&environment{stdin: strings.NewReader(""), stdout: &out, stderr: &say})
		root.SetArgs(args)
		fmt.Fprintln(&say, errorText(root.Execute()))
		for name, text := range map[string]string{"stdout": out.String(), "stderr": say.String()} {
			if strings.ContainsAny(text, "\x1b\u009b\u202e\r\x07") {
				t.Errorf("%q: %s has control characters: %q", args, name, text)
			}
		}
	}
}

// TestListedDifferenceIsANumber says what a script reads from the list.
func TestListedDifferenceIsANumber(t *testing.T) {
	var out bytes.Buffer
	root := newRootCommand(&environment{stdin: strings.NewReader(""), stdout: &out, stderr: io.Discard})
	root.SetArgs([]string{"list", "models", "--json"})
	if err := root.Execute(); err != nil {
		t.Fatal(err)
	}
	var doc reports.ListDocument
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	numbers := 0
	for _, it := range doc.Items {
		if d, ok := it["difference_pct"]; ok {
			if n, ok := d.(float64); !ok || n < -3 || n > 3 {
				t.Errorf("%v: difference %#v, want a number of percent", it["name"], d)
			}
			numbers++
		}
	}
	if numbers == 0 {
		t.Error("no model has a difference")
	}
}
