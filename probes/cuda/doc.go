// Package cuda times decode components on an NVIDIA GPU with kernels of its
// own, through the driver alone. It refuses to run them in the process that
// reports: a child does, so that a kernel that never ends or an error that the
// driver does not survive costs one result and not the run.
package cuda
