// Reading, copying and triad: the ceilings that every other kernel is held
// against. Reads are what decode does, so DG_READ is the reference.
#include "strips.h"

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

// The vector variants go over four streams at once, and ask for lines on two
// levels: the fastest of some twenty arrangements on a Sapphire Rapids server,
// a tenth above one stream asked for on one level. A quarter of a part is a
// stream; what is left over is read at its end.
enum { STREAMS = 4 };

// Bytes of each stream, a multiple of step.
static int64_t stream(int64_t bytes, int64_t step) { return bytes / STREAMS / step * step; }

#if defined(__x86_64__)
__attribute__((target("avx2"))) void dg_read_avx2(const dg_op *op, int part, int parts) {
	int64_t from, to;
	lines(op->bytes, part, parts, &from, &to);
	const char *w = (const char *)op->w + from;
	int64_t each = stream(to - from, 128);
	__m256i v[4] = {_mm256_setzero_si256(), _mm256_setzero_si256(), _mm256_setzero_si256(), _mm256_setzero_si256()};
	for (int64_t i = 0; i < each; i += 128)
		DG_UNROLL(4)
		for (int s = 0; s < STREAMS; s++) {
			const char *p = w + s * each + i;
			DG_ASK(p);
			DG_ASK(p + 64);
			DG_UNROLL(4)
			for (int k = 0; k < 4; k++)
				v[k] = _mm256_xor_si256(v[k], _mm256_loadu_si256((const void *)(p + 32 * k)));
		}
	for (int64_t i = STREAMS * each; i < to - from; i += 32)
		v[0] = _mm256_xor_si256(v[0], _mm256_loadu_si256((const void *)(w + i)));
	v[0] = _mm256_xor_si256(_mm256_xor_si256(v[0], v[1]), _mm256_xor_si256(v[2], v[3]));
	uint64_t sum[4];
	memcpy(sum, v, sizeof sum);
	((uint64_t *)op->y)[8 * part] = sum[0] ^ sum[1] ^ sum[2] ^ sum[3];
}

__attribute__((target("avx512f"))) void dg_read_avx512(const dg_op *op, int part, int parts) {
	int64_t from, to;
	lines(op->bytes, part, parts, &from, &to);
	const char *w = (const char *)op->w + from;
	int64_t each = stream(to - from, 256);
	__m512i v[4] = {_mm512_setzero_si512(), _mm512_setzero_si512(), _mm512_setzero_si512(), _mm512_setzero_si512()};
	for (int64_t i = 0; i < each; i += 256)
		DG_UNROLL(4)
		for (int s = 0; s < STREAMS; s++) {
			const char *p = w + s * each + i;
			DG_UNROLL(4)
			for (int k = 0; k < 4; k++) {
				DG_ASK(p + 64 * k);
				v[k] = _mm512_xor_si512(v[k], _mm512_loadu_si512(p + 64 * k));
			}
		}
	for (int64_t i = STREAMS * each; i < to - from; i += 64)
		v[0] = _mm512_xor_si512(v[0], _mm512_loadu_si512(w + i));
	v[0] = _mm512_xor_si512(_mm512_xor_si512(v[0], v[1]), _mm512_xor_si512(v[2], v[3]));
	uint64_t words[8], sum = 0;
	memcpy(words, v, sizeof words);
	for (int k = 0; k < 8; k++)
		sum ^= words[k];
	((uint64_t *)op->y)[8 * part] = sum;
}

// Stores past the caches: lines that are overwritten whole are not read first.
__attribute__((target("avx2"))) void dg_copy_avx2(const dg_op *op, int part, int parts) {
	int64_t from, to;
	lines(op->bytes, part, parts, &from, &to);
	const char *x = op->x;
	char *y = op->y;
	for (int64_t i = from; i < to; i += 64) {
		DG_ASK(x + i);
		__m256i a = _mm256_loadu_si256((const void *)(x + i)), b = _mm256_loadu_si256((const void *)(x + i + 32));
		_mm256_stream_si256((void *)(y + i), a);
		_mm256_stream_si256((void *)(y + i + 32), b);
	}
	_mm_sfence();
}

__attribute__((target("avx512f"))) void dg_copy_avx512(const dg_op *op, int part, int parts) {
	int64_t from, to;
	lines(op->bytes, part, parts, &from, &to);
	const char *x = op->x;
	char *y = op->y;
	for (int64_t i = from; i < to; i += 64) {
		DG_ASK(x + i);
		_mm512_stream_si512((void *)(y + i), _mm512_loadu_si512(x + i));
	}
	_mm_sfence();
}

__attribute__((target("avx2,fma"))) void dg_triad_avx2(const dg_op *op, int part, int parts) {
	int64_t from, to;
	lines(op->bytes, part, parts, &from, &to);
	const float *x = op->x, *w = op->w;
	float *y = op->y;
	__m256 f = _mm256_set1_ps(op->f0);
	for (int64_t i = from / 4; i < to / 4; i += 16) {
		DG_ASK(x + i);
		DG_ASK(w + i);
		__m256 a = _mm256_fmadd_ps(f, _mm256_loadu_ps(w + i), _mm256_loadu_ps(x + i));
		__m256 b = _mm256_fmadd_ps(f, _mm256_loadu_ps(w + i + 8), _mm256_loadu_ps(x + i + 8));
		_mm256_stream_ps(y + i, a);
		_mm256_stream_ps(y + i + 8, b);
	}
	_mm_sfence();
}

__attribute__((target("avx512f"))) void dg_triad_avx512(const dg_op *op, int part, int parts) {
	int64_t from, to;
	lines(op->bytes, part, parts, &from, &to);
	const float *x = op->x, *w = op->w;
	float *y = op->y;
	__m512 f = _mm512_set1_ps(op->f0);
	for (int64_t i = from / 4; i < to / 4; i += 16) {
		DG_ASK(x + i);
		DG_ASK(w + i);
		_mm512_stream_ps(y + i, _mm512_fmadd_ps(f, _mm512_loadu_ps(w + i), _mm512_loadu_ps(x + i)));
	}
	_mm_sfence();
}
#elif defined(__aarch64__)
#include <arm_neon.h>

void dg_read_neon(const dg_op *op, int part, int parts) {
	int64_t from, to;
	lines(op->bytes, part, parts, &from, &to);
	const char *w = (const char *)op->w + from;
	int64_t each = stream(to - from, 64);
	uint64x2_t v[4] = {vdupq_n_u64(0), vdupq_n_u64(0), vdupq_n_u64(0), vdupq_n_u64(0)};
	for (int64_t i = 0; i < each; i += 64)
		DG_UNROLL(4)
		for (int s = 0; s < STREAMS; s++) {
			const char *p = w + s * each + i;
			DG_ASK(p);
			DG_UNROLL(4)
			for (int k = 0; k < 4; k++)
				v[k] = veorq_u64(v[k], vld1q_u64((const uint64_t *)(p + 16 * k)));
		}
	for (int64_t i = STREAMS * each; i < to - from; i += 16)
		v[0] = veorq_u64(v[0], vld1q_u64((const uint64_t *)(w + i)));
	v[0] = veorq_u64(veorq_u64(v[0], v[1]), veorq_u64(v[2], v[3]));
	((uint64_t *)op->y)[8 * part] = vgetq_lane_u64(v[0], 0) ^ vgetq_lane_u64(v[0], 1);
}

// The scalar copy is the library's, which is written for each CPU.
void dg_triad_neon(const dg_op *op, int part, int parts) {
	int64_t from, to;
	lines(op->bytes, part, parts, &from, &to);
	const float *x = op->x, *w = op->w;
	float *y = op->y;
	for (int64_t i = from / 4; i < to / 4; i += 4)
		vst1q_f32(y + i, vfmaq_n_f32(vld1q_f32(x + i), vld1q_f32(w + i), op->f0));
}
#endif
