// Package all is the list of trace formats.
//
// It refuses to know a format itself: each is a package of its own.
package all

import (
	"decodegap/traces"
	"decodegap/traces/kineto"
	"decodegap/traces/ncu"
	"decodegap/traces/nsys"
)

// All lists every trace format, the ones with the surest signs first. The
// binary reports are there to be refused with the command that exports them.
var All = []traces.Format{
	nsys.Report,
	ncu.Report,
	nsys.SQLite,
	nsys.Stats,
	ncu.CSV,
	kineto.Format,
}
