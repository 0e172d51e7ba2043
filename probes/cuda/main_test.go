//go:build cgo && linux

package cuda

import (
	"context"
	"os"
	"os/exec"
	"testing"
)

// childVariable makes the test program a child that serves one request.
const childVariable = "DECODEGAP_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		if err := Serve(context.Background(), os.Stdin, os.Stdout, scriptedTelemetry); err != nil {
			panic(err)
		}
		return
	}
	m.Run()
}

// thisProgram starts the test program as a child, with variables of its own.
func thisProgram(variables ...string) func(context.Context) *exec.Cmd {
	return func(ctx context.Context) *exec.Cmd {
		cmd := exec.CommandContext(ctx, os.Args[0])
		cmd.Env = append(append(os.Environ(), childVariable+"=1"), variables...)
		return cmd
	}
}
