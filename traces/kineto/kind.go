package kineto

import (
	"bytes"

	"decodegap/traces"
)

// kinds maps a category, in lower case, to what its events are. Writers of
// 2021 capitalise them and say kernel, memcpy, memset, runtime and operator.
var kinds = []struct {
	cat  string
	kind traces.Kind
}{
	{"kernel", traces.Kernel},
	{"gpu_memcpy", traces.Memcpy},
	{"memcpy", traces.Memcpy},
	{"gpu_memset", traces.Memset},
	{"memset", traces.Memset},
	{"cuda_runtime", traces.Runtime},
	{"cuda_driver", traces.Runtime},
	{"hip_runtime", traces.Runtime},
	{"hip_driver", traces.Runtime},
	{"runtime", traces.Runtime},
	{"cuda_sync", traces.Sync},
	{"cpu_op", traces.Op},
	{"operator", traces.Op},
	{"user_annotation", traces.Range},
	{"gpu_user_annotation", traces.GPURange},
	{"overhead", traces.Overhead},
}

// kindOf is what a category's events are; Other for those nobody asks for.
func kindOf(cat value) traces.Kind {
	if !cat.quoted || len(cat.raw) > 32 {
		return traces.Other
	}
	for _, k := range kinds {
		if string(cat.raw) == k.cat {
			return k.kind
		}
	}
	if bytes.IndexFunc(cat.raw, func(r rune) bool { return r >= 'A' && r <= 'Z' }) < 0 {
		return traces.Other
	}
	lower := bytes.ToLower(cat.raw)
	for _, k := range kinds {
		if string(lower) == k.cat {
			return k.kind
		}
	}
	return traces.Other
}

// launches and waits are parts of the names of calls that put work on a device
// and of calls that wait for it.
var (
	launches = [][]byte{[]byte("Launch"), []byte("Memcpy"), []byte("Memset")}
	waits    = []byte("Synchronize")
)

// call tells launches and waits from other calls by the call's name.
func call(name []byte) traces.Kind {
	if bytes.Contains(name, waits) {
		return traces.Sync
	}
	for _, l := range launches {
		if bytes.Contains(name, l) {
			return traces.Launch
		}
	}
	return traces.Runtime
}
