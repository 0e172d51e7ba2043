// Weight kernels in AVX2. Eight rows at a time, their accumulators in
// registers, over a strip that stays in L1. Four-bit weights are multiplied
// with int8 activations: table look-up and multiply-add of bytes.
#if defined(__x86_64__)
#include "strips.h"

#define AVX2 __attribute__((target("avx2,fma,f16c")))
#define EACH(t) DG_UNROLL(8) for (int t = 0; t < tokens; t++)
#define X(k, t) _mm256_set1_ps(x[(k) * tokens + (t)])

AVX2 DG_INLINE void ask(const uint8_t *w, int64_t bytes) {
	for (int64_t i = 0; i < bytes; i += 64)
		DG_ASK(w + i);
}

AVX2 DG_INLINE void bf16_avx2(const uint8_t *w, int64_t chunks, const void *at, float *acc, const float *s, const int tokens) {
	(void)s;
	for (int q = 0; q < 4; q++) {
		const float *x = at;
		__m256 a[8], b[8];
		EACH(t) a[t] = _mm256_loadu_ps(acc + t * DG_ROWS + q * 8), b[t] = _mm256_setzero_ps();
		for (int64_t k = 0; k < 16 * chunks; k++, x += 2 * tokens) {
			if (q == 0)
				ask(w + k * 128, 128);
			__m256i v = _mm256_loadu_si256((const void *)(w + k * 128 + q * 32));
			__m256 even = _mm256_castsi256_ps(_mm256_slli_epi32(v, 16));
			__m256 odd = _mm256_castsi256_ps(_mm256_and_si256(v, _mm256_set1_epi32((int)0xffff0000)));
			EACH(t) {
				a[t] = _mm256_fmadd_ps(even, X(0, t), a[t]);
				if (tokens <= 4)
					b[t] = _mm256_fmadd_ps(odd, X(1, t), b[t]);
				else
					a[t] = _mm256_fmadd_ps(odd, X(1, t), a[t]);
			}
		}
		EACH(t) _mm256_storeu_ps(acc + t * DG_ROWS + q * 8, _mm256_add_ps(a[t], b[t]));
	}
}

#define E4M3_EVEN(v) _mm_and_si128(_mm_srai_epi16(_mm_slli_epi16(v, 8), 1), _mm_set1_epi16((short)0xbf80))
#define E4M3_ODD(v) _mm_and_si128(_mm_srai_epi16(v, 1), _mm_set1_epi16((short)0xbf80))

AVX2 DG_INLINE void fp8_avx2(const uint8_t *w, int64_t chunks, const void *at, float *acc, const float *s, const int tokens) {
	for (int64_t c = 0; c < chunks; c++, w += 4096) {
		const __m256 scale = _mm256_set1_ps(s ? s[c] : 1);
		for (int q = 0; q < 4; q++) {
			const float *x = (const float *)at + c * 128 * tokens;
			const uint8_t *from = w + q / 2 * 64 + q % 2 * 16;
			__m256 a[8], b[8], d[8], e[8]; // more chains for few tokens
			EACH(t) a[t] = b[t] = d[t] = e[t] = _mm256_setzero_ps();
			for (int k = 0; k < 32; k++, from += 128, x += 4 * tokens) {
				if (q == 0)
					ask(from, 128);
				__m128i v = _mm_loadu_si128((const void *)from), u = _mm_loadu_si128((const void *)(from + 32));
				__m256 w0 = _mm256_cvtph_ps(E4M3_EVEN(v)), w1 = _mm256_cvtph_ps(E4M3_ODD(v));
				__m256 w2 = _mm256_cvtph_ps(E4M3_EVEN(u)), w3 = _mm256_cvtph_ps(E4M3_ODD(u));
				EACH(t) {
					__m256 *second = tokens <= 4 ? &b[t] : &a[t], *third = tokens <= 2 ? &d[t] : &a[t], *fourth = tokens <= 2 ? &e[t] : second;
					a[t] = _mm256_fmadd_ps(w0, X(0, t), a[t]);
					*second = _mm256_fmadd_ps(w1, X(1, t), *second);
					*third = _mm256_fmadd_ps(w2, X(2, t), *third);
					*fourth = _mm256_fmadd_ps(w3, X(3, t), *fourth);
				}
			}
			EACH(t) {
				float *to = acc + t * DG_ROWS + q * 8;
				_mm256_storeu_ps(to, _mm256_fmadd_ps(_mm256_add_ps(_mm256_add_ps(a[t], b[t]), _mm256_add_ps(d[t], e[t])), scale, _mm256_loadu_ps(to)));
			}
		}
	}
}

// The scales of group g of eight rows, q2 of a half.
AVX2 DG_INLINE __m256 scale_of(int format, const uint8_t *s, int g, int q2) {
	switch (format) {
	case DG_W_NVFP4: // through f16, where sub-normals cost nothing
		return _mm256_cvtph_ps(_mm_slli_epi16(_mm_cvtepu8_epi16(_mm_loadl_epi64((const void *)(s + 16 * g + 8 * q2))), 7));
	case DG_W_MXFP4: // 2⁻¹²⁷, a sub-normal, counts as zero
		return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu8_epi32(_mm_loadl_epi64((const void *)(s + 16 * g + 8 * q2))), 23));
	default:
		return _mm256_cvtph_ps(_mm_loadu_si128((const void *)(s + 32 * g + 16 * q2)));
	}
}

// Codes are looked up as values plus an offset, unsigned; minus the offset
// times the sum of the activations is added at the end. Sums of eight products
// of at most 24 · 127 stay within 16 bits.
AVX2 DG_INLINE void four(int format, const uint8_t *w, int64_t chunks, const char *x, float *acc, const int tokens) {
	const int per = dg_chunk_k(format), group = dg_group(format), half = dg_chunk_bytes(format) / 2;
	const int record = (group + 8) * tokens;
	const __m256i table = _mm256_broadcastsi128_si256(format == DG_W_INT4 ? _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
	                                                                      : _mm_setr_epi8(DG_TWICE_UP));
	const __m256i mask = _mm256_set1_epi8(15), ones = _mm256_set1_epi16(1);
	for (int q = 0; q < 4; q++) {
		__m256 a[8];
		EACH(t) a[t] = _mm256_loadu_ps(acc + t * DG_ROWS + q * 8);
		for (int64_t c = 0; c < chunks; c++) {
			const uint8_t *from = w + (2 * c + q / 2) * half;
			if (q % 2 == 0)
				ask(from, half);
			DG_UNROLL(4)
			for (int g = 0; g < per / group; g++) {
				const int32_t *words = (const int32_t *)(x + (c * (per / group) + g) * record), *bias = words + group / 4 * tokens;
				const float *scales = (const float *)(bias + tokens);
				__m256i sum[8];
				EACH(t) sum[t] = _mm256_set1_epi32(bias[t]);
				DG_UNROLL(2)
				for (int y = 0; y < group / 16; y++) {
					__m256i part[8];
					EACH(t) part[t] = _mm256_setzero_si256();
					DG_UNROLL(2)
					for (int z = 2 * y; z < 2 * y + 2; z++) {
						__m256i v = _mm256_loadu_si256((const void *)(from + g * group * 8 + z * 64 + q % 2 * 32));
						__m256i low = _mm256_shuffle_epi8(table, _mm256_and_si256(v, mask));
						__m256i high = _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(v, 4), mask));
						EACH(t) {
							part[t] = _mm256_add_epi16(part[t], _mm256_maddubs_epi16(low, _mm256_set1_epi32(words[2 * z * tokens + t])));
							part[t] = _mm256_add_epi16(part[t], _mm256_maddubs_epi16(high, _mm256_set1_epi32(words[(2 * z + 1) * tokens + t])));
						}
					}
					EACH(t) sum[t] = _mm256_add_epi32(sum[t], _mm256_madd_epi16(part[t], ones));
				}
				__m256 scale = scale_of(format, from + per * 8, g, q % 2);
				EACH(t) a[t] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(sum[t]), _mm256_mul_ps(scale, _mm256_set1_ps(scales[t])), a[t]);
			}
		}
		EACH(t) _mm256_storeu_ps(acc + t * DG_ROWS + q * 8, a[t]);
	}
}

#define FOUR(name, format) \
	AVX2 DG_INLINE void name(const uint8_t *w, int64_t chunks, const void *x, float *acc, const float *s, const int tokens) { \
		(void)s; \
		four(format, w, chunks, x, acc, tokens); \
	}
FOUR(nvfp4_avx2, DG_W_NVFP4)
FOUR(mxfp4_avx2, DG_W_MXFP4)
FOUR(int4_avx2, DG_W_INT4)

DG_STRIPS(bf16_avx2, AVX2)
DG_STRIPS(fp8_avx2, AVX2)
DG_STRIPS(nvfp4_avx2, AVX2)
DG_STRIPS(mxfp4_avx2, AVX2)
DG_STRIPS(int4_avx2, AVX2)
#endif
