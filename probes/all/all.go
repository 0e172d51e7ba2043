// Package all lists the probes. It builds everywhere: a build without their
// kernels has an empty list, and says why.
package all
