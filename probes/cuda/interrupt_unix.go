//go:build unix

package cuda

import (
	"os"
	"syscall"
)

// interrupt asks a child to end and to say what it has.
func interrupt(p *os.Process) error { return p.Signal(syscall.SIGINT) }
