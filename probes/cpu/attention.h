// How decode attention is cut into parts, shared by all instruction sets.
#ifndef DECODEGAP_ATTENTION_H
#define DECODEGAP_ATTENTION_H

#include "kernels.h"

// The most parts an attention may be cut into.
enum { DG_PARTS = 512 };

// The most lanes of a vector.
enum { DG_LANES = 16 };

// Values of a row in scratch: whole vectors of the widest kind, in pairs.
static inline int64_t dg_padded(int64_t d) { return (d + 31) / 32 * 32; }

// Floats that a part works with in matrix tiles, where rows have whole lines of
// FP8: of 64 tokens copies and pairs of values, of each block of sixteen heads
// the queries in two parts and the sums, then weights and scores.
static inline int64_t dg_tile_work(const dg_op *op) {
	int64_t blocks = (op->rows / op->n0 + 15) / 16, d = (op->cols + 63) / 64 * 64, dv = (op->n4 + 63) / 64 * 64;
	return (32 + 16 * blocks) * (d + dv) + 32 * dv + 3072 + 272 * blocks;
}

// A run of tokens of one sequence and KV head, of one part.
typedef struct {
	int64_t sequence, head, from, to;
	float *work;    // of this part: sums, highest scores, sums of weights, queries
	float *partial; // where the sums go if others have tokens of the pair, else NULL

	// Where the walk stands: units before the sequence, and the next unit.
	int64_t before, next, end;
} dg_segment;

// Advances to the next segment of a part, from a zero one to the first; 0
// after the last.
int dg_next_segment(const dg_op *op, int part, int parts, dg_segment *g);

// The partial sums of one pair in the order of the parts; 0 if one part had all.
int dg_partials(const dg_op *op, int64_t sequence, int64_t head, int parts, const float **acc);

#endif
