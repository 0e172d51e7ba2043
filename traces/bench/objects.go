package bench

import (
	"errors"
	"io"
	"slices"
	"strings"
)

// readObjects reads a stream of JSON objects, one result each: JSON lines, one
// pretty-printed object, or an array. start makes an empty record of the
// dialect; looked names the fields that were expected, for the error.
func readObjects(in io.Reader, start func() *record, looked string) ([]Result, error) {
	s := newScanner(in)
	var out []Result
	skipped := 0
	for {
		err := s.object()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if len(out) == maxResults {
			out[0].Warnings = append(out[0].Warnings, Warning{"too-many-results", "only the first 10,000 results of the file are used"})
			break
		}
		r := start()
		fault := r.fields(s)
		if errors.Is(fault, ErrTooLarge) {
			return nil, fault
		}
		if fault != nil {
			r.cut = strings.TrimPrefix(fault.Error(), "line 1: ")
		}
		if result := r.finish(); r.figures() {
			out = append(out, result)
		} else {
			skipped++
		}
		if fault != nil {
			if err := s.recover(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return nil, err
			}
		}
	}
	if len(out) == 0 {
		return nil, none(looked)
	}
	if skipped > 0 {
		out[0].Warnings = append(out[0].Warnings, Warning{"skipped-objects", plain(float64(skipped)) + " objects of the file hold no benchmark figure and were left out"})
	}
	return out, nil
}

// fields reads one object whose brace is past.
func (r *record) fields(s *scanner) error {
	return s.members(func(key string) error {
		if slices.Contains(detailLists, key) {
			return r.detail.read(s, key)
		}
		if key == "server_info" {
			return r.serverInfo(s)
		}
		v, err := s.value()
		s.commit = func() { r.take(key, v) }
		return err
	})
}

// serverInfo reads sglang's state of the server, by the list of allowed flags.
func (r *record) serverInfo(s *scanner) error {
	c, err := s.solid()
	if err != nil {
		return err
	}
	if c != '{' {
		s.back(c)
		_, err := s.value()
		return err
	}
	type flag struct {
		key string
		v   value
	}
	var flags []flag
	err = s.members(func(key string) error {
		v, err := s.value()
		if err == nil && v.kind != isComposite && v.kind != isNull && len(flags) < maxFlags {
			flags = append(flags, flag{key, v})
		}
		return err
	})
	s.commit = func() {
		for _, f := range flags {
			r.serverFlag(f.key, f.v)
		}
	}
	return err
}

// maxFlags bounds the fields of server_info that are looked at.
const maxFlags = 2000

// keysOf is the set of field names of the first object in head, which may be
// cut; nil if there is no object.
func keysOf(head []byte) map[string]bool {
	s := newScanner(strings.NewReader(string(head)))
	if s.object() != nil {
		return nil
	}
	keys := map[string]bool{}
	_ = s.members(func(key string) error { // a cut head is no fault
		keys[key] = true
		_, err := s.value()
		return err
	})
	return keys
}

// has says whether any of the names is there.
func has(keys map[string]bool, names ...string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return keys[n] })
}
