package audit

import (
	"slices"
	"strings"
)

// arguments reads a server's arguments into a launch.
type arguments struct {
	engine *engine
	place  func(text string, at int) Place
	launch *Launch
}

func (a *arguments) read(words []word) {
	named := false // the model has been named, by whatever
	for i := 0; i < len(words); {
		w := words[i]
		spelt, dashes := spelling(w)
		if spelt == "" {
			if a.engine.positional && !named && dashes == 0 {
				named = true
				a.model(w)
			} else if w.refs > 0 {
				a.unread(w)
			}
			i++
			continue
		}
		var taken int
		if f, ok := a.flag(spelt, dashes, words[i:], &taken); ok {
			a.keep(f, &named)
		}
		i += taken
	}
}

// spelling is the name of the flag a word begins with; empty for another word.
func spelling(w word) (name string, dashes int) {
	text := w.String()
	for dashes < len(text) && dashes < 2 && text[dashes] == '-' {
		dashes++
	}
	name, _, _ = strings.Cut(text[dashes:], "=")
	if dashes == 0 || name == "" || len(name) > 80 || !isLetter(name[0]) {
		return "", dashes
	}
	for i := range len(name) {
		if c := name[i]; !isLetter(c) && !isDigit(c) && c != '-' && c != '.' {
			return "", dashes
		}
	}
	return name, dashes
}

// flag reads the flag at words[0] with its values and how many words it took.
func (a *arguments) flag(spelt string, dashes int, words []word, taken *int) (Flag, bool) {
	*taken = 1
	p := a.place("", words[0].start)
	f := Flag{Written: words[0].String()[:dashes] + spelt, Line: p.Line, Col: p.Col}
	_, value, joined := cutWord(words[0])
	if a.engine == vllm && dashes == 1 && spelt[0] == 'O' && len(spelt) > 1 && allDigits([]byte(spelt[1:])) {
		spelt, joined = "O", true // -O3
		value = words[0]
		value.text, value.at = value.text[2:], value.at[2:]
	}
	f.Name = a.engine.canonical(spelt)
	if a.engine == vllm && f.Name == "optimization-level" && joined && len(value.text) > 0 && value.text[0] == '{' {
		f.Name = "compilation-config" // -O '{…}', as it was before levels
	}
	values := []word{value}
	if !joined {
		values = a.values(f.Name, words[1:])
		*taken += len(values)
	}
	return a.value(f, values), true
}

// values is the words that follow a flag as its values.
func (a *arguments) values(name string, words []word) []word {
	if len(words) == 0 || words[0].flagLike() || words[0].String() == "--" {
		return nil
	}
	if a.bare(name) {
		switch strings.ToLower(words[0].String()) {
		case "true", "false":
			return words[:1]
		}
		return nil
	}
	n := 1
	if slices.Contains(a.engine.lists, name) {
		for n < len(words) && !words[n].flagLike() && !(words[n].whole && words[n].many) {
			n++
		}
	}
	return words[:n]
}

// bare says whether a flag takes no value. Engines name their switches by a
// few prefixes.
func (a *arguments) bare(name string) bool {
	if slices.Contains(a.engine.bools, name) {
		return true
	}
	for _, prefix := range []string{"enable-", "disable-", "enforce-", "no-", "skip-", "use-"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// value fills in what may be kept of a flag's value.
func (a *arguments) value(f Flag, values []word) Flag {
	var texts []string
	for _, v := range values {
		texts = append(texts, v.String())
		f.Unresolved = f.Unresolved || v.refs > 0
		if v.whole && v.many && !a.known(f.Name) {
			a.unread(v) // --unknown-flag $ARGS: the second may hold flags of its own
		}
	}
	text := strings.Join(texts, " ")
	switch {
	case len(values) == 0:
	case secretFlag(f.Name):
		f.Value, f.Unresolved = Hidden, false
	case f.Unresolved:
		f.Value = reference(values)
	case a.namesModel(f.Name):
		f.Value = modelValue(text)
	case a.engine.served == f.Name:
		f.Value = printable(modelValue(text), 200)
	default:
		f.Value = flagValue(f.Name, text)
	}
	return f
}

// reference is the printed form of an unresolved value: only what names the
// variables.
func reference(values []word) string {
	if len(values) == 1 && values[0].whole {
		return values[0].String()
	}
	return "$…"
}

func (a *arguments) namesModel(name string) bool {
	return slices.Contains(a.engine.model, name) || strings.HasSuffix(name, "-draft-model-path") || name == "model-draft" || name == "speculative-model"
}

// valueWords end the names of flags that always take a value.
var valueWords = []string{"size", "backend", "dtype", "len", "length", "utilization", "static", "fraction", "parser", "format",
	"interval", "level", "steps", "quantization", "seed", "config", "mode", "gb", "name", "path", "policy", "algorithm"}

// known says whether a flag is one that a value surely belongs to.
func (a *arguments) known(name string) bool {
	if a.namesModel(name) || name == a.engine.served || slices.Contains(a.engine.lists, name) || name == "host" || name == "port" {
		return true
	}
	for _, to := range a.engine.aliases {
		if to == name {
			return true
		}
	}
	last := name[strings.LastIndexByte(name, '-')+1:]
	return strings.HasPrefix(name, "max-") || slices.Contains(valueWords, last)
}

// keep adds a flag and what it says of the launch as a whole.
func (a *arguments) keep(f Flag, named *bool) {
	l := a.launch
	l.Flags = append(l.Flags, f)
	switch {
	case slices.Contains(a.engine.model, f.Name):
		*named = true
		l.Model = ""
		if !f.Unresolved {
			l.Model = f.Value
		}
	case f.Name == a.engine.served && !f.Unresolved:
		l.ServedName = f.Value
	case f.Name == "config" || f.Name == "config-file":
		l.Unread = append(l.Unread, Place{Text: f.Written, Line: f.Line, Col: f.Col})
	}
}

// model takes a positional argument as the model.
func (a *arguments) model(w word) {
	p := a.place("", w.start)
	f := Flag{Name: a.engine.model[0], Written: "", Line: p.Line, Col: p.Col}
	f = a.value(f, []word{w})
	named := true
	a.keep(f, &named)
	if w.whole && w.many && w.array != "" {
		a.unread(w)
	}
}

func (a *arguments) unread(w word) {
	if len(a.launch.Unread) < 50 {
		a.launch.Unread = append(a.launch.Unread, a.place(reference([]word{w}), w.start))
	}
}
