package assemble

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"decodegap/traces"
)

// lost says what of a file could not be read or used, where its reader has not:
// nothing is dropped in silence, whatever the format.
func (t *Trace) lost(path string, meta traces.Meta, f *tracedFile) {
	said := func(codes ...string) bool {
		return slices.ContainsFunc(meta.Warnings, func(w traces.Warning) bool { return slices.Contains(codes, w.Code) })
	}
	if f.fault != nil && !said("damaged", "truncated") {
		what := strings.TrimPrefix(f.fault.Error(), path+": ")
		if damage := (*traces.Damage)(nil); errors.As(f.fault, &damage) && damage.Fatal {
			what += "; nothing behind it was read"
		}
		if f.faults > 1 {
			what = fmt.Sprintf("%d parts could not be read; the first: %s", f.faults, what)
		}
		t.Warn(path, "damaged", what)
	}
	if meta.Skipped > 0 && !said("unusable-times") {
		were := "events were"
		if meta.Skipped == 1 {
			were = "event was"
		}
		t.Warn(path, "unusable-times", fmt.Sprintf("%d %s left out: no time stamp, an end before its start, or one of years", meta.Skipped, were))
	}
}
