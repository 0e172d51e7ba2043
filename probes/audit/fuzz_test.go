package audit

import (
	"path/filepath"
	"strings"
	"testing"
	"unicode"
)

// FuzzParseLaunch feeds arbitrary text: no panic, positions inside the text,
// nothing a terminal would act on, and findings that can be shown.
func FuzzParseLaunch(f *testing.F) {
	files, err := filepath.Glob(filepath.Join(fixtures, "*.sh"))
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range files {
		f.Add(fixture(f, filepath.Base(path)))
	}
	for _, text := range []string{
		"A=(x \"$y\")\nvllm serve \"${A[@]}\" --o={} -O3 <<E\nE\n",
		"bash -c \"vllm serve m --api-key \\\"$K\\\"\" && case x in a) b;; esac",
		"python\x00-m\x00sglang.launch_server\x00--tp\x008",
		"docker run -it -e A -e B=c --env-file f $O img trtllm-serve m",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := ParseLaunch("x.sh", data)
		if err != nil {
			if strings.IndexFunc(err.Error(), unicode.IsControl) >= 0 {
				t.Fatalf("%q", err)
			}
			return
		}
		lines := strings.Split(string(data), "\n")
		place := func(line, col int) {
			if line < 1 || line > len(lines) || col < 1 || col > len(lines[line-1])+1 {
				t.Fatalf("%d:%d is outside the text", line, col)
			}
		}
		place(l.Line, l.Col)
		for _, x := range l.Flags {
			place(x.Line, x.Col)
		}
		for _, x := range l.Env {
			place(x.Line, x.Col)
		}
		for _, x := range append(l.Unread, l.Warnings...) {
			place(x.Line, x.Col)
		}
		describe(l)
		if text := raw(l); strings.IndexFunc(text, unicode.IsControl) >= 0 {
			t.Fatalf("%q", text)
		}
		four := 4
		yes := true
		for _, x := range Run(&Facts{Launch: l, Link: PCIe, GPUs: &four, CPUs: &four, Concurrency: &four, Context: &four, MLA: &yes}) {
			if x.Check == "" || x.Text == "" || !strings.HasPrefix(x.Where, "x.sh:") {
				t.Fatalf("%+v", x)
			}
		}
	})
}
