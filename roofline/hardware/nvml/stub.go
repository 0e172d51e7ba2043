//go:build !linux || !cgo

package nvml

import "fmt"

// open says why this build cannot ask a driver.
func open() (driver, error) {
	return nil, fmt.Errorf("%w: this build has no NVML (it needs Linux and cgo)", ErrUnavailable)
}
