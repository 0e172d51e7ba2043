// Reading, copying and triad, in plain C; the vector variants are in
// stream_vec.h. The ceilings that every other kernel is held against: reads are
// what decode does, so DG_READ is the reference.
#include "kernels.h"

#include <string.h>

// Bytes between two looks at the cancel flag.
enum { PIECE = 1 << 18 };

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

// The lines [*from, *to) of part, in bytes of 64-byte lines.
static void lines(int64_t bytes, int part, int parts, int64_t *from, int64_t *to) {
	int64_t n = bytes / 64;
	*from = n * part / parts * 64;
	*to = n * (part + 1) / parts * 64;
}

void dg_read_scalar(const dg_op *op, int part, int parts) {
	int64_t from, to;
	lines(op->bytes, part, parts, &from, &to);
	const char *w = op->w;
	uint64_t sum[4] = {0};
	for (; from < to && !dg_cancelled(op); from += PIECE)
		for (int64_t i = from; i < least(to, from + PIECE); i += 64) {
			uint64_t v[8];
			memcpy(v, w + i, sizeof v);
			for (int k = 0; k < 4; k++)
				sum[k] ^= v[k] ^ v[k + 4];
		}
	((uint64_t *)op->y)[8 * part] = sum[0] ^ sum[1] ^ sum[2] ^ sum[3];
}

void dg_copy_scalar(const dg_op *op, int part, int parts) {
	int64_t from, to;
	lines(op->bytes, part, parts, &from, &to);
	for (; from < to && !dg_cancelled(op); from += PIECE)
		memcpy((char *)op->y + from, (const char *)op->x + from, least(to - from, PIECE));
}

void dg_triad_scalar(const dg_op *op, int part, int parts) {
	int64_t from, to;
	lines(op->bytes, part, parts, &from, &to);
	const float *x = op->x, *w = op->w;
	float *y = op->y;
	for (; from < to && !dg_cancelled(op); from += PIECE)
		for (int64_t i = from / 4; i < least(to, from + PIECE) / 4; i++)
			y[i] = x[i] + op->f0 * w[i];
}

void dg_touch(const dg_op *op, int part, int parts) {
	int64_t from, to;
	lines(op->bytes, part, parts, &from, &to);
	volatile char *y = op->y;
	for (; from < to && !dg_cancelled(op); from += 4096) // the smallest page
		y[from] = 0;
}

void dg_nothing(const dg_op *op, int part, int parts) {
	(void)op, (void)part, (void)parts;
}
