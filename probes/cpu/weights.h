// Weight matrices: their formats, how they lie in memory, and the kernels that
// multiply with them.
//
// Every format is packed the same way. 32 rows are a block, and a block's
// chunks follow one another along the inputs, so that one part of an operation
// reads one stream from end to end. Vector lanes are rows: the activation is
// broadcast, no sum crosses lanes, and a group's scales are a lane vector.
// Rows and inputs beyond the matrix are read as any finite value; their
// activations are zero and their outputs are not stored.
//
//   format  chunk     inside a chunk, h = half of 16 rows, r = row of the half
//   BF16    32 k      [k/2][h][r][k%2] bf16
//   FP8     128 k     [k/4][h][k/2%2][r][k%2] E4M3; scales f32 in an array of
//                     their own: one of 128×128, or one a row
//   NVFP4   64 k      [h]{[k/16][k/8%2][r] 4 bytes; scales [k/16][r] E4M3}
//   MXFP4   128 k     [h]{[k/16][k/8%2][r] 4 bytes; scales [k/32][r] E8M0}
//   INT4    64 k      [h]{[k/16][k/8%2][r] 4 bytes; scales [k/32][r] f16}
//
// The 4 bytes of eight inputs: byte i holds input i in its low and input i + 4
// in its high half, E2M1 codes or, for INT4, the value plus 8.
#ifndef DECODEGAP_WEIGHTS_H
#define DECODEGAP_WEIGHTS_H

#include "kernels.h"

enum dg_format { DG_W_BF16, DG_W_FP8, DG_W_NVFP4, DG_W_MXFP4, DG_W_INT4, DG_FORMATS };

enum {
	DG_ROWS = 32,    // of a block
	DG_PASS = 8,     // tokens that one reading of a strip serves
	DG_TOKENS = 16,  // the most of one operation
	DG_STRIP = 2304, // bytes that one call of a kernel goes over, in L1 between two readings
	DG_STREAMS = 4,  // blocks that one part reads side by side
};

// How activations are made ready for a kernel.
enum dg_prep {
	DG_P_F32,  // [k][token] f32
	DG_P_BF16, // [k/2][token] pairs of bf16
	DG_P_BF16_FOUR, // the same, pairs (0 2) (4 6) (1 3) (5 7) of every eight inputs
	DG_P_INT8, // [group]{[group/4][token] 4×int8; [token] minus the
	            //  code offset times their sum, int32; [token] scale f32}
};

// Adds chunks of one block to acc[token][32]. x begins at the first chunk's
// inputs; s, for FP8 of 128×128 blocks, at its scale.
typedef void (*dg_strip)(const uint8_t *w, int64_t chunks, const void *x, float *acc, const float *s);

// The values of a group as signed bytes q, their sum, and what q is multiplied
// with.
typedef void (*dg_quantiser)(const float *v, int group, int8_t *q, int *sum, float *scale);

// A format's kernels in one instruction set.
typedef struct dg_weights {
	int format;
	enum dg_prep prep;
	int narrow;        // reads a strip in several passes even for one token
	dg_quantiser quantise;
	dg_strip strip[4]; // for 1, 2, 4 and 8 tokens
} dg_weights;

// A format's kernels, NULL if there are none for the instruction set.
const dg_weights *dg_weights_find(int format, int isa);

// Inputs of a chunk, its bytes, and the inputs of a scale group.
static inline int dg_chunk_k(int format) {
	return format == DG_W_BF16 ? 32 : format == DG_W_FP8 || format == DG_W_MXFP4 ? 128 : 64;
}
static inline int dg_chunk_bytes(int format) {
	return format == DG_W_BF16 ? 2048 : format == DG_W_FP8 ? 4096 : format == DG_W_MXFP4 ? 2176 : 1152;
}
static inline int dg_group(int format) {
	return format == DG_W_NVFP4 ? 16 : format == DG_W_MXFP4 || format == DG_W_INT4 ? 32 : 0;
}

// What the sum of products is multiplied with beside scales: an E4M3 byte
// shifted into an f16 is its value times 2⁻⁸, E2M1 is multiplied as twice its
// value.
static inline float dg_unit(int format) {
	return format == DG_W_FP8 ? 256 : format == DG_W_NVFP4 ? 128 : format == DG_W_MXFP4 ? 0.5f : 1;
}

// Flags of dg_op.n3.
enum {
	DG_X_BF16 = 1, // x is bf16, else f32
	DG_ADD = 2,    // y += instead of y =
};

// y[m][rows] = f0 · x[m][cols] · wᵀ, with row strides n1 of x and n2 of y in
// elements, 0 for dense. s: FP8 scales, n0 their block (128) or 0 for one a
// row. scratch: dg_gemv_scratch bytes a part.
void dg_gemv(const dg_op *op, int part, int parts);
int64_t dg_gemv_scratch(const dg_weights *how, int64_t m, int64_t cols);

// Fills y with the packed weights of rows × cols random values of format n0
// from seed n1: all codes, scales spread as in real models with zeros,
// sub-normal and largest ones among them. FP8's scales go to y2, one for every
// n2 rows of a chunk (128), or with n2 = 0 one a row.
void dg_fill(const dg_op *op, int part, int parts);

// One pass: up to DG_PASS tokens made ready at x.
typedef struct {
	int64_t size; // bytes a chunk of inputs takes
	int first, tokens, width, log; // width: tokens rounded up to a power of two
	char *x;
} dg_pass;

// Makes m activations ready in memory of dg_gemv_scratch bytes: token t is row
// index[t] (t without index) of x. Returns the passes.
int dg_prepare(const dg_weights *how, dg_pass *passes, char *memory, const void *x, int64_t stride,
               int bf16, const int32_t *index, int m, int64_t cols);

// A block of rows: its first chunk, and for FP8 of 128×128 blocks its scales.
typedef struct {
	const uint8_t *w;
	const float *s;
} dg_block;

// acc[block][token][32] = the products of count blocks, tokens as many as the
// passes are wide; less where cancel is raised. acc is aligned for the widest
// vectors.
void dg_blocks(const dg_weights *how, const dg_pass *passes, int n, const dg_block *blocks, int count,
               int64_t chunks, float *acc, const int *cancel);

// Experts. m tokens of n0 experts each out of n1, x2 int32 [m][n0] which, x3
// float32 [m][n0] how much. w: the experts' packed weights one after another.
// s: FP8 scales, one a packed row, or NULL. Each expert's weights are read
// once for all its tokens.
//
// Up: w gate and up rows of cols inputs, 16 of the one and 16 of the other in a
// block; y[token·n0 + slot][rows] = silu(f0·gate) · (f0·up), float32; rows a
// multiple of 16. x as for dg_gemv, dense.
// Down: w rows of cols inputs; y[token][rows] = f0 · Σ over slots of x3 · x[token·n0
// + slot][cols] · wᵀ; with DG_ADD added to what y holds.
// scratch: dg_gemv_scratch of min(m, DG_TOKENS) tokens a part.
void dg_experts_up(const dg_op *op, int part, int parts);
void dg_experts_down(const dg_op *op, int part, int parts);

enum { DG_PAIRS = 512 }; // the most of m · n0

#endif
