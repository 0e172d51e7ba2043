package main

import (
	"errors"
	"io"
	"strconv"

	"github.com/google/pprof/profile"
	"github.com/ianlancetaylor/demangle"

	"decodegap/cmd/internal/assemble"
	"decodegap/reports"
)

// noComponent is the frame of kernels whose component was not looked for.
const noComponent = "component not known"

// longestName bounds a demangled name, as a power of two: a short mangled name
// can stand for a very long one.
const longestName = 13

// writeTracePprof writes the time and number of all GPU operations of the
// trace as a pprof profile: the kernel (or copy or fill) below its component,
// rank and device as labels. A trace without operations is an error, for an
// empty profile reads as no time spent.
func writeTracePprof(w io.Writer, made tracedRun) error {
	totals := made.trace.Totals()
	if len(totals) == 0 {
		return errors.New("no GPU operation in the trace to make a profile of")
	}
	span := made.trace.Span()
	b := pprofBuilder{functions: map[string]*profile.Location{}}
	b.SampleType = []*profile.ValueType{{Type: "gpu_time", Unit: "nanoseconds"}, {Type: "launches", Unit: "count"}}
	b.DefaultSampleType = "gpu_time"
	b.TimeNanos, b.DurationNanos = span.Start, span.Length
	// A mapping that has all names keeps pprof from looking for a program.
	b.Mapping = []*profile.Mapping{{ID: 1, File: "GPU", HasFunctions: true}}
	for _, f := range made.doc.Files {
		b.Comments = append(b.Comments, reports.OneLine(f.Path, 0))
	}
	for _, warning := range made.doc.Warnings {
		b.Comments = append(b.Comments, reports.OneLine(warning.Code+": "+warning.Text, 0))
	}
	for _, t := range totals {
		b.sample(t)
	}
	if err := b.CheckValid(); err != nil {
		return err
	}
	return b.Write(w)
}

// pprofBuilder makes one function and location of each name.
type pprofBuilder struct {
	profile.Profile
	functions map[string]*profile.Location
}

func (b *pprofBuilder) sample(t assemble.TraceTotal) {
	component := t.Component
	if component == "" {
		component = noComponent
	}
	s := &profile.Sample{Value: []int64{t.Time, t.Count}}
	s.Location = []*profile.Location{b.at("kernel\x00", t.Name), b.at("component\x00", component)} // the leaf first
	if t.Rank >= 0 {
		s.Label = map[string][]string{"rank": {strconv.Itoa(t.Rank)}, "device": {strconv.Itoa(t.Device)}}
	}
	b.Sample = append(b.Sample, s)
}

// at is the location of a name; kind keeps a kernel that is called as a
// component is apart from it.
func (b *pprofBuilder) at(kind, name string) *profile.Location {
	name = reports.OneLine(name, 0)
	if name == "" {
		name = "(no name)"
	}
	l := b.functions[kind+name]
	if l == nil {
		id := uint64(len(b.Function) + 1)
		// Where name and system name are equal pprof cuts the template arguments
		// off, which tell the kernels of one library apart.
		f := &profile.Function{ID: id, Name: name}
		if long, err := demangle.ToString(name, demangle.MaxLength(longestName)); err == nil && long != name {
			f.Name, f.SystemName = reports.OneLine(long, 0), name
		}
		l = &profile.Location{ID: id, Mapping: b.Mapping[0], Address: id, Line: []profile.Line{{Function: f}}}
		b.functions[kind+name] = l
		b.Function = append(b.Function, f)
		b.Location = append(b.Location, l)
	}
	return l
}
