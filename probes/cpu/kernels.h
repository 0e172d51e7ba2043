// The kernels' own interface: what one operation is, how a kernel is found,
// and how a pool of pinned threads runs a program of them.
//
// Rules for every kernel: it computes its own part of the output and nothing
// else, reads each operand once, keeps no state, allocates nothing, and gives
// the same bits for the same number of parts.
#ifndef DECODEGAP_KERNELS_H
#define DECODEGAP_KERNELS_H

#include <stddef.h>
#include <stdint.h>

// Instruction sets, by what a kernel needs. Chosen at run time by CPUID.
enum dg_isa {
	DG_SCALAR,
	DG_AVX2,        // AVX2, FMA, F16C
	DG_AVX512,      // F, BW, VL, DQ
	DG_AVX512_BF16, // the above and BF16
	DG_AVX512_VNNI, // the above (without BF16) and VNNI, VBMI
	DG_AMX,
	DG_NEON,
	DG_ISAS
};

// What an operation computes. The meaning of the fields of dg_op is said at
// each kind; sizes are in elements, matrices are rows × cols with cols
// contiguous before packing.
enum dg_kind {
	DG_READ,  // reads w[0..bytes), leaves a checksum in y
	DG_COPY,  // y[0..bytes) = x
	DG_TRIAD, // y[i] = x[i] + f0·w[i], float32, bytes of one array
	DG_NOTHING, // the barrier alone
	DG_KINDS
};

struct dg_op;
typedef void (*dg_kernel)(const struct dg_op *op, int part, int parts);

// One operation of a program. Unused fields are zero.
typedef struct dg_op {
	dg_kernel run;
	int64_t bytes;
	int64_t m, rows, cols;  // tokens; outputs; inputs
	int64_t n0, n1, n2, n3; // further sizes, by kind
	const void *w, *s;      // weights and their scales, packed as the kind says
	const void *x, *x2, *x3;
	void *y, *y2;
	void *scratch; // of dg_scratch(kind, …) bytes, shared by all parts
	float f0, f1;
	const struct dg_weights *how; // DG_GEMV and experts: format and kernels, see weights.h
	const int *cancel; // a long operation looks at it and may end unfinished; NULL: never
} dg_op;

// Whether the operation's result is no longer wanted.
static inline int dg_cancelled(const dg_op *op) {
	return op->cancel && __atomic_load_n(op->cancel, __ATOMIC_RELAXED);
}

// The best instruction set that this CPU and its operating system allow, and
// whether it has a given one.
int dg_has(int isa);
const char *dg_isa_name(int isa);

// The kernel of a kind for an instruction set, NULL if there is none.
dg_kernel dg_find(int kind, int isa);

// A pool of threads, one a CPU of cpus[], which spin between operations.
// Thread 0 is the caller's: it is pinned for the length of a run.
typedef struct dg_pool dg_pool;
dg_pool *dg_pool_new(int threads, const int *cpus);
void dg_pool_free(dg_pool *p);

// Runs programs of ops operations, one after another: program i is
// ops[i·nops … (i+1)·nops). Each operation ends with a barrier. op_ns, if not
// NULL, receives the nanoseconds of each of the programs·nops operations;
// run_ns, if not NULL, those of each whole program. Stops between operations
// when *cancel becomes nonzero; returns the programs that were completed.
int dg_pool_run(dg_pool *p, const dg_op *ops, int nops, int programs,
                int64_t *op_ns, int64_t *run_ns, const int *cancel);

// Raises the flag that dg_pool_run looks at.
static inline void dg_flag(int *cancel) { __atomic_store_n(cancel, 1, __ATOMIC_RELAXED); }

// Operand memory: whole huge pages where the system grants them, touched by
// the threads of the pool that read it. NULL if there is none.
void *dg_alloc(size_t bytes);
void dg_free(void *p, size_t bytes);

#endif
