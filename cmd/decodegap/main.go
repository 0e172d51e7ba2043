// Command decodegap measures how far an LLM's decode step is from what its
// hardware allows, says where each millisecond goes, and gates CI on it.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"decodegap/cmd/internal/exitcode"
	"decodegap/cmd/internal/term"
)

func main() {
	os.Exit(run(&environment{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr}))
}

// run is main with an exit code, so that tests can call it in their process.
// The command runs beside it: one that waits for a silent pipe or computes on
// is left alone when the user interrupts, since nothing it has not finished
// may appear. A second interrupt ends the process at once.
func run(env *environment) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := env.execute(ctx, stop)
	interrupted := ctx.Err() != nil
	stop()
	if interrupted && err != nil && exitcode.Of(err) != exitcode.Interrupted {
		err = exitcode.With(exitcode.Interrupted, errors.New("interrupted"))
	}
	if msg := errorText(err); msg != "" {
		fmt.Fprintln(os.Stderr, "decodegap: "+msg)
	}
	return exitcode.Of(err)
}

// grace is how long an interrupted command may take to keep what it has.
const grace = 5 * time.Second

// execute runs the command until it ends or ctx does, and then for as long as
// one needs that said it finishes by itself. Stop gives the next interrupt its
// usual effect.
func (e *environment) execute(ctx context.Context, stop func()) error {
	ended := make(chan error, 1)
	go func() { ended <- newRootCommand(e).ExecuteContext(ctx) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	stop()
	if e.finishes.Load() {
		select {
		case err := <-ended:
			return err
		case <-time.After(grace):
		}
	}
	return errors.New("interrupted")
}

// errorText is the message of an error, with cobra's suggestions on its line
// and every line clean: errors quote file names, flags and what files hold.
func errorText(err error) string {
	if err == nil {
		return ""
	}
	before, suggestions, ok := strings.Cut(err.Error(), "\n\nDid you mean this?\n")
	if !ok {
		return cleanLines(err.Error())
	}
	return cleanLines(before) + ": did you mean " + strings.Join(strings.Fields(term.Clean(suggestions)), " or ") + "?"
}

// cleanLines cleans each line of a message, some of which have a second one
// with the command to run next.
func cleanLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = term.Clean(line)
	}
	return strings.Join(lines, "\n")
}
