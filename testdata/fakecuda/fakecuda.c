// A stand-in for libcuda.so.1, for tests on machines without a GPU: its device
// memory is the host's, its kernels are a few of ours by name, and its clock
// moves by what they would take at a rate. Failures are scripted in the
// environment:
//
//   FAKECUDA_VERSION=10020         the driver version, 13000 by default
//   FAKECUDA_DEVICES=0             how many GPUs, 1 by default
//   FAKECUDA_NAME='NVIDIA H200'    the GPU's name
//   FAKECUDA_MODE=2                its compute mode, 0 by default
//   FAKECUDA_FREE=268435456        bytes of memory, 16 MiB by default
//   FAKECUDA_FAIL=cuMemAlloc_v2:2  a call and what it returns
//   FAKECUDA_FAULT=copy_words      a kernel after which every call returns 700
//   FAKECUDA_HANG=copy_words       a kernel after which no event comes to pass
//   FAKECUDA_STALL=cuMemAlloc_v2   a call that does not return
//   FAKECUDA_CRASH=copy_words      a kernel whose launch ends the process
//   FAKECUDA_KILL=copy_words       a kernel at whose launch the process is killed
//   FAKECUDA_BABBLE=copy_words     a kernel whose launch writes garbage to stdout
//   FAKECUDA_WRONG=read_words      a kernel that leaves its output alone
//   FAKECUDA_PEERS=0               whether GPUs reach each other's memory
//   FAKECUDA_LATE=1                a rank, from 1 on, that others wait for in vain
//
// Compiled with -DWITHOUT_GRAPHS it lacks cuGraphLaunch, with
// -DWITHOUT_LAUNCH_EX cuLaunchKernelEx.
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int result;
typedef uintptr_t word;
typedef uint64_t address;

enum { success = 0, invalid = 1, out_of_memory = 2, no_device = 100, bad_image = 200, bad_ptx = 218, not_found = 500, not_ready = 600, illegal_address = 700 };

static const char *variable(const char *name) {
	const char *v = getenv(name);
	return v ? v : "";
}

static long number(const char *name, long otherwise) { return *variable(name) ? atol(variable(name)) : otherwise; }

// Each GPU is used by a thread of its own.
static int faulted, hung;
static __thread int captures; // whether launches are recorded
static __thread double clock_ns;
static size_t used;

// What a scripted call returns instead; -1 to go on.
static result script(const char *call) {
	if (!strcmp(variable("FAKECUDA_STALL"), call)) pause();
	const char *fail = variable("FAKECUDA_FAIL");
	size_t n = strlen(call);
	if (!strncmp(fail, call, n) && fail[n] == ':') return atoi(fail + n + 1);
	return faulted ? illegal_address : -1;
}
#define BEGIN \
	result scripted_ = script(__func__); \
	if (scripted_ >= 0) return scripted_

result cuDriverGetVersion(int *v) { *v = (int)number("FAKECUDA_VERSION", 13000); return success; }
result cuGetErrorName(result r, const char **s) {
	static const struct { result r; const char *s; } names[] = {
	    {success, "CUDA_SUCCESS"}, {invalid, "CUDA_ERROR_INVALID_VALUE"}, {out_of_memory, "CUDA_ERROR_OUT_OF_MEMORY"},
	    {46, "CUDA_ERROR_DEVICE_UNAVAILABLE"}, {no_device, "CUDA_ERROR_NO_DEVICE"}, {bad_ptx, "CUDA_ERROR_INVALID_PTX"}, {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
	    {not_found, "CUDA_ERROR_NOT_FOUND"}, {illegal_address, "CUDA_ERROR_ILLEGAL_ADDRESS"}};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (names[i].r == r) { *s = names[i].s; return success; }
	return invalid;
}

// The one GPU's identity, which CUDA_VISIBLE_DEVICES may name; any other value
// but 0 hides it, as an empty one does.
static const char *const uuid = "GPU-0f0f0f0f-1111-2222-3333-444444444444";
static int visible(void) {
	const char *v = getenv("CUDA_VISIBLE_DEVICES");
	return !v || !strcmp(v, "0") || !strcmp(v, uuid);
}
result cuInit(unsigned flags) { BEGIN; return flags ? invalid : visible() ? success : no_device; }
result cuDeviceGetCount(int *n) { BEGIN; *n = (int)number("FAKECUDA_DEVICES", 1); return success; }
result cuDeviceGet(int *d, int i) { BEGIN; *d = i; return success; }
result cuDeviceGetName(char *s, int n, int d) {
	BEGIN;
	(void)d;
	snprintf(s, n, "%s", *variable("FAKECUDA_NAME") ? variable("FAKECUDA_NAME") : "Fake \033[31mGPU");
	return success;
}
result cuDeviceGetPCIBusId(char *s, int n, int d) { BEGIN; (void)d; snprintf(s, n, "0000:1b:00.0"); return success; }
result cuDeviceGetAttribute(int *v, int a, int d) {
	BEGIN;
	(void)d;
	switch (a) {
	case 16: *v = 2; return success;           // multiprocessors
	case 20: *v = (int)number("FAKECUDA_MODE", 0); return success; // compute mode
	case 38: *v = 1 << 18; return success;     // second-level cache
	case 75: *v = 9; return success;           // compute capability
	case 76: *v = 0; return success;
	case 81: *v = 228 << 10; return success;   // shared memory of a multiprocessor
	case 97: *v = 227 << 10; return success;   // of a block
	}
	return invalid;
}
static size_t all_memory(void) { return (size_t)number("FAKECUDA_FREE", 16 << 20); }
result cuDeviceTotalMem_v2(size_t *n, int d) { BEGIN; (void)d; *n = all_memory(); return success; }
result cuDevicePrimaryCtxRetain(word *c, int d) { BEGIN; *c = 1 + d; return success; }
result cuDevicePrimaryCtxRelease_v2(int d) { BEGIN; (void)d; return success; }
static __thread word current;
result cuCtxSetCurrent(word c) { BEGIN; current = c; return success; }
result cuDeviceCanAccessPeer(int *yes, int d, int p) { BEGIN; *yes = d != p && number("FAKECUDA_PEERS", 1); return success; }
result cuCtxEnablePeerAccess(word c, unsigned f) { BEGIN; return !current || c == current || f ? invalid : success; }
result cuMemcpyPeer(address to, word tc, address from, word fc, size_t n) { BEGIN; if (!tc || !fc) return 201; memcpy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, n); return success; }

// A call without the context of its thread set is a fault of the caller.
#define CONTEXT \
	BEGIN; \
	if (!current) return 201

// ---- memory: each piece remembers its size in front

result cuMemGetInfo_v2(size_t *free_, size_t *all) { CONTEXT; *all = all_memory(); *free_ = *all - used; return success; }
result cuMemAlloc_v2(address *p, size_t n) {
	CONTEXT;
	if (used + n > all_memory()) return out_of_memory;
	size_t *m = aligned_alloc(256, (n + 511) & ~(size_t)255);
	if (!m) return out_of_memory;
	m[0] = n;
	__atomic_add_fetch(&used, n, __ATOMIC_RELAXED);
	memset((char *)m + 256, 0xcd, n);
	*p = (address)(uintptr_t)((char *)m + 256);
	return success;
}
result cuMemFree_v2(address p) {
	CONTEXT;
	size_t *m = (size_t *)((char *)(uintptr_t)p - 256);
	__atomic_sub_fetch(&used, m[0], __ATOMIC_RELAXED);
	free(m);
	return success;
}
result cuMemcpyHtoD_v2(address to, const void *from, size_t n) { CONTEXT; memcpy((void *)(uintptr_t)to, from, n); return success; }
result cuMemcpyDtoH_v2(void *to, address from, size_t n) { CONTEXT; memcpy(to, (void *)(uintptr_t)from, n); return success; }
result cuMemsetD8Async(address to, unsigned char v, size_t n, word s) { CONTEXT; (void)s; memset((void *)(uintptr_t)to, v, n); return success; }

// ---- modules: the names of their entries, found in the text

result cuModuleLoadDataEx(word *m, const void *image, unsigned n, int *options, void **values) {
	result r = script(__func__);
	if (r > 0)
		for (unsigned i = 0; i + 1 < n; i++)
			if (options[i] == 5)
				snprintf(values[i], (size_t)(uintptr_t)values[i + 1],
				         "ptxas application ptx input, line 9; error   : scripted\nptxas fatal   : Ptx assembly aborted due to errors\n");
	if (r >= 0) return r;
	if (!current) return 201;
	if (!strstr(image, ".version")) return bad_image;
	*m = (word)strdup(image);
	return success;
}
result cuModuleUnload(word m) { CONTEXT; free((void *)m); return success; }
result cuModuleGetFunction(word *f, word m, const char *name) {
	CONTEXT;
	char entry[256];
	snprintf(entry, sizeof entry, ".entry %s(", name);
	if (!strstr((const char *)m, entry)) return not_found;
	*f = (word)strdup(name);
	return success;
}
result cuFuncSetAttribute(word f, int a, int v) { CONTEXT; (void)f; (void)a; return v > 227 << 10 ? invalid : success; }
result cuFuncGetAttribute(int *v, int a, word f) { CONTEXT; (void)f; (void)a; *v = 0; return success; }
result cuOccupancyMaxActiveBlocksPerMultiprocessor(int *n, word f, int b, size_t s) {
	CONTEXT;
	(void)f; (void)b; (void)s;
	*n = 2;
	return success;
}

// ---- kernels

static uint64_t random_word(uint64_t seed, uint64_t i) {
	uint64_t z = seed + (i + 1) * 0x9e3779b97f4a7c15ull;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

typedef struct {
	const char *name;
	unsigned grid;
	uint64_t p[24];
} launch;

// The sum of a bfloat16 vector over the ranks that the kernel's name ends in.
static void all_reduce(const launch *l, int wrong) {
	int ranks = l->name[strlen(l->name) - 1] - '0';
	uint64_t rank = l->p[16], words = l->p[17];
	uint32_t *state = (uint32_t *)(uintptr_t)l->p[18];
	if (number("FAKECUDA_LATE", 0) && (uint64_t)number("FAKECUDA_LATE", 0) != rank + 1) state[0] = number("FAKECUDA_LATE", 0);
	for (uint64_t i = 0; i < 4 * words && !wrong; i++) {
		float sum = 0;
		for (int r = 0; r < ranks; r++) {
			uint32_t bits = (uint32_t)((const uint16_t *)(uintptr_t)l->p[r])[i] << 16;
			float v;
			memcpy(&v, &bits, 4);
			sum += v;
		}
		uint32_t bits;
		memcpy(&bits, &sum, 4);
		((uint16_t *)(uintptr_t)l->p[8 + rank])[i] = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
	}
}

// The scripted rate: slow, so that a test's blocks are short.
static const double bytes_per_ns = 2;

static result execute(const launch *l) {
	if (!strcmp(variable("FAKECUDA_CRASH"), l->name)) abort();
	if (!strcmp(variable("FAKECUDA_KILL"), l->name)) kill(getpid(), SIGKILL);
	if (!strcmp(variable("FAKECUDA_BABBLE"), l->name) && write(1, "NVRM: garbage\n{", 15) < 0) abort();
	if (!strcmp(variable("FAKECUDA_HANG"), l->name)) hung = 1;
	if (!strcmp(variable("FAKECUDA_FAULT"), l->name)) faulted = 1;
	double bytes = 0;
	int wrong = !strcmp(variable("FAKECUDA_WRONG"), l->name);
	if (!strcmp(l->name, "hold")) {
		// Longer than any test waits.
		if (l->p[0] > 600ull * 1000000000) hung = 1;
		return success;
	}
	if (!strcmp(l->name, "fill_words")) {
		uint64_t *p = (uint64_t *)(uintptr_t)l->p[0];
		for (uint64_t i = 0; i < l->p[1]; i++) p[i] = random_word(l->p[2], i);
	} else if (!strcmp(l->name, "count")) {
		*(uint32_t *)(uintptr_t)l->p[0] += 1;
	} else if (!strncmp(l->name, "read_", 5)) {
		const uint64_t *p = (const uint64_t *)(uintptr_t)l->p[0];
		uint64_t sum = 0, *out = (uint64_t *)(uintptr_t)l->p[2];
		for (uint64_t i = 0; i < 2 * l->p[1]; i++) sum ^= p[i];
		for (unsigned b = 0; b < l->grid && !wrong; b++) out[b] = b ? 0 : sum;
		bytes = 16.0 * l->p[1];
	} else if (!strcmp(l->name, "fill_bf16")) {
		// Between 0.5 and 1, and as many below zero.
		uint16_t *p = (uint16_t *)(uintptr_t)l->p[0];
		for (uint64_t i = 0; i < 2 * l->p[1]; i++) p[i] = 0x3f00 | (random_word(l->p[2], i) & 0x807f);
	} else if (!strcmp(l->name, "greet")) {
		if (!wrong) *(uint32_t *)(uintptr_t)l->p[0] = (uint32_t)l->p[1];
	} else if (!strncmp(l->name, "allreduce_", 10)) {
		all_reduce(l, wrong);
	} else if (!strcmp(l->name, "copy_words")) {
		if (!wrong) memcpy((void *)(uintptr_t)l->p[0], (const void *)(uintptr_t)l->p[1], 16 * l->p[2]);
		bytes = 32.0 * l->p[2];
	}
	clock_ns += 1000 + bytes / bytes_per_ns;
	return success;
}

typedef struct {
	launch *all;
	size_t count;
} graph;
static __thread graph recorded;

static result start(const launch *l) {
	if (!captures) return execute(l);
	recorded.all = realloc(recorded.all, (recorded.count + 1) * sizeof *l);
	recorded.all[recorded.count++] = *l;
	return success;
}

result cuLaunchKernel(word f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, word s, void **parameters, void **extra) {
	CONTEXT;
	(void)gy; (void)gz; (void)bx; (void)by; (void)bz; (void)shared; (void)s; (void)extra;
	launch l = {(const char *)f, gx, {0}};
	// Only the kernels executed above have their parameters read. Ours lie in
	// words of eight bytes.
	if (!strncmp(l.name, "allreduce_", 10)) {
		for (int i = 0; i < 2; i++) memcpy(&l.p[8 * i], parameters[i], 64);      // in, out
		for (int i = 3; i < 6; i++) memcpy(&l.p[13 + i], parameters[i], 8); // rank, words, state
		return start(&l);
	}
	int n = !strncmp(l.name, "read_", 5) || !strncmp(l.name, "copy_", 5) || !strncmp(l.name, "fill_", 5) ? 3 : !strcmp(l.name, "greet") ? 2 : 1;
	for (int i = 0; i < n; i++) memcpy(&l.p[i], parameters[i], 8);
	if (!strcmp(l.name, "fill_bf16")) memcpy(&l.p[2], parameters[3], 8); // its seed, behind the scale
	return start(&l);
}
#ifndef WITHOUT_LAUNCH_EX
result cuLaunchKernelEx(const void *config, word f, void **parameters, void **extra) {
	const unsigned *c = config;
	return cuLaunchKernel(f, c[0], 1, 1, c[3], 1, 1, 0, 0, parameters, extra);
}
#endif

// ---- streams, graphs, events

result cuStreamCreate(word *s, unsigned flags) { CONTEXT; (void)flags; *s = 1; return success; }
result cuStreamDestroy_v2(word s) { CONTEXT; (void)s; return success; }
result cuStreamBeginCapture_v2(word s, int mode) { CONTEXT; (void)s; (void)mode; captures = 1; recorded = (graph){0}; return success; }
result cuStreamEndCapture(word s, word *g) {
	CONTEXT;
	(void)s;
	captures = 0;
	graph *made = malloc(sizeof *made);
	*made = recorded;
	*g = (word)made;
	return success;
}
result cuGraphInstantiateWithFlags(word *e, word g, unsigned long long flags) {
	CONTEXT;
	(void)flags;
	const graph *from = (const graph *)g;
	graph *made = malloc(sizeof *made);
	made->count = from->count;
	made->all = malloc((from->count + 1) * sizeof *made->all);
	memcpy(made->all, from->all, from->count * sizeof *made->all);
	*e = (word)made;
	return success;
}
result cuGraphUpload(word e, word s) { CONTEXT; (void)e; (void)s; return success; }
#ifndef WITHOUT_GRAPHS
result cuGraphLaunch(word e, word s) {
	CONTEXT;
	(void)s;
	const graph *g = (const graph *)e;
	for (size_t i = 0; i < g->count; i++) execute(&g->all[i]);
	return success;
}
#endif
static result discard(word g) {
	free(((graph *)g)->all);
	free((graph *)g);
	return success;
}
result cuGraphExecDestroy(word e) { CONTEXT; return discard(e); }
result cuGraphDestroy(word g) { CONTEXT; return discard(g); }
result cuEventCreate(word *e, unsigned flags) { CONTEXT; (void)flags; *e = (word)calloc(1, sizeof(double)); return success; }
result cuEventRecord(word e, word s) { CONTEXT; (void)s; *(double *)e = clock_ns; return success; }
result cuEventQuery(word e) { CONTEXT; (void)e; return hung ? not_ready : success; }
result cuEventElapsedTime(float *ms, word a, word b) { CONTEXT; *ms = (float)((*(double *)b - *(double *)a) * 1e-6); return success; }
result cuEventDestroy_v2(word e) { CONTEXT; free((void *)e); return success; }
