package kineto

import (
	"bytes"

	"decodegap/traces"
)

// kindOf is what the events of a category are, Other for those nobody asks
// for. Writers of 2021 capitalise categories and say Kernel, Memcpy, Memset,
// Runtime and Operator.
func kindOf(cat value) traces.Kind {
	if !cat.quoted || len(cat.raw) == 0 || len(cat.raw) > 32 {
		return traces.Other
	}
	if k := kindOfLower(cat.raw); k != traces.Other {
		return k
	}
	for _, c := range cat.raw {
		if c >= 'A' && c <= 'Z' {
			return kindOfLower(bytes.ToLower(cat.raw))
		}
	}
	return traces.Other
}

func kindOfLower(cat []byte) traces.Kind {
	switch string(cat) {
	case "kernel":
		return traces.Kernel
	case "gpu_memcpy", "memcpy":
		return traces.Memcpy
	case "gpu_memset", "memset":
		return traces.Memset
	case "cuda_runtime", "cuda_driver", "hip_runtime", "hip_driver", "runtime":
		return traces.Runtime
	case "cuda_sync":
		return traces.Sync
	case "cpu_op", "operator":
		return traces.Op
	case "user_annotation":
		return traces.Range
	case "gpu_user_annotation":
		return traces.GPURange
	case "overhead":
		return traces.Overhead
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
