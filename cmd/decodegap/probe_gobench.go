package main

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"

	"decodegap/reports"
)

// writeGoBench prints results in the Go benchmark format, a line a block, so
// that benchstat can tell two runs apart. Cases without numbers are left out.
func writeGoBench(w io.Writer, doc *reports.CeilingsDocument) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "goos: %s\ngoarch: %s\npkg: decodegap/probes/%s\ncpu: %s\n", word(doc.Host.OS), word(doc.Host.Arch), word(doc.Device), reports.OneLine(doc.Hardware, 200))
	fmt.Fprintf(&b, "Unit ns/op better=lower\nUnit read-share better=higher\n")
	for _, r := range doc.Results {
		if r.TimeS == nil {
			continue
		}
		name := benchmarkName(r)
		for i, seconds := range r.TimeS.Values {
			fmt.Fprintf(&b, "%s %d %s ns/op", name, max(r.RunsPerBlock, 1), figure(seconds*1e9))
			if r.Bytes != nil {
				fmt.Fprintf(&b, " %s MB/s", figure(*r.Bytes/seconds/1e6))
			}
			if r.ReadShare != nil && i < len(r.ReadShare.Values) {
				fmt.Fprintf(&b, " %s read-share", figure(r.ReadShare.Values[i]))
			}
			b.WriteByte('\n')
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// figure prints v with six digits.
func figure(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

// benchmarkName is "BenchmarkGemvNvfp4/case=M=1_8192×8192/threads=2".
func benchmarkName(r reports.ProbeResult) string {
	_, short, _ := strings.Cut(r.Probe, "/")
	var b strings.Builder
	b.WriteString("Benchmark")
	upper := true
	for _, c := range short {
		switch {
		case c == '_' || c == '-' || c == '/':
			upper = true
		case upper:
			b.WriteRune(unicode.ToUpper(c))
			upper = false
		default:
			b.WriteRune(c)
		}
	}
	if r.Case != "" {
		b.WriteString("/case=" + word(r.Case))
	}
	return word(b.String())
}

// word makes text one word of a benchmark line: no blanks, nothing that does
// not print, and no '-' before digits at the end, which would be a processor
// count.
func word(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r), r == ':':
			return '_'
		case !unicode.IsPrint(r):
			return '?'
		}
		return r
	}, s)
	if at := strings.LastIndexByte(s, '-'); at >= 0 && at+1 < len(s) && strings.Trim(s[at+1:], "0123456789") == "" {
		s = s[:at] + "_" + s[at+1:]
	}
	return s
}
