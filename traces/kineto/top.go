package kineto

import (
	"bytes"
	"strings"
)

// facts are the top-level members that a reader may pass on.
var facts = []string{
	"schemaVersion", "displayTimeUnit", "cupti_version", "cuda_runtime_version", "cuda_driver_version",
	"roctracer_version", "hip_runtime_version", "hip_driver_version", "record_shapes", "profile_memory", "with_stack", "with_flops", "with_modules",
}

// maxFact bounds the text of one.
const maxFact = 100

// environments are the names under which writers have stored the environment
// of the profiled process.
var environments = []string{"env", "environ", "environment", "environment_variables", "environmentvariables", "env_vars", "envvars", "os_environ", "process_env", "process_environment", "host_env"}

// secrets are how the names of variables end that hold what must not be told.
var secrets = []string{"_token", "_key", "apikey", "secret", "password", "passwd", "credential", "credentials"}

// isEnvironment says whether a member with a key holds an environment, or a
// text that looks like one of its secrets; first is what its value begins with.
func isEnvironment(key []byte, first byte) bool {
	if len(key) > 64 || first != '{' && first != '[' && first != '"' {
		return false
	}
	lower := strings.ToLower(string(key))
	for _, e := range environments {
		if lower == e {
			return true
		}
	}
	for _, s := range secrets {
		if first == '"' && strings.HasSuffix(lower, s) {
			return true
		}
	}
	return false
}

// top reads the value of a member of the document other than traceEvents.
func (r *reader) top(key string) status {
	c := r.b[r.i]
	if isEnvironment([]byte(key), c) {
		r.environment = true
		return r.skip(0)
	}
	switch {
	case key == "distributedInfo" && c == '{':
		return r.distributed()
	case key == "deviceProperties" && c == '[':
		return r.devices()
	case key == "baseTimeNanoseconds":
		var v value
		st := r.value(&v)
		if x, ok := v.integer(); ok && st == whole {
			r.meta.Base = x
		}
		return st
	case key == "rocprofiler-sdk-tool":
		r.rocprof = true
	}
	for _, f := range facts {
		if key == f && c != '{' && c != '[' {
			var v value
			st := r.value(&v)
			if st == whole && len(v.raw) <= maxFact {
				if r.meta.Facts == nil {
					r.meta.Facts = map[string]string{}
				}
				r.meta.Facts[f] = r.names.text(v.raw)
			}
			return st
		}
	}
	return r.skip(0)
}

func (r *reader) distributed() status {
	var rank, world, backend value
	st := r.scan.object(func(key []byte) status {
		switch string(key) {
		case "rank":
			return r.value(&rank)
		case "world_size":
			return r.value(&world)
		case "backend":
			return r.value(&backend)
		}
		return r.skip(1)
	})
	if st != whole {
		return st
	}
	if n, ok := rank.integer(); ok && n >= 0 && n < 1<<24 {
		r.ranks.rank = int(n)
		r.meta.Ranks = []int{int(n)}
	}
	if n, ok := world.integer(); ok && n > 0 && n < 1<<24 {
		r.meta.WorldSize = int(n)
	}
	return whole
}

// maxDevices bounds the devices that are named.
const maxDevices = 1024

func (r *reader) devices() status {
	found := map[int]string{}
	none, st := r.empty(']')
	for more := !none; more && st == whole; {
		if st = r.space(); st != whole {
			break
		}
		var id, name value
		if r.b[r.i] != '{' {
			st = r.skip(1)
		} else {
			st = r.scan.object(func(key []byte) status {
				switch string(key) {
				case "id":
					return r.value(&id)
				case "name":
					return r.value(&name)
				}
				return r.skip(2)
			})
		}
		if n, ok := id.integer(); ok && st == whole && n >= 0 && n < maxDevices && len(bytes.TrimSpace(name.raw)) > 0 {
			found[int(n)] = r.names.text(name.raw[:min(len(name.raw), maxFact)])
		}
		if st == whole {
			more, st = r.more(']')
		}
	}
	if st == whole && len(found) > 0 {
		r.meta.Devices = found
	}
	return st
}
