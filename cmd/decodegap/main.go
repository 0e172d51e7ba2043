// Command decodegap measures how far an LLM's decode step is from what its
// hardware allows, says where each millisecond goes, and gates CI on it.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"decodegap/cmd/internal/exitcode"
)

func main() { os.Exit(run()) }

// run is main with an exit code, so that tests can call it in their process.
func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	env := &environment{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr}
	err := newRootCommand(env).ExecuteContext(ctx)
	if ctx.Err() != nil && err != nil {
		err = exitcode.With(exitcode.Interrupted, fmt.Errorf("interrupted"))
	}
	if msg := errorText(err); msg != "" {
		fmt.Fprintln(os.Stderr, "decodegap: "+msg)
	}
	return exitcode.Of(err)
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
