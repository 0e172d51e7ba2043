package traces

// Device is what one rank's process did with one device, in memory: the input
// of everything that reasons about steps. All slices are sorted by Start and
// are read, never changed.
type Device struct {
	Rank   int // of the process in its group
	Device int // number of the device, as the trace writes it
	// Base is ns since the Unix epoch of Start 0, 0 if unknown. Devices whose
	// clocks are known need not be guessed at when ranks are matched.
	Base int64
	// Truncated: the file ends before it should, so that work of its last steps
	// may be missing.
	Truncated bool

	GPU      []Event // kernels, copies and sets of this device, on all its streams
	Ranges   []Event // Range of the rank's process and GPURange of this device
	Launches []Event // Launch of the rank's process
	Syncs    []Event // Sync of the rank's process
}

// call names a runtime call: correlation ids of two processes may be equal.
type call struct{ process, corr uint64 }

func (e Event) call() call { return call{e.Process, e.Corr} }

// usable says whether an operation has a length that can be counted. Readers
// drop the rest; this is the last line before arithmetic that must not wrap.
func (e Event) usable() bool { return e.Dur > 0 && e.End() > e.Start }
