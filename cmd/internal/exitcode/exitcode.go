// Package exitcode holds the process exit codes, documented once, and the
// error type that carries one from a command to main. It never exits itself.
package exitcode

import (
	"context"
	"errors"
)

// The exit codes of every command.
const (
	OK            = 0   // done, or gate passed
	GateFailed    = 1   // the gate's verdict is fail
	Usage         = 2   // usage or input error; the message says what was expected
	NotComparable = 3   // not comparable or inconclusive
	Unavailable   = 4   // a device, driver or tool that the command needs is absent
	Interrupted   = 130 // ended by ctrl-C
)

// Help is the EXIT STATUS section that every command's help ends with.
const Help = `EXIT STATUS
  0    done, or gate passed
  1    gate failed
  2    usage or input error
  3    not comparable or inconclusive
  4    a device, driver or tool that the command needs is absent
  130  interrupted`

// Error is an error with the exit code the process should end with.
type Error struct {
	Code int
	Err  error // nil: the command has already said everything
}

func (e *Error) Error() string {
	if e.Err == nil {
		return ""
	}
	return e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// With gives err an exit code.
func With(code int, err error) error { return &Error{Code: code, Err: err} }

// Of is the code for err: its own if it carries one, Interrupted for a
// cancelled context, Usage for any other error.
func Of(err error) int {
	var e *Error
	switch {
	case err == nil:
		return OK
	case errors.As(err, &e):
		return e.Code
	case errors.Is(err, context.Canceled):
		return Interrupted
	}
	return Usage
}
