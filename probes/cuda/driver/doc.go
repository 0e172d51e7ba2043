// Package driver calls the CUDA driver: its own table of the functions it
// needs, looked up in libcuda.so.1 at run time. It refuses to need a toolkit,
// to wait for a GPU without a deadline, to call a function that the installed
// driver lacks, and to change a clock, a mode or a limit.
//
// After an error that the context does not survive, or a wait that ran past its
// deadline, a Device is lost: each further call returns at once with what
// happened. Only another process can use the GPU then.
package driver
