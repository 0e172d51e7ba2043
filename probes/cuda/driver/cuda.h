// Our own declarations of the little of the CUDA driver API that probes call:
// no vendor header is needed, and the library is looked up at run time, symbol
// by symbol. Handles are opaque words.
#ifndef DECODEGAP_CUDA_H
#define DECODEGAP_CUDA_H

#include <stddef.h>
#include <stdint.h>

typedef int dgc_result;     // CUresult, 0 is success
typedef uintptr_t dgc_word; // CUcontext, CUmodule, CUfunction, CUstream, CUevent, CUgraph, CUgraphExec
typedef uint64_t dgc_ptr;   // CUdeviceptr

// One attribute of a launch, laid out as CUlaunchAttribute: 64 bytes of value
// behind an id, aligned to eight.
typedef struct {
	int id;
	char pad[4];
	union { char pad[64]; int value; struct { unsigned x, y, z; } cluster; } u;
} dgc_attribute;

// CUlaunchConfig.
typedef struct {
	unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared;
	dgc_word stream;
	dgc_attribute *attributes;
	unsigned count;
} dgc_config;

// Every symbol once: name, the driver version it came with (1000·major +
// 10·minor), whether probes can do without, the call, the parameters.
#define DGC_NEEDED 0
#define DGC_SPARED 1
#define DGC_SYMBOLS(X) \
	X(cuInit, 2000, DGC_NEEDED, (flags), unsigned flags) \
	X(cuDriverGetVersion, 2020, DGC_NEEDED, (v), int *v) \
	X(cuGetErrorName, 6000, DGC_NEEDED, (r, s), dgc_result r, const char **s) \
	X(cuDeviceGetCount, 2000, DGC_NEEDED, (n), int *n) \
	X(cuDeviceGet, 2000, DGC_NEEDED, (d, i), int *d, int i) \
	X(cuDeviceGetName, 2000, DGC_NEEDED, (s, n, d), char *s, int n, int d) \
	X(cuDeviceGetAttribute, 2000, DGC_NEEDED, (v, a, d), int *v, int a, int d) \
	X(cuDeviceTotalMem_v2, 3020, DGC_NEEDED, (n, d), size_t *n, int d) \
	X(cuDeviceGetPCIBusId, 4010, DGC_SPARED, (s, n, d), char *s, int n, int d) \
	X(cuDevicePrimaryCtxRetain, 7000, DGC_NEEDED, (c, d), dgc_word *c, int d) \
	X(cuDevicePrimaryCtxRelease_v2, 11000, DGC_NEEDED, (d), int d) \
	X(cuCtxSetCurrent, 4000, DGC_NEEDED, (c), dgc_word c) \
	X(cuDeviceCanAccessPeer, 4000, DGC_SPARED, (yes, d, p), int *yes, int d, int p) \
	X(cuCtxEnablePeerAccess, 4000, DGC_SPARED, (c, f), dgc_word c, unsigned f) \
	X(cuMemcpyPeer, 4000, DGC_SPARED, (to, tc, from, fc, n), dgc_ptr to, dgc_word tc, dgc_ptr from, dgc_word fc, size_t n) \
	X(cuModuleLoadDataEx, 2010, DGC_NEEDED, (m, image, n, o, v), dgc_word *m, const void *image, unsigned n, int *o, void **v) \
	X(cuModuleUnload, 2000, DGC_NEEDED, (m), dgc_word m) \
	X(cuModuleGetFunction, 2000, DGC_NEEDED, (f, m, s), dgc_word *f, dgc_word m, const char *s) \
	X(cuFuncSetAttribute, 9000, DGC_NEEDED, (f, a, v), dgc_word f, int a, int v) \
	X(cuFuncGetAttribute, 2020, DGC_NEEDED, (v, a, f), int *v, int a, dgc_word f) \
	X(cuOccupancyMaxActiveBlocksPerMultiprocessor, 6050, DGC_NEEDED, (n, f, b, s), int *n, dgc_word f, int b, size_t s) \
	X(cuMemGetInfo_v2, 3020, DGC_NEEDED, (free, all), size_t *free, size_t *all) \
	X(cuMemAlloc_v2, 3020, DGC_NEEDED, (p, n), dgc_ptr *p, size_t n) \
	X(cuMemFree_v2, 3020, DGC_NEEDED, (p), dgc_ptr p) \
	X(cuMemcpyHtoD_v2, 3020, DGC_NEEDED, (d, s, n), dgc_ptr d, const void *s, size_t n) \
	X(cuMemcpyDtoH_v2, 3020, DGC_NEEDED, (d, s, n), void *d, dgc_ptr s, size_t n) \
	X(cuMemsetD8Async, 3020, DGC_NEEDED, (d, v, n, s), dgc_ptr d, unsigned char v, size_t n, dgc_word s) \
	X(cuStreamCreate, 2000, DGC_NEEDED, (s, f), dgc_word *s, unsigned f) \
	X(cuStreamDestroy_v2, 4000, DGC_NEEDED, (s), dgc_word s) \
	X(cuStreamBeginCapture_v2, 10010, DGC_NEEDED, (s, m), dgc_word s, int m) \
	X(cuStreamEndCapture, 10000, DGC_NEEDED, (s, g), dgc_word s, dgc_word *g) \
	X(cuGraphInstantiateWithFlags, 11040, DGC_NEEDED, (e, g, f), dgc_word *e, dgc_word g, unsigned long long f) \
	X(cuGraphUpload, 11010, DGC_NEEDED, (e, s), dgc_word e, dgc_word s) \
	X(cuGraphLaunch, 10000, DGC_NEEDED, (e, s), dgc_word e, dgc_word s) \
	X(cuGraphExecDestroy, 10000, DGC_NEEDED, (e), dgc_word e) \
	X(cuGraphDestroy, 10000, DGC_NEEDED, (g), dgc_word g) \
	X(cuEventCreate, 2000, DGC_NEEDED, (e, f), dgc_word *e, unsigned f) \
	X(cuEventRecord, 2000, DGC_NEEDED, (e, s), dgc_word e, dgc_word s) \
	X(cuEventQuery, 2000, DGC_NEEDED, (e), dgc_word e) \
	X(cuEventElapsedTime, 2000, DGC_NEEDED, (ms, a, b), float *ms, dgc_word a, dgc_word b) \
	X(cuEventDestroy_v2, 4000, DGC_NEEDED, (e), dgc_word e) \
	X(cuLaunchKernel, 4000, DGC_NEEDED, (f, gx, gy, gz, bx, by, bz, sm, st, p, x), dgc_word f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned sm, dgc_word st, void **p, void **x) \
	X(cuLaunchKernelEx, 11080, DGC_SPARED, (c, f, p, x), const dgc_config *c, dgc_word f, void **p, void **x)

// The library with the address of each symbol, NULL where it has none.
typedef struct dgc_cuda {
	void *library;
#define X(name, version, spared, call, ...) dgc_result (*name)(__VA_ARGS__);
	DGC_SYMBOLS(X)
#undef X
} dgc_cuda;

// dgc_name calls name through the table: Go cannot call C function pointers.
#define X(name, version, spared, call, ...) \
	static inline dgc_result dgc_##name(const dgc_cuda *t, __VA_ARGS__) { return t->name call; }
DGC_SYMBOLS(X)
#undef X

// What is said of a symbol in the table.
typedef struct {
	const char *name;
	int version;
	int spared;
} dgc_symbol;

// The i-th symbol, NULL past the last, and whether a library has it.
const dgc_symbol *dgc_symbol_at(int i);
int dgc_has(const dgc_cuda *t, int i);

// Loads a library (path NULL: libcuda.so.1 as the loader finds it) and looks
// up every symbol. NULL with the loader's message in why, of n bytes.
dgc_cuda *dgc_open(const char *path, char *why, size_t n);
void dgc_close(dgc_cuda *t);

// Launches with count parameters, which lie in values at offsets. With
// dependent set, the launch may begin before its predecessor in the stream has
// ended (programmatic stream serialization).
dgc_result dgc_launch(const dgc_cuda *t, dgc_word f, unsigned grid, unsigned block, unsigned shared, dgc_word stream,
                    int dependent, unsigned cluster, void *values, const int *offsets, int count);

// Loads a module from PTX text and keeps what the compiler says in log, of n
// bytes.
dgc_result dgc_load(const dgc_cuda *t, dgc_word *module, const char *ptx, char *log, unsigned n);

#endif
