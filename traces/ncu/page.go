package ncu

import (
	"slices"
	"strconv"
	"strings"

	"decodegap/traces"
	"decodegap/traces/profcsv"
)

// page is the layout that a header announces.
type page struct {
	raw    bool
	fields int // of a whole row
	id     int
	at     map[string]int
	header []string
	unit   []string // raw page: the row of units
}

// about are the columns that say of which launch a row is; all others of a raw
// page are metrics. Process and host name are never kept.
var about = []string{"ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream",
	"Block Size", "Grid Size", "Device", "CC", "Thread Domain:Push/Pop_Range:PL_Type:PL_Value:CLR_Type:Color:Msg_Type:Msg"}

// descriptions are families of metrics that describe the card and the system,
// equal in every row: not counters of a kernel.
var descriptions = []string{"device__attribute_", "nvlink__", "numa__", "c2clink__", "profiler__", "pcie__attribute"}

// readHeader tells a header; what says why nothing behind it can be read.
func readHeader(fields []string) (p page, what string, ok bool) {
	if len(fields) < 3 || !slices.Contains(fields, "ID") || !slices.Contains(fields, "Kernel Name") {
		return page{}, "", false
	}
	p = page{fields: len(fields), at: map[string]int{}, header: slices.Clone(fields)}
	for i, f := range fields {
		if _, twice := p.at[f]; !twice {
			p.at[f] = i
		}
	}
	p.id = p.at["ID"]
	_, named := p.at["Metric Name"]
	_, valued := p.at["Metric Value"]
	if p.raw = !named; named && !valued {
		return page{}, "a summary over launches (--print-summary): print --page raw or --page details without it", true
	}
	return p, "", true
}

// holds says whether a record is a row of the page. A details row may lack the
// rule columns at its end.
func (p page) holds(r profcsv.Record) bool {
	if p.fields == 0 || len(r.Fields) > p.fields || p.raw && len(r.Fields) < p.fields {
		return false
	}
	if !p.raw && len(r.Fields) <= max(p.at["Metric Value"], p.at["Metric Name"], p.at["Kernel Name"]) {
		return false
	}
	if p.id >= len(r.Fields) {
		return false
	}
	_, err := strconv.ParseUint(r.Fields[p.id], 10, 62)
	return err == nil
}

func (p page) text(row []string, name string) string {
	if i, ok := p.at[name]; ok && i < len(row) {
		return row[i]
	}
	return ""
}

func (p page) integer(row []string, name string, otherwise int64) int64 {
	if n, ok := profcsv.ParseNumber(p.text(row, name)); ok {
		if v, fits := n.Int(0); fits {
			return v
		}
	}
	return otherwise
}

// counters hands on what a row holds: one counter of a details row, none of a
// rule's row, all of a raw row. "n/a" and words are no values.
func (p page) counters(row []string, use func(traces.Counter)) {
	c := traces.Counter{Kernel: p.text(row, "Kernel Name"), Section: p.text(row, "Section Name"), Device: -1}
	c.Launch = p.integer(row, "ID", 0)
	c.Process = uint64(max(p.integer(row, "Process ID", 0), 0))
	c.Stream = p.integer(row, "Stream", 0)
	if d := p.integer(row, "Device", -1); d >= 0 && d < 1<<16 {
		c.Device = int(d)
	}
	c.Grid, c.Block = dims(p.text(row, "Grid Size")), dims(p.text(row, "Block Size"))
	value := func(metric, unit, text string) {
		n, ok := profcsv.ParseNumber(text)
		if !ok || metric == "" {
			return
		}
		base, shift := plainUnit(unit)
		one, _ := profcsv.ParseNumber("1")
		one.Exp = n.Exp
		v, fits := n.Float(shift)
		step, small := one.Float(shift)
		if !fits || !small {
			return
		}
		c.Metric, c.Unit, c.Value, c.Step = metric, base, v, step
		use(c)
	}
	if !p.raw {
		value(p.text(row, "Metric Name"), p.text(row, "Metric Unit"), p.text(row, "Metric Value"))
		return
	}
	for i, metric := range p.header {
		if slices.Contains(about, metric) || slices.ContainsFunc(descriptions, func(d string) bool { return strings.HasPrefix(metric, d) }) {
			continue
		}
		unit := ""
		if i < len(p.unit) {
			unit = p.unit[i]
		}
		value(metric, unit, row[i])
	}
}

// dims reads "(3584, 1, 1)".
func dims(text string) (d [3]int32) {
	parts := strings.Split(strings.Trim(text, "() "), ",")
	if len(parts) != 3 {
		return [3]int32{}
	}
	for i, p := range parts {
		v, err := strconv.ParseInt(strings.TrimSpace(p), 10, 32)
		if err != nil {
			return [3]int32{}
		}
		d[i] = int32(v)
	}
	return d
}
