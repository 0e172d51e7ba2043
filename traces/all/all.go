// Package all is the list of trace formats.
//
// It refuses to know a format itself: each is a package of its own.
package all

import (
	"decodegap/traces"
	"decodegap/traces/kineto"
)

// All lists every trace format, the ones with the surest signs first.
var All = []traces.Format{
	kineto.Format,
}
