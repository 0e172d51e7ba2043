package pprof

import (
	"strconv"

	"github.com/google/pprof/profile"
	"github.com/ianlancetaylor/demangle"

	"decodegap/reports"
)

// longestName bounds a demangled name, as a power of two: a short mangled name
// can stand for a very long one.
const longestName = 13

// builder makes one function and location of each name.
type builder struct {
	profile.Profile
	floors    bool
	functions map[string]*profile.Location
}

func newBuilder(floors bool) *builder {
	b := &builder{floors: floors, functions: map[string]*profile.Location{}}
	b.SampleType = []*profile.ValueType{{Type: "time", Unit: "nanoseconds"}}
	if floors {
		b.SampleType = append(b.SampleType, &profile.ValueType{Type: "floor", Unit: "nanoseconds"}, &profile.ValueType{Type: "gap", Unit: "nanoseconds"})
	}
	b.SampleType = append(b.SampleType, &profile.ValueType{Type: "count", Unit: "count"})
	b.DefaultSampleType = "time"
	// A mapping that has all names keeps pprof from looking for a program.
	b.Mapping = []*profile.Mapping{{ID: 1, File: "GPU", HasFunctions: true}}
	return b
}

// sample adds a leaf below its stack, innermost frame first.
func (b *builder) sample(step *reports.TracedStep, leaf string, stack []string, time, floor, count int64) {
	s := &profile.Sample{Location: []*profile.Location{b.at("kernel\x00", leaf)}, Value: []int64{time}}
	for i, frame := range stack {
		s.Location = append(s.Location, b.at(strconv.Itoa(len(stack)-i)+"\x00", frame))
	}
	if b.floors {
		s.Value = append(s.Value, floor, time-floor)
	}
	s.Value = append(s.Value, count)
	s.Label = map[string][]string{}
	if step.Rank >= 0 {
		s.Label["rank"] = []string{strconv.Itoa(step.Rank)}
		s.Label["device"] = []string{strconv.Itoa(step.Device)}
	}
	if step.Kind != "" {
		s.Label["step"] = []string{reports.OneLine(step.Kind, 0)}
	}
	b.Sample = append(b.Sample, s)
}

// at is the location of a name; kind keeps a kernel that is called as a
// component is apart from it.
func (b *builder) at(kind, name string) *profile.Location {
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
