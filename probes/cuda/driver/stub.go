//go:build !cgo || !linux

package driver

// Missing says why this build cannot call a driver.
const Missing = "this build has no CUDA probes: they need Linux and a build with C"
