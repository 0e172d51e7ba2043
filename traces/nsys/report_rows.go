package nsys

import (
	"strconv"
	"strings"

	"decodegap/traces"
	"decodegap/traces/profcsv"
)

// reportKind is a report of `nsys stats`.
type reportKind uint8

const (
	noReport reportKind = iota
	traceReport
	sumReport
	otherReport
)

// header says where a report's columns stand and in which unit.
type header struct {
	kind   reportKind
	fields int // of a whole row
	at     map[string]int
	shift  map[string]int // power of ten to ns, or to bytes
}

// readHeader tells a report by its columns.
func readHeader(fields []string) header {
	h := header{fields: len(fields), at: map[string]int{}, shift: map[string]int{}}
	if len(fields) < 4 || len(fields) > 100 {
		return header{}
	}
	for i, f := range fields {
		f = strings.TrimSpace(f)
		name, unit, _ := strings.Cut(f, " (")
		unit = strings.TrimSuffix(unit, ")")
		shift, known := unitShift(unit)
		if _, twice := h.at[name]; twice || !known {
			continue
		}
		h.at[name], h.shift[name] = i, shift
	}
	has := func(names ...string) bool {
		for _, n := range names {
			if _, ok := h.at[n]; !ok {
				return false
			}
		}
		return true
	}
	switch {
	case has("Start", "Duration", "CorrId", "Name"):
		h.kind = traceReport
	case has("Total Time", "Instances", "Name"):
		h.kind = sumReport
	case has("Total Time", "Name"), has("Total Time", "Operation"), has("Total Time", "Range"), has("Total", "Count", "Operation"):
		h.kind = otherReport
	}
	return h
}

// unitShift is the power of ten from a header's unit to ns or bytes.
func unitShift(unit string) (int, bool) {
	switch unit {
	case "", "ns", "nsec", "B", "b", "byte", "bytes", "%":
		return 0, true
	case "us", "usec", "μs", "µs", "KB", "kB":
		return 3, true
	case "ms", "msec", "MB":
		return 6, true
	case "s", "sec", "GB":
		return 9, true
	}
	return 0, false
}

func (h header) text(row []string, name string) string {
	if i, ok := h.at[name]; ok && i < len(row) {
		return row[i]
	}
	return ""
}

// scaled is a column in ns or bytes.
func (h header) scaled(row []string, name string) (int64, bool) {
	n, ok := profcsv.ParseNumber(h.text(row, name))
	if !ok {
		return 0, false
	}
	return n.Int(h.shift[name])
}

func (h header) integer(row []string, name string) int64 {
	v, _ := h.scaled(row, name)
	return v
}

// sum reads a row of cuda_gpu_kern_sum.
func (h header) sum(row []string) (s traces.KernelSum, ok bool) {
	total, whole := h.scaled(row, "Total Time")
	count, counted := h.scaled(row, "Instances")
	s = traces.KernelSum{Name: bounded([]byte(h.text(row, "Name"))), Total: total, Count: count}
	for name, to := range map[string]**int64{"Avg": &s.Mean, "Med": &s.Median, "Min": &s.Min, "Max": &s.Max, "StdDev": &s.StdDev} {
		if v, known := h.scaled(row, name); known && v >= 0 {
			*to = &v
		}
	}
	return s, whole && counted && total >= 0 && count >= 0 && s.Name != ""
}

// event reads a row of cuda_gpu_trace and the device's name.
func (h header) event(row []string) (e traces.Event, device string, ok bool) {
	const far = 1 << 61
	start, whole := h.scaled(row, "Start")
	dur, timed := h.scaled(row, "Duration")
	if !whole || !timed || start < -far || start > far || dur > far {
		return e, "", false
	}
	e = traces.Event{Start: start, Dur: dur, Kind: traces.Kernel, Name: bounded([]byte(h.text(row, "Name")))}
	e.Stream, e.Corr = h.integer(row, "Strm"), uint64(max(h.integer(row, "CorrId"), 0))
	switch lower := strings.ToLower(e.Name); {
	case strings.HasPrefix(lower, "[cuda memcpy"), strings.HasPrefix(lower, "[cuda unified memory memcpy"):
		e.Kind = traces.Memcpy
	case strings.HasPrefix(lower, "[cuda memset"):
		e.Kind = traces.Memset
	default:
		var d traces.Detail
		for i, axis := range []string{"X", "Y", "Z"} {
			d.Grid[i], d.Block[i] = int32(h.integer(row, "Grd"+axis)), int32(h.integer(row, "Blk"+axis))
		}
		e.Detail = &d
	}
	if e.Kind != traces.Kernel {
		e.Bytes = h.bytes(row)
	}
	// "NVIDIA H200 (0)"
	device = h.text(row, "Device")
	if i := strings.LastIndexByte(device, '('); i >= 0 {
		if n, err := strconv.Atoi(strings.TrimSuffix(device[i+1:], ")")); err == nil && n >= 0 && n < maxDevice {
			e.Device, device = n, strings.TrimSpace(device[:i])
		}
	}
	if len(device) > 200 {
		device = ""
	}
	return e, device, true
}

// bytes is the size of a copy where the report prints it to 1 % or better: of
// "0.004" MB the bytes are not known.
func (h header) bytes(row []string) int64 {
	n, ok := profcsv.ParseNumber(h.text(row, "Bytes"))
	if !ok {
		return 0
	}
	v, ok := n.Int(h.shift["Bytes"])
	step, _ := profcsv.ParseNumber("1")
	step.Exp = n.Exp
	if unit, fits := step.Int(h.shift["Bytes"]); !ok || v < 0 || fits && unit > 1 && v < 50*unit {
		return 0
	}
	return v
}
