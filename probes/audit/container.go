package audit

import (
	"slices"
	"strings"
)

// boxed is a container's command line: what runs in it and with which
// environment. Nothing else of the host's environment reaches the server.
type boxed struct {
	image      word
	entrypoint []word
	args       []word
	env        []word // NAME=value, or NAME alone: taken from outside
	envFiles   int
}

// bareOptions are the options of docker run and exec that take no value. All
// others are taken to have one.
var bareOptions = []string{"detach", "init", "interactive", "no-healthcheck", "oom-kill-disable", "privileged",
	"publish-all", "quiet", "read-only", "rm", "sig-proxy", "tty"}

const bareLetters = "ditqP"

// container recognises docker, podman and nerdctl run and exec anywhere in a
// command, nil if there is none.
func container(words []word) *boxed {
	for i := 0; i+1 < len(words); i++ {
		switch base(words[i]) {
		case "docker", "podman", "nerdctl":
		default:
			continue
		}
		rest := words[i+1:]
		if rest[0].String() == "container" {
			rest = rest[1:]
		}
		if len(rest) > 0 && (rest[0].String() == "run" || rest[0].String() == "exec") {
			return boxOptions(rest[1:])
		}
	}
	return nil
}

func boxOptions(words []word) *boxed {
	c := &boxed{}
	for i := 0; i < len(words); i++ {
		w := words[i]
		if !strings.HasPrefix(w.String(), "-") || len(w.text) < 2 {
			if w.whole && w.many {
				c.envFiles++ // "$OPTIONS": may hold an environment
				continue
			}
			c.image, c.args = w, words[i+1:]
			return c
		}
		name, value, joined := cutWord(w)
		switch {
		case len(name) < 2: // "-=x"
			continue
		case strings.HasPrefix(name, "--"):
			if name = name[2:]; !joined && !slices.Contains(bareOptions, name) {
				i++
			}
		case strings.Contains(bareLetters, name[1:2]):
			// -it, or -ite with the value in the next word
			if last := name[len(name)-1:]; !joined && !strings.Contains(bareLetters, last) {
				name = last
				i++
			}
		default:
			name = name[1:2]
			if joined = len(w.text) > 2; joined {
				value = w
				value.text, value.at = w.text[2:], w.at[2:]
			} else {
				i++
			}
		}
		if !joined && i < len(words) {
			value = words[i]
		}
		switch name {
		case "e", "env":
			c.env = append(c.env, value)
		case "env-file":
			c.envFiles++
		case "entrypoint":
			c.entrypoint = []word{value}
		}
	}
	return c
}

// cutWord splits --name=value.
func cutWord(w word) (name string, value word, ok bool) {
	name, _, ok = strings.Cut(w.String(), "=")
	if ok {
		value = w
		value.text, value.at = w.text[len(name)+1:], w.at[len(name)+1:]
	}
	return name, value, ok
}

// inContainer finds the server a container runs: in its command, or as the
// entry point of an image known to be a server's.
func (s *script) inContainer(c *boxed) *start {
	words := append(slices.Clone(c.entrypoint), c.args...)
	if e, i, n := startOf(words); e != nil {
		return &start{engine: e, args: words[n:], at: words[i].start}
	}
	image := c.image.String()
	if len(c.entrypoint) > 0 || len(image) > 400 {
		return nil
	}
	switch {
	case strings.Contains(image, "vllm-openai"):
		return &start{engine: vllm, args: c.args, at: c.image.start}
	case strings.Contains(image, "llama.cpp:server"):
		return &start{engine: llamacpp, args: c.args, at: c.image.start}
	}
	return nil
}

// handedOn is a container's environment; a name without a value takes the
// script's.
func (s *script) handedOn(words []word) []Env {
	outside := s.environment(nil)
	var env []Env
	for _, w := range words {
		if name, value, ok := w.assignment(); ok {
			env = append(env, Env{Name: name, Exported: true, Unresolved: value.refs > 0, word: &value})
			continue
		}
		if !isName(w.plain()) {
			continue
		}
		i := slices.IndexFunc(outside, func(v Env) bool { return v.Name == w.plain() && v.Exported })
		if i < 0 {
			env = append(env, Env{Name: w.plain(), Exported: true, Unresolved: true, word: &w})
			continue
		}
		env = append(env, outside[i])
	}
	return env
}

// prefixed is the assignments that stand between a command's first word and
// the server: env A=b, sudo A=b.
func prefixed(words []word) []word {
	_, at, _ := startOf(words)
	var out []word
	for i := 1; i < at; i++ {
		if _, _, ok := words[i].assignment(); ok {
			out = append(out, words[i])
		}
	}
	return out
}
