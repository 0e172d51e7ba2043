package audit

import "bytes"

// word reads one word at i, which may be empty.
func (lx *lexer) word() (word, error) {
	w := word{start: lx.src.offset(lx.i)}
	literal := false // something besides one substitution
	for lx.i < len(lx.src.text) {
		at := lx.src.offset(lx.i)
		switch c := lx.peek(0); c {
		case ' ', '\t', '\r', '\n', ';', '&', '|', '(', ')', '<', '>':
			return finish(w, literal), nil
		case '\\':
			if n := lx.continuation(); n > 0 {
				lx.i += n
				continue
			}
			w.quoted, literal = true, true
			if lx.i++; lx.i < len(lx.src.text) {
				w.add(lx.peek(0), lx.src.offset(lx.i))
				lx.i++
			}
		case '\'':
			n := bytes.IndexByte(lx.src.text[lx.i+1:], '\'')
			if n < 0 {
				return w, lx.errorf(at, "the ' quote does not end")
			}
			w.quoted, literal = true, true
			for k := range n {
				w.add(lx.src.text[lx.i+1+k], lx.src.offset(lx.i+1+k))
			}
			lx.i += n + 2
		case '"':
			had := len(w.text)
			if err := lx.doubleQuoted(&w); err != nil {
				return w, err
			}
			if !(w.refs == 1 && had == 0 && w.whole) {
				literal = true
			}
		case '$', '`':
			if err := lx.dollar(&w, false, &literal); err != nil {
				return w, err
			}
		default:
			literal = true
			w.add(c, at)
			lx.i++
		}
	}
	return finish(w, literal), nil
}

// finish settles what a word with one substitution is.
func finish(w word, literal bool) word {
	w.whole = w.refs == 1 && !literal
	if !w.whole {
		w.array = ""
	}
	return w
}

// doubleQuoted reads a "…" part; w.whole tells whether it held exactly one
// substitution.
func (lx *lexer) doubleQuoted(w *word) error {
	at := lx.src.offset(lx.i)
	lx.i++
	w.quoted = true
	literal := false
	for lx.i < len(lx.src.text) {
		switch c := lx.peek(0); c {
		case '"':
			lx.i++
			w.whole = !literal
			return nil
		case '\\':
			if n := lx.continuation(); n > 0 {
				lx.i += n
				continue
			}
			literal = true
			if n := lx.peek(1); n == '$' || n == '`' || n == '"' || n == '\\' {
				lx.i++
			}
			w.add(lx.peek(0), lx.src.offset(lx.i))
			lx.i++
		case '$', '`':
			if err := lx.dollar(w, true, &literal); err != nil {
				return err
			}
		default:
			literal = true
			w.add(c, lx.src.offset(lx.i))
			lx.i++
		}
	}
	return lx.errorf(at, "the \" quote does not end")
}

// dollar reads what starts with $ or ` at i. Substitutions are put into the
// word by name only: what they stand for is the shell's business.
func (lx *lexer) dollar(w *word, quoted bool, literal *bool) error {
	at, begin := lx.src.offset(lx.i), lx.i
	if lx.peek(0) == '`' {
		lx.i++
		for lx.i < len(lx.src.text) && lx.peek(0) != '`' {
			if lx.peek(0) == '\\' {
				lx.i++
			}
			lx.i++
		}
		if lx.i >= len(lx.src.text) {
			return lx.errorf(at, "the ` quote does not end")
		}
		lx.i++
		w.reference("$(…)", at, !quoted)
		return nil
	}
	lx.i++
	switch c := lx.peek(0); {
	case c == '(':
		if err := lx.skip('('); err != nil {
			return err
		}
		w.reference("$(…)", at, !quoted)
	case c == '{':
		if err := lx.skip('{'); err != nil {
			return err
		}
		text, array := braces(lx.src.text[begin+2 : lx.i-1])
		w.reference(text, at, !quoted || array != "")
		w.array = array
	case isLetter(c):
		for isLetter(lx.peek(0)) || isDigit(lx.peek(0)) {
			lx.i++
		}
		w.reference(printable(string(lx.src.text[begin:lx.i]), 100), at, !quoted)
	case isDigit(c) || bytes.IndexByte([]byte("@*#?$!-"), c) >= 0 && c != 0:
		lx.i++
		w.reference("$"+string(rune(c)), at, !quoted || c == '@' || c == '*')
	case c == '\'' && !quoted:
		return lx.ansi(w, at, literal)
	case c == '"' && !quoted:
		*literal = true
		return lx.doubleQuoted(w)
	default:
		*literal = true
		w.add('$', at)
	}
	return nil
}

func (w *word) reference(text string, at int, many bool) {
	w.refs++
	w.many = w.many || many
	w.array = ""
	w.addText(text, at)
}

// braces is what is kept of ${…}: the name, and whether a rule follows it. The
// rule's text (a default, often) is not kept: it may hold anything.
func braces(inside []byte) (text, array string) {
	name := inside
	for len(name) > 0 && (name[0] == '#' || name[0] == '!') {
		name = name[1:]
	}
	n := 0
	for n < len(name) && n < 100 && (isLetter(name[n]) || isDigit(name[n])) {
		n++
	}
	rest := string(name[n:])
	switch {
	case rest == "":
		return "${" + string(name[:n]) + "}", ""
	case rest == "[@]" || rest == "[*]":
		if len(name) == len(inside) {
			array = string(name[:n])
		}
		return "${" + string(name[:n]) + "[@]}", array
	}
	return "${" + string(name[:n]) + "…}", ""
}

// ansi reads $'…'.
func (lx *lexer) ansi(w *word, at int, literal *bool) error {
	*literal, w.quoted = true, true
	for lx.i++; lx.i < len(lx.src.text); lx.i++ {
		c := lx.peek(0)
		if c == '\'' {
			lx.i++
			return nil
		}
		if c == '\\' {
			lx.i++
			switch c = lx.peek(0); c {
			case 'n':
				c = '\n'
			case 't':
				c = '\t'
			}
		}
		w.add(c, lx.src.offset(min(lx.i, len(lx.src.text)-1)))
	}
	return lx.errorf(at, "the $' quote does not end")
}

// skip reads over a balanced (…) or {…} that starts at i.
func (lx *lexer) skip(opening byte) error {
	at := lx.src.offset(lx.i)
	stack := []byte{opening}
	for lx.i++; lx.i < len(lx.src.text); lx.i++ {
		c, top := lx.peek(0), stack[len(stack)-1]
		inQuotes := bytes.IndexByte(stack, '"') >= 0
		switch {
		case c == '\\':
			lx.i++
		case top == '"' && c == '"', top == '(' && c == ')', top == '{' && c == '}':
			stack = stack[:len(stack)-1]
		case c == '"':
			stack = append(stack, '"')
		case c == '$' && (lx.peek(1) == '(' || lx.peek(1) == '{'):
			lx.i++
			stack = append(stack, lx.peek(0))
		case top == '(' && c == '(':
			stack = append(stack, '(')
		case c == '\'' && (top == '(' || top == '{' && !inQuotes):
			n := bytes.IndexByte(lx.src.text[lx.i+1:], '\'')
			if n < 0 {
				return lx.errorf(lx.src.offset(lx.i), "the ' quote does not end")
			}
			lx.i += n + 1
		}
		if len(stack) == 0 {
			lx.i++
			return nil
		}
		if len(stack) > maxNesting {
			return lx.errorf(lx.src.offset(lx.i), "nested more than %d deep", maxNesting)
		}
	}
	return lx.errorf(at, "the substitution does not end")
}
