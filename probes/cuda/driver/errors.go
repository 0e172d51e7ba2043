package driver

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"decodegap/probes"
)

// ErrUnsupported says what of the driver is missing. It is a
// probes.ErrUnsupported.
type ErrUnsupported struct {
	Library string // as it was looked for
	Symbol  string // "" where the library itself is missing or too old
	Needs   int    // driver version, 1000·major + 10·minor; 0 if that is not it
	Has     int    // of the driver, 0 if unknown
	Reason  string // in the loader's or the driver's words
}

// Error says it in one line, with the next step where there is one.
func (e *ErrUnsupported) Error() string {
	switch {
	case e.Symbol != "" && e.Needs > e.Has && e.Has > 0:
		return fmt.Sprintf("%s has no %s: it came with CUDA %s, this driver is for %s; update the NVIDIA driver", e.Library, e.Symbol, version(e.Needs), version(e.Has))
	case e.Symbol != "":
		return fmt.Sprintf("%s has no %s; is it the NVIDIA driver's own library?", e.Library, e.Symbol)
	case e.Needs > 0:
		return fmt.Sprintf("%s is for CUDA %s, probes need %s; update the NVIDIA driver", e.Library, version(e.Has), version(e.Needs))
	}
	return e.Library + ": " + e.Reason
}

// Is makes it a probes.ErrUnsupported.
func (e *ErrUnsupported) Is(target error) bool { return target == probes.ErrUnsupported }

// version prints a driver version as people write it: 13.0.
func version(v int) string { return fmt.Sprintf("%d.%d", v/1000, v%1000/10) }

// Error is a call that the driver refused.
type Error struct {
	Call string // "cuMemAlloc"
	Code int    // CUresult
	Name string // "CUDA_ERROR_OUT_OF_MEMORY", "" if the driver does not know it
	Log  string // of the compiler, where it has one
}

// Error is short: the first line of a log and no more.
func (e *Error) Error() string {
	name := e.Name
	if name == "" {
		name = fmt.Sprintf("error %d", e.Code)
	}
	text := e.Call + ": " + name
	if e.Code == unavailable {
		text += ": another process has the GPU to itself (exclusive compute mode), or it cannot be used now; nvidia-smi shows both"
	}
	if first, _, _ := strings.Cut(strings.TrimSpace(e.Log), "\n"); first != "" {
		text += ": " + first
	}
	return text
}

// Format adds the whole log under %+v.
func (e *Error) Format(s fmt.State, verb rune) {
	io.WriteString(s, e.Error())
	if verb == 'v' && s.Flag('+') && e.Log != "" {
		io.WriteString(s, "\n"+strings.TrimRight(e.Log, "\n"))
	}
}

// Is makes what a GPU has no room or no code for a probes.ErrUnsupported.
func (e *Error) Is(target error) bool {
	if target != probes.ErrUnsupported {
		return false
	}
	switch e.Code {
	case outOfMemory, unavailable, noDevice, noBinary, unsupportedPTX:
		return true
	}
	return false
}

// The codes that mean something to us.
const (
	outOfMemory    = 2
	unavailable    = 46 // busy, or in an exclusive mode with another process on it
	noDevice       = 100
	noBinary       = 209
	unsupportedPTX = 222
	notReady       = 600
)

// sticky says whether a context survives an error no more.
func sticky(code int) bool {
	switch code {
	case 214, 220, // uncorrectable ECC and NVLink errors
		700, 702, 714, 715, 716, 717, 718, 719, // bad access, timeout, stack, instruction, alignment, space, counter, launch
		710, 999: // assert, unknown
		return true
	}
	return false
}

// ErrDeadline is a wait for the GPU that ran past its deadline.
type ErrDeadline struct {
	Call  string // what was waited for
	After time.Duration
}

// Error names the wait and its deadline.
func (e *ErrDeadline) Error() string {
	return fmt.Sprintf("%s did not end within %s", e.Call, e.After)
}

// ErrLost is every call on a device after one that it did not survive.
type ErrLost struct{ Cause error }

// Error names the first cause.
func (e *ErrLost) Error() string { return "the GPU's context is lost: " + e.Cause.Error() }

// Unwrap is the first cause.
func (e *ErrLost) Unwrap() error { return e.Cause }

// Lost says whether an error means that this process can use the GPU no more.
func Lost(err error) bool {
	var lost *ErrLost
	return errors.As(err, &lost)
}
