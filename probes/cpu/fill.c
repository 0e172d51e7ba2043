// Random weights, packed: a value depends on the seed and its place alone, so
// that any number of threads fills the same bits, each touching first what it
// will read.
#include "weights.h"

#include <math.h>
#include <string.h>

// splitmix64, by Sebastiano Vigna, public domain.
static uint64_t next(uint64_t *state) {
	uint64_t z = (*state += 0x9e3779b97f4a7c15u);
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

// About a normal distribution of deviation 0.02, from 64 random bits.
static uint16_t bf16_weight(uint32_t r) {
	int sum = (int)(r & 255) + (int)(r >> 8 & 255) + (int)(r >> 16 & 255) + (int)(r >> 24) - 510;
	float v = (float)sum * (0.02f / 147.8f);
	uint32_t bits;
	memcpy(&bits, &v, 4);
	return bits >> 16;
}

// One scale in 128 is zero, one sub-normal, one the largest of its format.
static void scales(int format, uint8_t *s, uint64_t *state) {
	for (int i = 0; i < 64; i++) {
		uint64_t r = next(state);
		int rare = r >> 32 & 127;
		switch (format) {
		case DG_W_NVFP4: // 2⁻⁴ … 2 mostly
			s[i] = rare == 0 ? 0 : rare == 1 ? 1 + r % 7 : rare == 2 ? 126 : 24 + r % 40;
			break;
		case DG_W_MXFP4: // 2⁻⁹ … 2⁻⁴ mostly; code 0 is 2⁻¹²⁷
			s[i] = rare == 0 ? 0 : rare == 1 ? 60 : 118 + r % 6;
			break;
		case DG_W_INT4: { // 2⁻⁹ … 2⁻⁵ mostly
			uint16_t v = rare == 0 ? 0 : rare == 1 ? 1 + r % 1023 : rare == 2 ? 0x7bff : 0x1800 + r % 0x1000;
			if (i % 2 == 0)
				memcpy(s + i, &v, 2);
			break;
		}
		}
	}
}

static void fill_block(int format, uint8_t *w, int64_t chunks, uint64_t state, const int *cancel) {
	int64_t bytes = dg_chunk_bytes(format);
	for (uint8_t *end = w + chunks * bytes; w < end && !dg_raised(cancel); w += bytes) {
		for (int64_t i = 0; i < bytes; i += 8) {
			uint64_t r = next(&state);
			if (format == DG_W_BF16) {
				uint64_t more = next(&state);
				uint16_t v[4] = {bf16_weight((uint32_t)r), bf16_weight(r >> 32), bf16_weight((uint32_t)more), bf16_weight(more >> 32)};
				memcpy(&r, v, 8);
			}
			if (format == DG_W_FP8) { // 0x7f and 0xff are no numbers: one less is ±448
				uint64_t nan = (r & 0x7f7f7f7f7f7f7f7fu) + 0x0101010101010101u;
				r ^= nan >> 7 & 0x0101010101010101u;
			}
			memcpy(w + i, &r, 8);
		}
		if (format == DG_W_NVFP4 || format == DG_W_INT4)
			for (int h = 0; h < 2; h++)
				scales(format, w + h * 576 + 512, &state);
		if (format == DG_W_MXFP4)
			for (int h = 0; h < 2; h++)
				scales(format, w + h * 1088 + 1024, &state);
	}
}

// 2⁻¹⁰ … 2⁻⁶ for FP8, each by its place alone.
static void fill_scales(float *s, int64_t from, int64_t to, uint64_t seed) {
	for (int64_t i = from; i < to; i++) {
		uint64_t state = seed ^ (uint64_t)i * 0x9e3779b97f4a7c15u;
		s[i] = exp2f(-10 + 4 * (float)(next(&state) >> 40) * 0x1p-24f);
	}
}

void dg_fill(const dg_op *op, int part, int parts) {
	int format = (int)op->n0;
	int64_t k = dg_chunk_k(format), chunks = (op->cols + k - 1) / k;
	int64_t blocks = (op->rows + DG_ROWS - 1) / DG_ROWS;
	uint64_t seed = (uint64_t)op->n1 * 0x2545f4914f6cdd1du;
	for (int64_t b = blocks * part / parts; b < blocks * (part + 1) / parts && !dg_cancelled(op); b++) {
		uint64_t state = seed + (uint64_t)b;
		fill_block(format, (uint8_t *)op->y + b * chunks * dg_chunk_bytes(format), chunks, next(&state), op->cancel);
		if (!op->y2)
			continue;
		if (op->n2 == 0)
			fill_scales(op->y2, b * DG_ROWS, (b + 1) * DG_ROWS, seed);
		else if (b * DG_ROWS % op->n2 == 0)
			fill_scales(op->y2, b * DG_ROWS / op->n2 * chunks, (b * DG_ROWS / op->n2 + 1) * chunks, seed);
	}
}
