package traces

import "testing"

func TestCollector(t *testing.T) {
	c := Collector{Budget: 3}
	for _, e := range []Event{
		{Kind: Kernel, Name: "late", Start: 30, Dur: 1, Device: 0},
		{Kind: Kernel, Name: "early", Start: 10, Dur: 1, Device: 0},
		{Kind: Op, Start: 1, Dur: 1},
		{Kind: Kernel, Start: 5, Dur: 1, Device: 1, Rank: 2},
		{Kind: Kernel, Start: 50, Dur: 1, Device: 0}, // over the budget
		{Kind: Memcpy, Start: 20, Dur: 1, Device: 0},
		{Kind: GPURange, Name: "shadow", Start: 9, Dur: 5, Device: 0},
		{Kind: GPURange, Name: "another device's", Start: 9, Dur: 5, Device: 1},
		{Kind: Range, Name: "mark", Start: 2, Dur: 5, Device: -1},
		{Kind: Launch, Start: 4, Dur: 5, Device: -1},
		{Kind: Sync, Start: 6, Dur: 5, Device: -1, Rank: 2},
	} {
		c.Add(e)
	}
	devices := c.Done(77)
	if len(devices) != 2 || c.Left() != 1 {
		t.Fatalf("%d devices, %d left; want 2, 1", len(devices), c.Left())
	}
	a, b := devices[0], devices[1]
	if a.Rank != 0 || a.Device != 0 || a.Base != 77 || len(a.GPU) != 3 || a.GPU[0].Name != "early" || a.GPU[1].Kind != Memcpy ||
		len(a.Ranges) != 2 || a.Ranges[1].Name != "shadow" || len(a.Launches) != 1 || len(a.Syncs) != 0 {
		t.Errorf("first device %+v", a)
	}
	if b.Rank != 2 || b.Device != 1 || len(b.GPU) != 1 || len(b.Ranges) != 0 || len(b.Syncs) != 1 {
		t.Errorf("second device %+v", b)
	}
}
