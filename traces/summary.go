package traces

// KernelSum is what a summary says of all launches of one kernel: sums have
// no timeline, so no step can be found in them.
type KernelSum struct {
	Name  string
	Count int64 // launches
	Total int64 // ns, summed; overlapping launches are counted twice
	// What the summary may leave out, in ns; nil where it does.
	Mean, Median, Min, Max, StdDev *int64
}

// Summarizer is a Reader of a file that holds sums. They are complete once
// Events has ended.
type Summarizer interface {
	Summaries() []KernelSum
}

// Counter is one hardware counter of one launch of a kernel.
type Counter struct {
	Launch  int64 // the profiler's number of the launch
	Kernel  string
	Metric  string  // "dram__bytes_read.sum", or the label that the page prints
	Value   float64 // in Unit
	Step    float64 // what one in the last printed digit is worth, in Unit
	Unit    string  // without scale: "byte", "ns", "byte/s", "hz", "%", …; "" for a plain number
	Section string  // of the page, "" where it has none

	Process     uint64 // process id
	Device      int    // -1 where unknown
	Stream      int64
	Grid, Block [3]int32
}

// Counters is a Reader of a file that holds counters. They are complete once
// Events has ended.
type Counters interface {
	Counters() []Counter
}
