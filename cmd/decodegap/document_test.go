package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// documents keeps what commands of docs/theory printed: several lines ask the
// same one.
var documents sync.Map

// document runs decodegap in this process and parses the JSON it prints.
func document(args []string) (any, error) {
	key := strings.Join(args, "\x00")
	if doc, ok := documents.Load(key); ok {
		return doc, nil
	}
	var out bytes.Buffer
	root := newRootCommand(&environment{stdin: strings.NewReader(""), stdout: &out, stderr: &bytes.Buffer{}})
	root.SetArgs(args)
	if err := root.Execute(); err != nil {
		return nil, fmt.Errorf("decodegap %s: %w", strings.Join(args, " "), err)
	}
	var doc any
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
		return nil, fmt.Errorf("decodegap %s: %w", strings.Join(args, " "), err)
	}
	documents.Store(key, doc)
	return doc, nil
}

// lookup finds a number by a path such as points[0].ledger[moe.experts].ms: in
// brackets the index of an element, or texts that it alone holds, with a slash
// between several.
func lookup(doc any, path string) (float64, error) {
	at := doc
	for _, step := range pathSteps(path) {
		switch v := at.(type) {
		case map[string]any:
			next, ok := v[step]
			if !ok {
				return 0, fmt.Errorf("%s: no field %q", path, step)
			}
			at = next
		case []any:
			next, err := element(v, step)
			if err != nil {
				return 0, fmt.Errorf("%s: %w", path, err)
			}
			at = next
		default:
			return 0, fmt.Errorf("%s: nothing is below %q", path, step)
		}
	}
	v, ok := at.(float64)
	if !ok {
		return 0, fmt.Errorf("%s is no number", path)
	}
	return v, nil
}

func pathSteps(path string) []string {
	var steps []string
	for path != "" {
		path = strings.TrimPrefix(path, ".")
		if rest, ok := strings.CutPrefix(path, "["); ok {
			name, rest, _ := strings.Cut(rest, "]")
			steps, path = append(steps, name), rest
			continue
		}
		end := strings.IndexAny(path, ".[")
		if end < 0 {
			end = len(path)
		}
		steps, path = append(steps, path[:end]), path[end:]
	}
	return steps
}

func element(list []any, step string) (any, error) {
	if i, err := strconv.Atoi(step); err == nil {
		if i < 0 || i >= len(list) {
			return nil, fmt.Errorf("no element %d of %d", i, len(list))
		}
		return list[i], nil
	}
	var found []any
	for _, e := range list {
		fields, _ := e.(map[string]any)
		holds := func(text string) bool {
			for _, v := range fields {
				if v == text {
					return true
				}
			}
			return false
		}
		if !slices.ContainsFunc(strings.Split(step, "/"), func(s string) bool { return !holds(s) }) {
			found = append(found, e)
		}
	}
	if len(found) != 1 {
		return nil, fmt.Errorf("%d elements hold %q, want one", len(found), step)
	}
	return found[0], nil
}

// splitWords cuts a command line at spaces outside double quotes.
func splitWords(s string) []string {
	var words []string
	word, quoted, some := "", false, false
	for _, r := range s {
		switch {
		case r == '"':
			quoted, some = !quoted, true
		case r == ' ' && !quoted:
			if word != "" || some {
				words = append(words, word)
			}
			word, some = "", false
		default:
			word += string(r)
		}
	}
	if word != "" || some {
		words = append(words, word)
	}
	return words
}

func TestLookup(t *testing.T) {
	var doc any
	text := `{"a": [{"kind": "x", "v": 1}, {"kind": "y", "of": "p.q", "v": 2}, {"kind": "y", "of": "r", "v": 3}], "n": "text"}`
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]float64{"a[0].v": 1, "a[x].v": 1, "a[p.q].v": 2, "a[y/r].v": 3} {
		if got, err := lookup(doc, path); err != nil || got != want {
			t.Errorf("%s: got %v, %v, want %v", path, got, err, want)
		}
	}
	for _, path := range []string{"b", "a", "a[y].v", "a[z].v", "a[3].v", "a[-1].v", "n", "n.m", "a[0].v.w"} {
		if got, err := lookup(doc, path); err == nil {
			t.Errorf("%s: got %v, want an error", path, got)
		}
	}
	if got, want := splitWords(`floor x --hardware "H200 SXM" ""`), []string{"floor", "x", "--hardware", "H200 SXM", ""}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
