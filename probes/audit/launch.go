package audit

import (
	"bytes"
	"fmt"
	"strings"
)

// Launch is a server's command line as written. Values that only a shell would
// know are marked unresolved and never guessed.
type Launch struct {
	Name       string // the file's name as given, made printable
	Engine     string // sglang, vllm, trtllm, llamacpp
	Model      string // as given: repository id or path; empty if unresolved or not named
	ServedName string
	Line, Col  int // of the word that names the server

	Flags    []Flag // in order, arrays of the script put in
	Env      []Env  // in the order first set
	Wrappers []string
	// Unread is what of the command could not be read: "$EXTRA_ARGS", "--config".
	// While there is any, a flag that is not in Flags may still be set.
	Unread   []Place
	Warnings []Place

	engine *engine
}

// Flag is one option of the server.
type Flag struct {
	Name       string // without dashes, the same for every spelling: "tp-size"
	Written    string // as spelt: "--tp"
	Value      string // empty for a bare flag; Hidden or NotKept in place of what may not be kept
	Unresolved bool   // the value holds something only a shell would know
	Line, Col  int
}

// Env is one variable the server's environment was given.
type Env struct {
	Name       string
	Value      string // Hidden or NotKept in place of what may not be kept
	Exported   bool   // false: a shell variable, which the server does not see
	Unresolved bool   // its value, or whether it is set at all, is not known
	Line, Col  int

	word *word
}

// Place is a piece of text and where it stands.
type Place struct {
	Text      string
	Line, Col int
}

// What stands in place of a value that does not leave the file.
const (
	Hidden  = "(hidden)"   // a secret, or a variable nobody needs to see
	NotKept = "(not kept)" // a path, host name or free text
)

// ParseLaunch reads a launch script, a command line or the NUL-separated
// arguments of a running process, and returns the command that starts an
// inference server. Nothing is executed or expanded. Errors name the position
// and what was expected; name is used for nothing else.
func ParseLaunch(name string, data []byte) (*Launch, error) {
	f := newFile(name, data)
	if len(data) > maxBytes {
		return nil, fmt.Errorf("%s is %d bytes: a launch script of at most %d is expected", f.name, len(data), maxBytes)
	}
	if err := manifest(f, data); err != nil {
		return nil, err
	}
	s := newScript(f, source{text: data, end: len(data)}, 0, &budget{splices: maxSplices, scripts: maxQuoted})
	if err := s.readAll(data); err != nil {
		return nil, err
	}
	if s.found == nil {
		return nil, fmt.Errorf("%s holds no command that starts a known server (%s): give the command line that does", f.name, starters)
	}
	return s.launch(), nil
}

// readAll reads the commands, and after them what variables hold as text.
func (s *script) readAll(data []byte) error {
	if bytes.IndexByte(data, 0) >= 0 {
		return s.arguments(data)
	}
	if err := s.read(); err != nil || s.found != nil {
		return err
	}
	for _, text := range s.strings { // CMD="vllm serve …"; $CMD
		inner, err := s.inside(text, events(s.environment(nil)))
		if err != nil {
			return err
		}
		if inner.found != nil {
			s.adopt(inner)
			return nil
		}
	}
	return nil
}

// arguments reads /proc/PID/cmdline: words that end in NUL, no shell in it.
func (s *script) arguments(data []byte) error {
	var words []word
	for i := 0; i < len(data); {
		n := bytes.IndexByte(data[i:], 0)
		if n < 0 {
			n = len(data) - i
		}
		w := word{start: i, quoted: true}
		for k := range n {
			w.add(data[i+k], i+k)
		}
		if words = append(words, w); len(words) > maxWords {
			return s.file.errorf(i, "more than %d arguments", maxWords)
		}
		i += n + 1
	}
	e, at, n := startOf(words)
	if e != nil {
		s.found = &start{engine: e, words: words, args: words[n:], at: words[at].start}
	}
	return nil
}

// manifest refuses the formats that hold a command line but are not one.
func manifest(f *file, data []byte) error {
	has := func(key string) bool {
		return bytes.HasPrefix(data, []byte(key)) || bytes.Contains(data, []byte("\n"+key))
	}
	switch {
	case has("apiVersion:") && has("kind:"), strings.HasSuffix(f.name, ".yaml"), strings.HasSuffix(f.name, ".yml"):
		return fmt.Errorf("%s is YAML (a Kubernetes manifest or the like), which is not read: give the container's command and args as a command line", f.name)
	case has("services:"):
		return fmt.Errorf("%s is a compose file, which is not read: give the service's command and environment as a command line", f.name)
	}
	return nil
}

// launch turns the command found into its record.
func (s *script) launch() *Launch {
	st := s.found
	l := &Launch{Name: s.file.name, Engine: st.engine.name, engine: st.engine}
	l.Line, l.Col = s.file.position(st.at)
	place := func(text string, at int) Place {
		p := Place{Text: text}
		p.Line, p.Col = s.file.position(at)
		return p
	}
	for _, w := range s.warnings {
		l.Warnings = append(l.Warnings, place(w.text, w.at))
	}
	for _, v := range st.env {
		v.Line, v.Col = s.file.position(v.word.start)
		v.Name = printable(v.Name, 100)
		v.Value = envValue(v.Name, v.word.String())
		if v.Unresolved {
			v.Value = ""
		}
		v.word = nil
		l.Env = append(l.Env, v)
	}
	for _, w := range st.words {
		if name := base(w); isWrapper(name) && w.start < st.at {
			l.Wrappers = append(l.Wrappers, name)
		}
	}
	a := &arguments{engine: st.engine, place: place, launch: l}
	a.read(st.args)
	if st.broken > 0 {
		l.Warnings = append(l.Warnings, place("part of the container's environment comes from another file or a shell variable and is not seen", st.at))
	}
	return l
}

// isWrapper says whether a program put in front of a server changes how it runs.
func isWrapper(name string) bool {
	switch name {
	case "nsys", "ncu", "compute-sanitizer", "cuda-gdb", "gdb", "strace", "ltrace", "valgrind", "py-spy", "perf", "numactl", "taskset":
		return true
	}
	return false
}

// where is a place as findings give it.
func (l *Launch) where(line, col int) string { return fmt.Sprintf("%s:%d:%d", l.Name, line, col) }

// Complete says whether the whole command line was read, so that a flag which
// is not in it is not set.
func (l *Launch) Complete() bool { return len(l.Unread) == 0 }

// Flag returns the last flag of any of the names, as an engine takes it.
func (l *Launch) Flag(names ...string) (Flag, bool) {
	for i := len(l.Flags) - 1; i >= 0; i-- {
		for _, name := range names {
			if l.Flags[i].Name == name {
				return l.Flags[i], true
			}
		}
	}
	return Flag{}, false
}

// EnvVar returns a variable the server sees, whose value is known.
func (l *Launch) EnvVar(name string) (Env, bool) {
	for _, v := range l.Env {
		if v.Name == name && v.Exported && !v.Unresolved {
			return v, true
		}
	}
	return Env{}, false
}

// on says whether a flag without a value, or with a truth value, is set.
func (l *Launch) on(names ...string) (Flag, bool) {
	f, ok := l.Flag(names...)
	if !ok || f.Unresolved || isFalse(f.Value) {
		return f, false
	}
	if negated, also := l.Flag("no-" + f.Name); also && (negated.Line > f.Line || negated.Line == f.Line && negated.Col > f.Col) {
		return f, false
	}
	return f, true
}

func isFalse(v string) bool {
	switch strings.ToLower(v) {
	case "false", "0", "off", "no":
		return true
	}
	return false
}
