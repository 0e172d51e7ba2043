// Package cpu times decode components on this machine's processor, with
// kernels in C: a scalar twin of each, and vector variants (attention's in matrix
// tiles too) chosen by CPUID at run time. It refuses compile flags that would bind the binary to one CPU, Go
// memory kept by C, and a kernel that no test holds against float64.
package cpu
