package audit

import "slices"

// script walks the commands of a shell text in order, keeps what it says about
// variables and arrays, and stops at the command that starts a server.
type script struct {
	file  *file
	lx    *lexer
	depth int // scripts this one is quoted in
	block *block

	vars    []varEvent
	arrays  map[string][]arrayEvent
	budget  *budget
	exports bool // set -a

	last    []int    // the events of an assignments-only line just before
	strings []source // quoted texts that may hold the command

	found    *start
	warnings []warning
}

// start is a server's command line, cut where its arguments begin.
type start struct {
	engine *engine
	words  []word // the whole command, arrays put in
	args   []word
	at     int // offset of the server's word
	env    []Env
	broken int // parts of the environment that are not seen
}

type warning struct {
	at   int
	text string
}

// block is a group of commands that run or do not run together.
type block struct {
	parent *block
	depth  int
	cases  bool
}

// within says whether what happened in block outer has happened when a command
// of block b runs.
func (b *block) within(outer *block) bool {
	for ; b != nil && b.depth >= outer.depth; b = b.parent {
		if b == outer {
			return true
		}
	}
	return false
}

// budget bounds the work on one file, however it refers to itself.
type budget struct {
	splices int // array elements still to be put in
	scripts int // quoted texts still to be read
}

func newScript(f *file, src source, depth int, b *budget) *script {
	return &script{
		file: f, lx: &lexer{file: f, src: src}, depth: depth, budget: b,
		block: &block{}, arrays: map[string][]arrayEvent{},
	}
}

func (s *script) warn(at int, text string) {
	if len(s.warnings) < 20 {
		s.warnings = append(s.warnings, warning{at, text})
	}
}

// read walks the whole text.
func (s *script) read() error {
	var words []word
	ended, wrapped := false, false // a line end came; the command goes on after one
	flush := func(brokenLine bool) error {
		err := s.command(words, wrapped, brokenLine)
		words, ended, wrapped = nil, false, false
		return err
	}
	for {
		t, err := s.lx.next()
		if err != nil {
			return err
		}
		if ended && t.kind != newline {
			pattern := len(words) > 0 && words[0].plain() == "case"
			if t.kind == aWord && t.word.flagLike() && t.word.refs == 0 && !pattern {
				if !wrapped {
					s.warn(t.at, "the line begins with a flag and is read as part of the command before it; a shell needs a backslash at the end of that line")
				}
				ended, wrapped = false, true
			} else if err := flush(true); err != nil {
				return err
			}
		}
		switch t.kind {
		case endOfText:
			return flush(false)
		case newline:
			ended = len(words) > 0
		case aWord:
			if name, plus, ok := arrayStart(t.word); ok && s.lx.peek(0) == '(' {
				if err := s.array(name, plus); err != nil {
					return err
				}
				continue
			}
			words = append(words, t.word)
		case separator, open, shut, caseEnd:
			if err := flush(false); err != nil {
				return err
			}
			if t.kind == caseEnd && s.block.cases && s.block.parent != nil {
				s.sibling()
			}
		}
	}
}

// command handles one simple command: reserved words first, then variables,
// then the search for a server.
func (s *script) command(words []word, wrapped, brokenLine bool) error {
	words, err := s.reserved(words)
	if err != nil || len(words) == 0 {
		return err
	}
	head, rest := s.leading(words)
	if len(rest) == 0 {
		s.assign(head)
		s.last = nil
		if brokenLine {
			for i := range head {
				s.last = append(s.last, len(s.vars)-len(head)+i)
			}
		}
		return nil
	}
	last := s.last
	s.last = nil
	if s.builtin(rest) {
		return nil
	}
	if rest = s.splice(rest); len(rest) == 0 || talks(rest[0]) {
		return nil
	}
	st, err := s.server(rest)
	if err != nil {
		return err
	}
	if st == nil {
		return s.quoted(head, rest)
	}
	if s.found != nil {
		s.warn(st.at, "another server is started here; only the first is read")
		return nil
	}
	if wrapped {
		// A command pasted with its lines broken: the assignments on the line
		// before it belong to it.
		for _, i := range last {
			s.vars[i].exported = true
		}
	}
	if st.env == nil {
		st.env = s.environment(slices.Concat(head, prefixed(st.words)))
	}
	s.found = st
	return nil
}

// reserved takes shell grammar off the front of a command and follows blocks.
func (s *script) reserved(words []word) ([]word, error) {
	for len(words) > 0 {
		switch words[0].plain() {
		case "if", "while", "until", "{":
			if err := s.push(words[0].start, false); err != nil {
				return nil, err
			}
		case "case", "for", "select":
			return nil, s.push(words[0].start, words[0].plain() == "case")
		case "then", "do", "!", "time":
		case "else", "elif":
			s.sibling()
		case "fi", "done", "esac", "}":
			if s.block.parent != nil {
				s.block = s.block.parent
			}
		case "function":
			return nil, nil
		default:
			return words, nil
		}
		words = words[1:]
	}
	return nil, nil
}

func (s *script) push(at int, cases bool) error {
	if s.block.depth >= maxNesting {
		return s.file.errorf(at, "blocks nested more than %d deep", maxNesting)
	}
	s.block = &block{parent: s.block, depth: s.block.depth + 1, cases: cases}
	return nil
}

// sibling begins another branch of the same if or case.
func (s *script) sibling() {
	if p := s.block.parent; p != nil {
		s.block = &block{parent: p, depth: s.block.depth, cases: s.block.cases}
	}
}

// quoted remembers the texts of a command that may be scripts themselves:
// bash -c '…', ssh host '…'. They are read only if nothing else starts a
// server.
func (s *script) quoted(head, rest []word) error {
	for _, w := range rest {
		if s.found != nil || !w.quoted || s.budget.scripts <= 0 || !mentionsServer(w.text) {
			continue
		}
		inner, err := s.inside(source{text: w.text, at: w.at, end: w.start}, s.carried(head, rest))
		if err != nil {
			return err
		}
		if inner.found != nil {
			s.adopt(inner)
		}
	}
	return nil
}

// inside reads a text quoted in this one.
func (s *script) inside(src source, env []varEvent) (*script, error) {
	inner := newScript(s.file, src, s.depth+1, s.budget)
	if s.budget.scripts--; s.budget.scripts < 0 || inner.depth > maxScripts {
		return inner, nil
	}
	inner.vars = env
	for i := range inner.vars {
		inner.vars[i].block = inner.block
	}
	err := inner.read()
	return inner, err
}

func (s *script) adopt(inner *script) {
	s.found = inner.found
	s.warnings = append(s.warnings, inner.warnings...)
}
