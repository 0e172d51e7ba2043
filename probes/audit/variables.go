package audit

import "slices"

// varEvent is one thing a script does to a variable.
type varEvent struct {
	name     string
	value    *word // nil: only exported or unset
	exported bool
	unset    bool
	block    *block
}

// arrayEvent is NAME=(…) or NAME+=(…).
type arrayEvent struct {
	words []word
	plus  bool
	block *block
}

// arrayStart recognises the word before the ( of an array.
func arrayStart(w word) (name string, plus, ok bool) {
	t := w.plain()
	if len(t) < 2 || t[len(t)-1] != '=' {
		return "", false, false
	}
	t = t[:len(t)-1]
	if plus = t[len(t)-1] == '+'; plus {
		t = t[:len(t)-1]
	}
	return t, plus, isName(t)
}

// array reads the elements of an array up to its ).
func (s *script) array(name string, plus bool) error {
	at := s.lx.src.offset(s.lx.i)
	s.lx.i++
	e := arrayEvent{plus: plus, block: s.block}
	for {
		t, err := s.lx.next()
		if err != nil {
			return err
		}
		switch t.kind {
		case endOfText:
			return s.file.errorf(at, "the array %s does not end", printable(name, 60))
		case shut:
			s.arrays[name] = append(s.arrays[name], e)
			return nil
		case aWord:
			e.words = append(e.words, t.word)
		}
	}
}

// splice puts the elements of arrays this script has set in place of "${a[@]}".
// An array set in a branch that may not have been taken stays a reference, after
// the elements that are certain.
func (s *script) splice(words []word) []word {
	for range 8 { // arrays of arrays
		if s.budget.splices <= 0 {
			return words
		}
		i := slices.IndexFunc(words, func(w word) bool { return w.array != "" && len(s.arrays[w.array]) > 0 })
		if i < 0 {
			return words
		}
		var out []word
		for _, w := range words {
			events := s.arrays[w.array]
			if w.array == "" || len(events) == 0 {
				out = append(out, w)
				continue
			}
			w.array = "" // what stays of it is a plain reference
			elements, certain := s.elements(events)
			if s.budget.splices -= len(elements) + len(events); s.budget.splices < 0 {
				out = append(out, w)
				continue
			}
			out = append(out, elements...)
			if !certain {
				out = append(out, w)
			}
		}
		words = out
	}
	return words
}

func (s *script) elements(events []arrayEvent) (words []word, certain bool) {
	certain = true
	for _, e := range events {
		switch {
		case !s.block.within(e.block):
			certain = false
		case e.plus:
			words = append(words, e.words...)
		default:
			words, certain = slices.Clone(e.words), true
		}
		if len(words) > s.budget.splices {
			return words, false
		}
	}
	return words, certain
}

// leading splits the assignments off the front of a command.
func (s *script) leading(words []word) (head, rest []word) {
	for i, w := range words {
		if _, _, ok := w.assignment(); !ok {
			return words[:i], words[i:]
		}
	}
	return words, nil
}

// assign handles a command of assignments alone: shell variables, of which a
// server sees only those exported.
func (s *script) assign(head []word) {
	for _, w := range head {
		name, value, _ := w.assignment()
		s.vars = append(s.vars, varEvent{name: name, value: &value, exported: s.exports, block: s.block})
		if value.quoted && mentionsServer(value.text) {
			s.strings = append(s.strings, source{text: value.text, at: value.at, end: value.start})
		}
	}
}

// builtin handles the commands that change variables and says whether this was
// one.
func (s *script) builtin(words []word) bool {
	switch words[0].plain() {
	case "export":
	case "declare", "typeset":
		exported := false
		for _, w := range words[1:] {
			exported = exported || len(w.text) > 1 && w.text[0] == '-' && slices.Contains(w.text, 'x')
		}
		if !exported {
			return true
		}
	case "unset":
		for _, w := range words[1:] {
			s.vars = append(s.vars, varEvent{name: w.String(), unset: true, block: s.block})
		}
		return true
	case "set":
		for i, w := range words[1:] {
			switch text := w.String(); {
			case text == "-a", text == "allexport" && words[i].String() == "-o":
				s.exports = true
			case text == "+a", text == "allexport" && words[i].String() == "+o":
				s.exports = false
			}
		}
		return true
	default:
		return false
	}
	for _, w := range words[1:] {
		if name, value, ok := w.assignment(); ok {
			s.vars = append(s.vars, varEvent{name: name, value: &value, exported: true, block: s.block})
		} else if isName(w.plain()) {
			s.vars = append(s.vars, varEvent{name: w.plain(), exported: true, block: s.block})
		}
	}
	return true
}

// environment is what a command of the current block is given: variables in
// the order they were first set, then those on its own line. What a branch may
// or may not have set is unresolved.
func (s *script) environment(own []word) []Env {
	var env []Env
	index := map[string]int{}
	at := func(name string) *Env {
		i, ok := index[name]
		if !ok {
			i = len(env)
			index[name] = i
			env = append(env, Env{Name: name})
		}
		return &env[i]
	}
	events := slices.Clone(s.vars)
	for _, w := range own {
		name, value, _ := w.assignment()
		events = append(events, varEvent{name: name, value: &value, exported: true, block: s.block})
	}
	for _, e := range events {
		v := at(e.name)
		if !s.block.within(e.block) {
			v.Unresolved, v.Exported = true, v.Exported || e.exported
			if v.word == nil {
				v.word = e.value
			}
			continue
		}
		if e.unset {
			*v = Env{Name: e.name}
			continue
		}
		v.Exported = v.Exported || e.exported
		if e.value != nil {
			v.word, v.Unresolved = e.value, e.value.refs > 0
		}
	}
	return slices.DeleteFunc(env, func(v Env) bool { return v.word == nil })
}

// carried is the environment as events, for a script quoted in this one.
func (s *script) carried(head, rest []word) []varEvent {
	if c := container(rest); c != nil {
		return events(s.handedOn(c.env))
	}
	if base(rest[0]) == "ssh" || len(rest) > 1 && base(rest[0]) == "sudo" {
		return nil // neither hands its environment on
	}
	return events(s.environment(slices.Concat(head, prefixed(rest))))
}

func events(env []Env) []varEvent {
	var out []varEvent
	for _, v := range env {
		w := *v.word
		if v.Unresolved {
			w.refs = max(w.refs, 1)
		}
		out = append(out, varEvent{name: v.Name, value: &w, exported: v.Exported})
	}
	return out
}
