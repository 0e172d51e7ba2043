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

// Whether the compiler knows matrix tiles.
#if defined(__x86_64__) && defined(__has_include)
#if __has_include(<amxbf16intrin.h>)
#define DG_AMX_BUILT 1
#endif
#endif

// Instruction sets, by what a kernel needs. Chosen at run time by CPUID.
enum dg_isa {
	DG_SCALAR,
	DG_AVX2,        // AVX2, FMA, F16C
	DG_AVX512,      // F, BW, VL, DQ
	DG_AVX512_BF16, // the above and BF16
	DG_AVX512_VNNI, // the above (without BF16) and VNNI, VBMI
	DG_AMX,         // BF16, tiles and their bf16 products, the kernel's permission
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

	// Decode attention: m sequences; rows query heads of cols; n0 KV heads
	// whose values have n4; pages of n1 tokens; a window of n2 tokens, 0 for
	// none. x: float32 queries [m][rows][cols]; w, s: keys and values
	// [page][n0][n1][…], s NULL where the values are the first n4 of the keys;
	// x2: int32 pages of each sequence [m][n3]; x3: int32 tokens of each
	// sequence [m]; y: float32 [m][rows][n4]. f0 scales the scores, f1 the
	// values. scratch: dg_attention_scratch. The merge is the same operation,
	// run next.
	DG_ATTENTION_BF16,
	DG_ATTENTION_FP8, // E4M3
	DG_MERGE_BF16,
	DG_MERGE_FP8,

	// From the projection to attention, m tokens of rows query, n0 key and n0
	// value heads of cols, x: float32 [m][rows + 2·n0][cols]. Each query head
	// goes to y, keys and values into the pages y2 and y3 of a cache as above,
	// at position x3[token] − 1, times f0 and f1 where it is FP8. Query and key
	// heads have an RMSNorm with weights BF16 x4[2][cols] + f3 and ε f2, if x4
	// is set, and the first n5 values rotated in style n2 (enum dg_rope) by the
	// float32 table x5[position][n5]: cosines, then sines.
	DG_HEADS_BF16,
	DG_HEADS_FP8,

	// MLA: x float32 [m][cols], its first n4 normalised with x4[n4], the rest
	// rotated, into the cache y2; the other fields are those of DG_HEADS.
	DG_LATENT_BF16,
	DG_LATENT_FP8,

	// Rotation alone: m tokens of rows heads of cols, n0 and n1 values apart in
	// x, n3 and n4 in y (which may be x); x3, x5, n2, n5 as above.
	DG_ROPE,

	// y = (x + x2)·rsqrt(mean of its squares + f0)·(w + f1), y2 = x + x2; m
	// rows of cols, float32, w BF16. x2 and y2 may be NULL; y2 is not x or x2.
	DG_NORM,
	DG_SUM,      // y = x + x2: m rows of cols, float32
	DG_ACTIVATE, // y = f(x)·x2, f of enum dg_activation n1; rows of cols, n0 apart in x and x2
	DG_EMBED,    // y = row x[token] of w, BF16 to float32; m tokens (int32) of cols

	// The highest of each of m rows of cols: DG_HIGHEST leaves one dg_highest a
	// row and part in scratch, DG_PICK, run next, the int32 index in y. Of
	// equals the first.
	DG_HIGHEST,
	DG_PICK,

	// Sampling, after DG_HIGHEST with the scratch of dg_sample_scratch: tokens
	// by falling logit, cut after the n0 highest (0: all), then where f1 of
	// their probability is reached (1: all), at 1/f0 the temperature. DG_DRAW
	// leaves in y the int32 token where x3[row] in [0, 1) of the rest falls.
	DG_TALLY,
	DG_DRAW,

	// A router: the n0 best of cols experts for each of m tokens, by the
	// float32 logits x, into the int32 y[m][n0] and float32 weights y2[m][n0].
	// n3: flags of enum dg_route. Biases w (float32, NULL: none) count in the
	// choice alone. With n1 > 1 groups of experts only the n2 best groups are
	// chosen from. f0 multiplies the weights. Of equals the first.
	DG_ROUTE,

	// The sum over parts of their rows of cols at x, n0 values apart, into a
	// row of each part at y: at once, or a slice a part into y2 and then, next,
	// all slices to all.
	DG_REDUCE,
	DG_REDUCE_SLICE,
	DG_REDUCE_SPREAD,
	DG_KINDS
};

// Of helpers whose arrays are registers once they are inlined; not under
// sanitizers, whose checks the compiler would multiply for minutes.
#if defined(__SANITIZE_ADDRESS__)
#define DG_ALWAYS
#else
#define DG_ALWAYS __attribute__((always_inline))
#endif

struct dg_op;
typedef void (*dg_kernel)(const struct dg_op *op, int part, int parts);

// One operation of a program. Unused fields are zero.
typedef struct dg_op {
	dg_kernel run;
	int64_t bytes;
	int64_t m, rows, cols;  // tokens; outputs; inputs
	int64_t n0, n1, n2, n3, n4, n5; // further sizes, by kind
	const void *w, *s;      // weights and their scales, packed as the kind says
	const void *x, *x2, *x3, *x4, *x5;
	void *y, *y2, *y3;
	void *scratch; // shared by all parts, as large as the kind says
	float f0, f1, f2, f3;
	const struct dg_weights *how; // DG_GEMV and experts: format and kernels, see weights.h
	const int *cancel; // what takes long looks at it, every few milliseconds at the most, and may end unfinished; NULL: never
} dg_op;

// Whether a result is no longer wanted.
static inline int dg_raised(const int *cancel) { return cancel && __atomic_load_n(cancel, __ATOMIC_RELAXED); }
static inline int dg_cancelled(const dg_op *op) { return dg_raised(op->cancel); }

enum dg_rope { DG_ROPE_NONE, DG_ROPE_NEOX, DG_ROPE_INTERLEAVED };
enum dg_activation { DG_SILU, DG_GELU };
enum dg_route { DG_ROUTE_SIGMOID = 1, DG_ROUTE_TWO = 2, DG_ROUTE_RENORMALISE = 4 }; // TWO: a group counts its two best, else one
enum { DG_EXPERTS = 1024 };  // the most of a router
enum { DG_HEAD_MAX = 1024 }; // values of a head

// The highest value of a run and where it is.
typedef struct {
	float value;
	int64_t index;
} dg_highest;

// Bytes of scratch of an attention in so many parts.
int64_t dg_attention_scratch(const dg_op *op, int parts);

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

// Touches each page of y[0..bytes) first where the same part of DG_READ, DG_COPY
// or DG_TRIAD goes over it, so that it lies at that thread's memory node.
void dg_touch(const dg_op *op, int part, int parts);

// Runs programs of ops operations, one after another: program i is
// ops[i·nops … (i+1)·nops). Each operation ends with a barrier. op_ns, if not
// NULL, receives the nanoseconds of each of the programs·nops operations;
// run_ns, if not NULL, those of each whole program. Stops behind an operation
// when *cancel becomes nonzero, which the operations' own cancel should be; returns the programs that were completed.
int dg_pool_run(dg_pool *p, const dg_op *ops, int nops, int programs,
                int64_t *op_ns, int64_t *run_ns, const int *cancel);

// Nanoseconds from the call until all threads of a sleeping pool run, n times,
// with pause_ns of sleep before each. Returns how many were timed.
int dg_pool_wake(dg_pool *p, int n, int64_t pause_ns, int64_t *ns, const int *cancel);

// Raises the flag that dg_pool_run looks at.
static inline void dg_flag(int *cancel) { __atomic_store_n(cancel, 1, __ATOMIC_RELAXED); }

// Operand memory: whole huge pages where the system grants them, touched by
// the threads of the pool that read it. NULL if there is none.
void *dg_alloc(size_t bytes);
void dg_free(void *p, size_t bytes);

#endif
