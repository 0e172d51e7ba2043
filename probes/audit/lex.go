package audit

import "bytes"

// kind is what the lexer met.
type kind int

const (
	endOfText kind = iota
	aWord
	newline
	separator // ; & | && || and the like
	caseEnd   // ;; ends one branch of a case
	open      // (
	shut      // )
)

type token struct {
	kind kind
	word word
	at   int // file offset
}

// lexer cuts shell text into words and operators. Comments, line
// continuations, redirections and here-documents are read over.
type lexer struct {
	file  *file
	src   source
	i     int
	words int
	docs  []heredoc // begun on this line
}

type heredoc struct {
	delimiter []byte
	tabs      bool // <<- takes leading tabs off
	at        int
}

// peek is the byte at i+n, 0 past the end.
func (lx *lexer) peek(n int) byte {
	if lx.i+n < len(lx.src.text) {
		return lx.src.text[lx.i+n]
	}
	return 0
}

func (lx *lexer) errorf(at int, format string, args ...any) error {
	return lx.file.errorf(at, format, args...)
}

// continuation is the length of a backslash and line end at i, 0 if none.
func (lx *lexer) continuation() int {
	switch {
	case lx.peek(0) != '\\':
	case lx.peek(1) == '\n':
		return 2
	case lx.peek(1) == '\r' && lx.peek(2) == '\n':
		return 3
	}
	return 0
}

func (lx *lexer) blanks() {
	for {
		switch c := lx.peek(0); {
		case c == ' ' || c == '\t' || c == '\r':
			lx.i++
		case lx.continuation() > 0:
			lx.i += lx.continuation()
		default:
			return
		}
	}
}

func (lx *lexer) next() (token, error) {
	for {
		lx.blanks()
		at := lx.src.offset(lx.i)
		if lx.i >= len(lx.src.text) {
			if len(lx.docs) > 0 {
				return token{}, lx.errorf(lx.docs[0].at, "here-document %q has no body", printable(string(lx.docs[0].delimiter), 40))
			}
			return token{kind: endOfText, at: at}, nil
		}
		switch c := lx.peek(0); c {
		case '#':
			if n := bytes.IndexByte(lx.src.text[lx.i:], '\n'); n >= 0 {
				lx.i += n
			} else {
				lx.i = len(lx.src.text)
			}
			continue
		case '\n':
			lx.i++
			if err := lx.bodies(); err != nil {
				return token{}, err
			}
			return token{kind: newline, at: at}, nil
		case ';', '&', '|', '(', ')':
			if c == '&' && lx.peek(1) == '>' {
				lx.i++
				if err := lx.redirect(nil); err != nil {
					return token{}, err
				}
				continue
			}
			return token{kind: lx.operator(c), at: at}, nil
		case '<', '>':
			var w word
			if err := lx.redirect(&w); err != nil {
				return token{}, err
			}
			if w.refs > 0 {
				return token{kind: aWord, word: w, at: at}, nil
			}
			continue
		}
		w, err := lx.word()
		if err != nil {
			return token{}, err
		}
		if c := lx.peek(0); (c == '<' || c == '>') && !w.quoted && allDigits(w.text) {
			continue // the 2 of 2>&1
		}
		if lx.words++; lx.words > maxWords {
			return token{}, lx.errorf(at, "more than %d words; give only the command that starts the server", maxWords)
		}
		return token{kind: aWord, word: w, at: at}, nil
	}
}

func (lx *lexer) operator(c byte) kind {
	lx.i++
	switch c {
	case '(':
		return open
	case ')':
		return shut
	case ';':
		if lx.peek(0) == ';' {
			lx.i++
			return caseEnd
		}
	default:
		if lx.peek(0) == c || c == '|' && lx.peek(0) == '&' {
			lx.i++
		}
	}
	return separator
}

// redirect reads over a redirection at i. A process substitution <(…) is a
// word: w becomes a reference.
func (lx *lexer) redirect(w *word) error {
	at := lx.src.offset(lx.i)
	c := lx.peek(0)
	lx.i++
	if lx.peek(0) == '(' {
		if err := lx.skip('('); err != nil {
			return err
		}
		if w != nil {
			*w = word{start: at, refs: 1, whole: true}
			w.addText("$(…)", at)
		}
		return nil
	}
	if c == '<' && lx.peek(0) == '<' && lx.peek(1) != '<' {
		lx.i++
		doc := heredoc{at: at}
		if lx.peek(0) == '-' {
			doc.tabs = true
			lx.i++
		}
		lx.blanks()
		delimiter, err := lx.word()
		if err != nil {
			return err
		}
		if len(delimiter.text) == 0 {
			return lx.errorf(at, "<< without a delimiter")
		}
		doc.delimiter = delimiter.text
		lx.docs = append(lx.docs, doc)
		return nil
	}
	for c := lx.peek(0); c == '<' || c == '>' || c == '&' || c == '|'; c = lx.peek(0) {
		lx.i++
	}
	lx.blanks()
	if c := lx.peek(0); (c == '<' || c == '>') && lx.peek(1) == '(' {
		lx.i++
		return lx.skip('(')
	}
	_, err := lx.word()
	return err
}

// bodies reads over the here-documents begun on the line that has just ended.
func (lx *lexer) bodies() error {
	for _, doc := range lx.docs {
		for {
			if lx.i >= len(lx.src.text) {
				return lx.errorf(doc.at, "here-document %q does not end", printable(string(doc.delimiter), 40))
			}
			line := lx.src.text[lx.i:]
			if n := bytes.IndexByte(line, '\n'); n >= 0 {
				line = line[:n]
			}
			lx.i = min(lx.i+len(line)+1, len(lx.src.text))
			line = bytes.TrimSuffix(line, []byte("\r"))
			if doc.tabs {
				line = bytes.TrimLeft(line, "\t")
			}
			if bytes.Equal(line, doc.delimiter) {
				break
			}
		}
	}
	lx.docs = nil
	return nil
}
