package nsys

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"decodegap/traces"
)

// Report is the binary .nsys-rep: it is known in order to be refused.
var Report = traces.Format{
	Name: "nsys-rep",
	Doc:  "Nsight Systems report, binary: export it to SQLite first",
	Sniff: func(head []byte) bool {
		return bytes.Contains(head[:min(len(head), 512)], []byte("NVIDIA Tegra Profiler Report"))
	},
	Open: func(_ io.ReaderAt, _ int64, name string) (traces.Reader, error) {
		in := argument(name)
		out := strings.TrimSuffix(strings.TrimSuffix(in, ".nsys-rep"), ".qdrep") + ".sqlite"
		return nil, fmt.Errorf("%s: a binary Nsight Systems report; export it first: nsys export --type sqlite --output %s %s", name, out, in)
	},
}

// argument is name where a shell takes it as it is, else a placeholder.
func argument(name string) string {
	if name == "" || name[0] == '-' || strings.ContainsFunc(name, func(c rune) bool {
		return (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && !strings.ContainsRune("._-/+=:@", c)
	}) {
		return "REPORT.nsys-rep"
	}
	return name
}
