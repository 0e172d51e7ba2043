package main

import (
	"bytes"
	"strings"
	"testing"
)

// TestEmptyListsAreRefused: a list flag without a value names no point.
func TestEmptyListsAreRefused(t *testing.T) {
	for _, command := range [][]string{{"floor", "qwen3-0.6b"}, {"diagnose", "qwen3-0.6b", "--measured", "5ms"}} {
		for _, flag := range []string{"--batch", "--context", "--tp"} {
			var out, say bytes.Buffer
			root := newRootCommand(&environment{stdin: strings.NewReader(""), stdout: &out, stderr: &say})
			root.SetArgs(append(command[:len(command):len(command)], "--hardware", "H200 SXM", flag, ""))
			err := root.Execute()
			if err == nil || !strings.Contains(err.Error(), flag) || out.Len() > 0 {
				t.Errorf("%v %s \"\": %v, wrote %d bytes", command, flag, err, out.Len())
			}
		}
	}
}
