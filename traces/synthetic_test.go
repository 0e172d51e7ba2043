package traces

import (
	"fmt"

	"decodegap/roofline"
)

// world builds synthetic traces with known answers. Times are ns.
type world struct {
	Device
	corr uint64
}

const us = int64(1000)

func newWorld(rank int) *world { return &world{Device: Device{Rank: rank, Device: rank}} }

// launch puts a launch call on the host and returns its correlation id.
func (w *world) launch(name string, start, dur int64) uint64 {
	w.corr++
	w.Launches = append(w.Launches, Event{Start: start, Dur: dur, Kind: Launch, Name: name, Device: -1, Rank: w.Rank, Stream: 1, Corr: w.corr, Process: 9})
	return w.corr
}

func (w *world) op(kind Kind, name string, stream, start, dur int64, corr uint64) {
	w.GPU = append(w.GPU, Event{Start: start, Dur: dur, Kind: kind, Name: name, Rank: w.Rank, Device: w.Device.Device, Stream: stream, Corr: corr, Process: 9})
}

func (w *world) kernel(name string, start, dur int64, corr uint64) {
	w.op(Kernel, name, 7, start, dur, corr)
}

func (w *world) sync(start, dur int64) {
	w.Syncs = append(w.Syncs, Event{Start: start, Dur: dur, Kind: Sync, Name: "cudaStreamSynchronize", Device: -1, Stream: 1, Process: 9})
}

func (w *world) mark(kind Kind, name string, start, end int64, external uint64) {
	w.Ranges = append(w.Ranges, Event{Start: start, Dur: end - start, Kind: kind, Name: name, External: external, Device: -1, Process: 9})
}

// eager runs steps of kernels launched one by one: the host needs pitch per
// launch, the device less. It returns the start of each step on the device.
func (w *world) eager(steps int, names []string, pitch, dur int64) (starts []int64) {
	t := int64(1_000_000)
	for range steps {
		for i, n := range names {
			c := w.launch("cudaLaunchKernel", t, pitch/2)
			if i == 0 {
				starts = append(starts, t+pitch/4)
			}
			w.kernel(n, t+pitch/4, dur, c)
			t += pitch
		}
		t += 5 * pitch // the host's work between two steps
	}
	return starts
}

// decoder names the kernels of a decode step of so many layers.
func decoder(layers int) []string {
	names := []string{"embedding"}
	for range layers {
		names = append(names, "norm", "qkv", "rope", "attention", "out", "norm", "gate_up", "silu", "down")
	}
	return append(names, "norm", "lm_head", "argmax")
}

// replay puts one graph launch with a kernel every pitch on the device.
func (w *world) replay(names []string, start, pitch, dur int64) (end int64) {
	c := w.launch("cudaGraphLaunch", start-50*us, 20*us)
	for _, n := range names {
		w.kernel(n, start, dur, c)
		end = start + dur
		start += pitch
	}
	return end
}

// byName is a component function for synthetic kernels.
func (w *world) byName(i int) roofline.Component {
	switch w.GPU[i].Name {
	case "all_reduce":
		return roofline.AllReduce
	case "send":
		return roofline.P2P
	case "qkv":
		return roofline.AttentionQKV
	case "attention":
		return roofline.AttentionCore
	case "gate_up", "down":
		return roofline.MLPDense
	case "norm":
		return roofline.Norm
	case "copy":
		return roofline.Memcpy
	}
	return roofline.Other
}

// checkSums says what is wrong with a profile's sums, "" if nothing.
func checkSums(p StepProfile) string {
	var parts int64
	for _, ns := range p.ByComponent {
		if ns <= 0 {
			return fmt.Sprintf("component with %d ns", ns)
		}
		parts += ns
	}
	if parts != p.Step.Busy {
		return fmt.Sprintf("components %d ns, busy %d ns", parts, p.Step.Busy)
	}
	if got := parts + p.Idle.Total(); got != p.Step.Wall() {
		return fmt.Sprintf("components %d + idle %d = %d ns, wall %d ns", parts, p.Idle.Total(), got, p.Step.Wall())
	}
	return ""
}
