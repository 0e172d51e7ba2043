// Our own declarations of the little of the CUDA driver API that probes call:
// no vendor header is needed, and the library is looked up at run time, symbol
// by symbol. Handles are opaque words.
#ifndef DECODEGAP_CUDA_H
#define DECODEGAP_CUDA_H

#include <stddef.h>
#include <stdint.h>

typedef int dg_result;     // CUresult, 0 is success
typedef uintptr_t dg_word; // CUcontext, CUmodule, CUfunction, CUstream, CUevent, CUgraph, CUgraphExec
typedef uint64_t dg_ptr;   // CUdeviceptr

// One attribute of a launch, laid out as CUlaunchAttribute: 64 bytes of value
// behind an id, aligned to eight.
typedef struct {
	int id;
	char pad[4];
	union { char pad[64]; int value; } u;
} dg_attribute;

// CUlaunchConfig.
typedef struct {
	unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared;
	dg_word stream;
	dg_attribute *attributes;
	unsigned count;
} dg_config;

// Every symbol once: name, the driver version it came with (1000·major +
// 10·minor), whether probes can do without, the call, the parameters.
#define DG_NEEDED 0
#define DG_SPARED 1
#define DG_SYMBOLS(X) \
	X(cuInit, 2000, DG_NEEDED, (flags), unsigned flags) \
	X(cuDriverGetVersion, 2020, DG_NEEDED, (v), int *v) \
	X(cuGetErrorName, 6000, DG_NEEDED, (r, s), dg_result r, const char **s) \
	X(cuDeviceGetCount, 2000, DG_NEEDED, (n), int *n) \
	X(cuDeviceGet, 2000, DG_NEEDED, (d, i), int *d, int i) \
	X(cuDeviceGetName, 2000, DG_NEEDED, (s, n, d), char *s, int n, int d) \
	X(cuDeviceGetAttribute, 2000, DG_NEEDED, (v, a, d), int *v, int a, int d) \
	X(cuDeviceTotalMem_v2, 3020, DG_NEEDED, (n, d), size_t *n, int d) \
	X(cuDevicePrimaryCtxRetain, 7000, DG_NEEDED, (c, d), dg_word *c, int d) \
	X(cuDevicePrimaryCtxRelease_v2, 11000, DG_NEEDED, (d), int d) \
	X(cuCtxSetCurrent, 4000, DG_NEEDED, (c), dg_word c) \
	X(cuModuleLoadDataEx, 2010, DG_NEEDED, (m, image, n, o, v), dg_word *m, const void *image, unsigned n, int *o, void **v) \
	X(cuModuleUnload, 2000, DG_NEEDED, (m), dg_word m) \
	X(cuModuleGetFunction, 2000, DG_NEEDED, (f, m, s), dg_word *f, dg_word m, const char *s) \
	X(cuFuncSetAttribute, 9000, DG_NEEDED, (f, a, v), dg_word f, int a, int v) \
	X(cuFuncGetAttribute, 2020, DG_NEEDED, (v, a, f), int *v, int a, dg_word f) \
	X(cuOccupancyMaxActiveBlocksPerMultiprocessor, 6050, DG_NEEDED, (n, f, b, s), int *n, dg_word f, int b, size_t s) \
	X(cuMemGetInfo_v2, 3020, DG_NEEDED, (free, all), size_t *free, size_t *all) \
	X(cuMemAlloc_v2, 3020, DG_NEEDED, (p, n), dg_ptr *p, size_t n) \
	X(cuMemFree_v2, 3020, DG_NEEDED, (p), dg_ptr p) \
	X(cuMemcpyHtoD_v2, 3020, DG_NEEDED, (d, s, n), dg_ptr d, const void *s, size_t n) \
	X(cuMemcpyDtoH_v2, 3020, DG_NEEDED, (d, s, n), void *d, dg_ptr s, size_t n) \
	X(cuMemsetD8Async, 3020, DG_NEEDED, (d, v, n, s), dg_ptr d, unsigned char v, size_t n, dg_word s) \
	X(cuStreamCreate, 2000, DG_NEEDED, (s, f), dg_word *s, unsigned f) \
	X(cuStreamDestroy_v2, 4000, DG_NEEDED, (s), dg_word s) \
	X(cuStreamBeginCapture_v2, 10010, DG_NEEDED, (s, m), dg_word s, int m) \
	X(cuStreamEndCapture, 10000, DG_NEEDED, (s, g), dg_word s, dg_word *g) \
	X(cuGraphInstantiateWithFlags, 11040, DG_NEEDED, (e, g, f), dg_word *e, dg_word g, unsigned long long f) \
	X(cuGraphUpload, 11010, DG_NEEDED, (e, s), dg_word e, dg_word s) \
	X(cuGraphLaunch, 10000, DG_NEEDED, (e, s), dg_word e, dg_word s) \
	X(cuGraphExecDestroy, 10000, DG_NEEDED, (e), dg_word e) \
	X(cuGraphDestroy, 10000, DG_NEEDED, (g), dg_word g) \
	X(cuEventCreate, 2000, DG_NEEDED, (e, f), dg_word *e, unsigned f) \
	X(cuEventRecord, 2000, DG_NEEDED, (e, s), dg_word e, dg_word s) \
	X(cuEventQuery, 2000, DG_NEEDED, (e), dg_word e) \
	X(cuEventElapsedTime, 2000, DG_NEEDED, (ms, a, b), float *ms, dg_word a, dg_word b) \
	X(cuEventDestroy_v2, 4000, DG_NEEDED, (e), dg_word e) \
	X(cuLaunchKernel, 4000, DG_NEEDED, (f, gx, gy, gz, bx, by, bz, sm, st, p, x), dg_word f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned sm, dg_word st, void **p, void **x) \
	X(cuLaunchKernelEx, 11080, DG_SPARED, (c, f, p, x), const dg_config *c, dg_word f, void **p, void **x)

// The library with the address of each symbol, NULL where it has none.
typedef struct dg_cuda {
	void *library;
#define X(name, version, spared, call, ...) dg_result (*name)(__VA_ARGS__);
	DG_SYMBOLS(X)
#undef X
} dg_cuda;

// dg_name calls name through the table: Go cannot call C function pointers.
#define X(name, version, spared, call, ...) \
	static inline dg_result dg_##name(const dg_cuda *t, __VA_ARGS__) { return t->name call; }
DG_SYMBOLS(X)
#undef X

// What is said of a symbol in the table.
typedef struct {
	const char *name;
	int version;
	int spared;
} dg_symbol;

// The i-th symbol, NULL past the last, and whether a library has it.
const dg_symbol *dg_symbol_at(int i);
int dg_has(const dg_cuda *t, int i);

// Loads a library (path NULL: libcuda.so.1 as the loader finds it) and looks
// up every symbol. NULL with the loader's message in why, of n bytes.
dg_cuda *dg_open(const char *path, char *why, size_t n);
void dg_close(dg_cuda *t);

// Launches with count parameters, which lie in values at offsets. With
// dependent set, the launch may begin before its predecessor in the stream has
// ended (programmatic stream serialization).
dg_result dg_launch(const dg_cuda *t, dg_word f, unsigned grid, unsigned block, unsigned shared, dg_word stream,
                    int dependent, void *values, const int *offsets, int count);

// Loads a module from PTX text and keeps what the compiler says in log, of n
// bytes.
dg_result dg_load(const dg_cuda *t, dg_word *module, const char *ptx, char *log, unsigned n);

#endif
