package assemble

import (
	"regexp"
	"strings"

	"decodegap/roofline"
	"decodegap/traces"
	"decodegap/traces/classify"
)

// tracedDevice is one device of one rank with what was found on it.
type tracedDevice struct {
	traces.Device
	line    traces.Timeline
	name    string // of the device
	path    string
	classes []classify.Class // of each operation of GPU; zero for copies and fills
	steps   traces.Steps
	none    error // why there are no steps
	profile *traces.StepProfile
}

// component is the component of the kernel at an index of GPU.
func (d *tracedDevice) component(i int) roofline.Component {
	if c := d.classes[i].Component; c != "" {
		return c
	}
	return roofline.Other
}

// classify gives each kernel its class, from its name, what was open on the
// host when it was launched, and the kernels around it.
func (d *tracedDevice) classify(rules *classify.Classifier, ops *openOps) {
	type call struct {
		process, corr uint64
	}
	launched := map[call]int{}
	for i, l := range d.Launches {
		if l.Corr != 0 {
			launched[call{l.Process, l.Corr}] = i
		}
	}
	open := ops.of(d.Launches)
	var kernels []classify.Kernel
	var at []int
	for i, e := range d.GPU {
		if e.Kind != traces.Kernel {
			continue
		}
		k := classify.Kernel{Name: e.Name, InGraph: e.Node != 0}
		if l, ok := launched[call{e.Process, e.Corr}]; ok && e.Corr != 0 {
			k.InGraph = k.InGraph || strings.Contains(d.Launches[l].Name, "Graph")
			k.Parent, k.Dims = open[l].names, open[l].dims
		}
		if e.Detail != nil {
			k.Grid, k.Block = e.Detail.Grid, e.Detail.Block
		}
		kernels = append(kernels, k)
		at = append(at, i)
	}
	d.classes = make([]classify.Class, len(d.GPU))
	for j, c := range rules.Sequence(kernels) {
		d.classes[at[j]] = c
	}
}

// find tells the steps apart and says where the median one's time goes.
func (d *tracedDevice) find(given *regexp.Regexp) {
	d.steps, d.none = traces.FindStepsBy(d.Device, given)
	if d.none != nil {
		return
	}
	p := traces.Attribute(d.steps.Step(), d.Device, d.component)
	d.profile = &p
}

// attention counts the kernels of the median step that are attention itself,
// not its schedule, preparation or the merging of its parts.
func (d *tracedDevice) attention() (n int) {
	st := d.profile.Step
	for i := st.First; i < st.Last; i++ {
		if d.GPU[i].Start >= st.Start && d.classes[i].IsAttention() {
			n++
		}
	}
	return n
}
