package kineto

import (
	"bytes"

	"decodegap/traces"
)

// element is one element of traceEvents as picked from the text; its values
// point into the scanner's buffer.
type element struct {
	object, hasPh, complete bool // complete: ph is "X"
	hasCat                  bool
	hasDur                  bool
	kind                    traces.Kind
	name, ts, dur           value
	pid, tid                value
	args                    arguments
}

// arguments are the args that are read; all others are skipped.
type arguments struct {
	device, stream              value
	correlation, external       uint64
	graph, node                 uint64
	bytes                       int64
	grid, block                 value
	dims, types                 value
	collective, group, dtype    value
	syncKind                    value
	groupSize, seq              int64
	messageIn, messageOut       int64
	hasDevice, hasStream, extra bool // extra: Detail is needed
}

// element reads one element of traceEvents.
func (s *scan) element(e *element) status {
	*e = element{}
	if s.b[s.i] != '{' {
		return s.skip(0)
	}
	e.object = true
	none, st := s.empty('}')
	for more := !none; more && st == whole; {
		var key []byte
		if key, st = s.key(); st != whole {
			break
		}
		if st = s.member(e, key); st == whole {
			if e.hasPh && !e.complete && s.leap() {
				return whole
			}
			more, st = s.more('}')
		}
	}
	return st
}

// leap moves to the end of an event that is of no use, if all that is left of
// it is flat: flow arrows and instants are half of a trace.
func (s *scan) leap() bool {
	if s.careful || s.quotes != strict {
		return false
	}
	k := bytes.IndexByte(s.b[s.i:], '}')
	if k < 0 {
		return false
	}
	rest := s.b[s.i : s.i+k]
	if bytes.Count(rest, []byte{'"'})&1 == 1 || bytes.Contains(rest, []byte(`"ph"`)) || bytes.IndexByte(rest, '{') >= 0 || bytes.IndexByte(rest, '[') >= 0 || bytes.IndexByte(rest, ']') >= 0 {
		return false
	}
	s.i += k + 1
	return true
}

// member reads one member of an event. Where strings are guessed at, a second
// name, phase, category or time means that the guess ran into the next event.
func (s *scan) member(e *element, key []byte) (st status) {
	if s.quotes != strict && e.repeats(key) {
		return s.fail("expected one event, found the start of another")
	}
	switch string(key) {
	case "ph":
		var v value
		st = s.value(&v)
		e.hasPh = true
		e.complete = v.quoted && string(v.raw) == "X"
	case "cat":
		var v value
		st = s.value(&v)
		e.kind, e.hasCat = kindOf(v), true
	case "name":
		st = s.value(&e.name)
	case "ts":
		st = s.value(&e.ts)
	case "dur":
		e.hasDur = true
		st = s.value(&e.dur)
	case "pid":
		st = s.value(&e.pid)
	case "tid":
		st = s.value(&e.tid)
	case "args":
		if s.b[s.i] == '{' && !(e.hasPh && !e.complete) && !(e.hasCat && e.kind == traces.Other) {
			e.args = arguments{}
			return s.args(&e.args)
		}
		return s.skip(1)
	default:
		return s.skip(1)
	}
	return st
}

func (e *element) repeats(key []byte) bool {
	switch string(key) {
	case "ph":
		return e.hasPh
	case "cat":
		return e.hasCat
	case "name":
		return e.name.raw != nil
	case "ts":
		return e.ts.raw != nil
	}
	return false
}

func (s *scan) args(a *arguments) status {
	none, st := s.empty('}')
	for more := !none; more && st == whole; {
		var key []byte
		if key, st = s.key(); st != whole {
			break
		}
		if st = s.arg(a, key); st == whole {
			more, st = s.more('}')
		}
	}
	return st
}

func (s *scan) arg(a *arguments, key []byte) status {
	switch string(key) {
	case "External id", "external id":
		return s.id(&a.external)
	case "correlation":
		return s.id(&a.correlation)
	case "device":
		a.hasDevice = true
		return s.value(&a.device)
	case "stream":
		a.hasStream = true
		return s.value(&a.stream)
	case "graph id":
		return s.id(&a.graph)
	case "graph node id":
		return s.id(&a.node)
	case "bytes":
		return s.count(&a.bytes)
	case "grid":
		a.extra = true
		return s.value(&a.grid)
	case "block":
		a.extra = true
		return s.value(&a.block)
	case "Input Dims":
		a.extra = true
		return s.value(&a.dims)
	case "Input type":
		a.extra = true
		return s.value(&a.types)
	case "Collective name":
		a.extra = true
		return s.value(&a.collective)
	case "Process Group Name":
		a.extra = true
		return s.value(&a.group)
	case "Group size":
		return s.count(&a.groupSize)
	case "Seq":
		return s.count(&a.seq)
	case "dtype":
		return s.value(&a.dtype)
	case "In msg nelems":
		return s.count(&a.messageIn)
	case "Out msg nelems":
		return s.count(&a.messageOut)
	case "cuda_sync_kind":
		a.extra = true
		return s.value(&a.syncKind)
	}
	return s.skip(2)
}

func (s *scan) id(x *uint64) status {
	var v value
	st := s.value(&v)
	*x = v.id()
	return st
}

// count reads a number of things; what is none counts as not stated.
func (s *scan) count(x *int64) status {
	var v value
	st := s.value(&v)
	*x, _ = v.integer()
	*x = max(*x, 0)
	return st
}
