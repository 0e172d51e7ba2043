// Reading, copying and triad: the ceilings that every other kernel is held
// against. Reads are what decode does, so DG_READ is the reference.
#include "kernels.h"

#include <string.h>

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
	for (int64_t i = from; i < to; i += 64) {
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
	memcpy((char *)op->y + from, (const char *)op->x + from, to - from);
}

void dg_triad_scalar(const dg_op *op, int part, int parts) {
	int64_t from, to;
	lines(op->bytes, part, parts, &from, &to);
	const float *x = op->x, *w = op->w;
	float *y = op->y;
	for (int64_t i = from / 4; i < to / 4; i++)
		y[i] = x[i] + op->f0 * w[i];
}

void dg_nothing(const dg_op *op, int part, int parts) {
	(void)op, (void)part, (void)parts;
}

#if defined(__x86_64__)
#include <immintrin.h>

__attribute__((target("avx2"))) void dg_read_avx2(const dg_op *op, int part, int parts) {
	int64_t from, to;
	lines(op->bytes, part, parts, &from, &to);
	const char *w = op->w;
	__m256i a = _mm256_setzero_si256(), b = a, c = a, d = a;
	int64_t i = from;
	for (; i + 128 <= to; i += 128) {
		_mm_prefetch(w + i + 4096, _MM_HINT_T0);
		_mm_prefetch(w + i + 4160, _MM_HINT_T0);
		a = _mm256_xor_si256(a, _mm256_loadu_si256((const void *)(w + i)));
		b = _mm256_xor_si256(b, _mm256_loadu_si256((const void *)(w + i + 32)));
		c = _mm256_xor_si256(c, _mm256_loadu_si256((const void *)(w + i + 64)));
		d = _mm256_xor_si256(d, _mm256_loadu_si256((const void *)(w + i + 96)));
	}
	for (; i < to; i += 32)
		a = _mm256_xor_si256(a, _mm256_loadu_si256((const void *)(w + i)));
	a = _mm256_xor_si256(_mm256_xor_si256(a, b), _mm256_xor_si256(c, d));
	uint64_t v[4];
	memcpy(v, &a, sizeof v);
	((uint64_t *)op->y)[8 * part] = v[0] ^ v[1] ^ v[2] ^ v[3];
}

__attribute__((target("avx512f"))) void dg_read_avx512(const dg_op *op, int part, int parts) {
	int64_t from, to;
	lines(op->bytes, part, parts, &from, &to);
	const char *w = op->w;
	__m512i a = _mm512_setzero_si512(), b = a, c = a, d = a;
	int64_t i = from;
	for (; i + 256 <= to; i += 256) {
		for (int k = 0; k < 256; k += 64)
			_mm_prefetch(w + i + 4096 + k, _MM_HINT_T0);
		a = _mm512_xor_si512(a, _mm512_loadu_si512(w + i));
		b = _mm512_xor_si512(b, _mm512_loadu_si512(w + i + 64));
		c = _mm512_xor_si512(c, _mm512_loadu_si512(w + i + 128));
		d = _mm512_xor_si512(d, _mm512_loadu_si512(w + i + 192));
	}
	for (; i < to; i += 64)
		a = _mm512_xor_si512(a, _mm512_loadu_si512(w + i));
	a = _mm512_xor_si512(_mm512_xor_si512(a, b), _mm512_xor_si512(c, d));
	uint64_t v[8], sum = 0;
	memcpy(v, &a, sizeof v);
	for (int k = 0; k < 8; k++)
		sum ^= v[k];
	((uint64_t *)op->y)[8 * part] = sum;
}
#endif
