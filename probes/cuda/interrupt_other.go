//go:build !unix

package cuda

import "os"

// interrupt ends a child: the system has no gentler way.
func interrupt(p *os.Process) error { return p.Kill() }
