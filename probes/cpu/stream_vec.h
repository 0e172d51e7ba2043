// Reading, copying and triad, once for every vector width: include after
// rows_vec.h. Four streams at once, and lines asked for on two levels: the
// fastest of some twenty arrangements on a Sapphire Rapids server, a tenth above
// one stream asked for on one level. A quarter of a part is a stream; what is
// left over is read at its end.
#include "strips.h"

enum {
	STREAMS = 4,
	WIDTH = 4 * LANES,  // bytes of a vector
	STEP = 4 * WIDTH,   // of a stream at a time
	PIECE = 1 << 16,    // of a stream between two looks at the cancel flag
};

// The lines of a part in bytes.
FN void lines(const dg_op *op, int part, int parts, int64_t *from, int64_t *to) {
	share(op->bytes / 4, part, parts, from, to);
	*from *= 4, *to *= 4;
}

FN int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

TARGET void OP(read)(const dg_op *op, int part, int parts) {
	int64_t from, to;
	lines(op, part, parts, &from, &to);
	const char *w = (const char *)op->w + from;
	int64_t each = (to - from) / STREAMS / STEP * STEP;
	vec v[4] = {v_set1(0), v_set1(0), v_set1(0), v_set1(0)};
	for (int64_t piece = 0; piece < each && !dg_cancelled(op); piece += PIECE)
		for (int64_t i = piece, end = least(each, piece + PIECE); i < end; i += STEP)
			DG_UNROLL(4)
			for (int s = 0; s < STREAMS; s++) {
				const char *p = w + s * each + i;
				DG_UNROLL(4)
				for (int k = 0; k < 4; k++) {
					if (k * WIDTH % 64 == 0)
						DG_ASK(p + k * WIDTH);
					v[k] = v_xor(v[k], v_load((const float *)(p + k * WIDTH)));
				}
			}
	for (int64_t i = STREAMS * each; i < to - from; i += WIDTH)
		v[0] = v_xor(v[0], v_load((const float *)(w + i)));
	float all[LANES];
	v_store(all, v_xor(v_xor(v[0], v[1]), v_xor(v[2], v[3])));
	uint64_t words[LANES / 2], sum = 0;
	memcpy(words, all, sizeof words);
	for (int k = 0; k < LANES / 2; k++)
		sum ^= words[k];
	((uint64_t *)op->y)[8 * part] = sum;
}

// Stores past the caches: lines that are overwritten whole are not read first.
// NEON has no such stores, and the library's copy is as good.
#if defined(__x86_64__)
TARGET void OP(copy)(const dg_op *op, int part, int parts) {
	int64_t from, to;
	lines(op, part, parts, &from, &to);
	const float *x = op->x;
	float *y = op->y;
	for (; from < to && !dg_cancelled(op); from += PIECE)
		for (int64_t i = from / 4, end = least(to, from + PIECE) / 4; i < end; i += 16) {
			DG_ASK(x + i);
			for (int k = 0; k < 16; k += LANES)
				v_stream(y + i + k, v_load(x + i + k));
		}
	v_fence();
}
#endif

TARGET void OP(triad)(const dg_op *op, int part, int parts) {
	int64_t from, to;
	lines(op, part, parts, &from, &to);
	const float *x = op->x, *w = op->w;
	float *y = op->y;
	vec f = v_set1(op->f0);
	for (; from < to && !dg_cancelled(op); from += PIECE)
		for (int64_t i = from / 4, end = least(to, from + PIECE) / 4; i < end; i += 16) {
			DG_ASK(x + i);
			DG_ASK(w + i);
			for (int k = 0; k < 16; k += LANES)
				v_stream(y + i + k, v_fma(f, v_load(w + i + k), v_load(x + i + k)));
		}
	v_fence();
}
