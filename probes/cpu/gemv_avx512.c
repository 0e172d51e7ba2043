// Weight kernels in AVX-512 with float activations, exact to rounding: the
// path that the int8 kernels are judged by.
#if defined(__x86_64__)
#include "strips_avx512.h"

// Activation k of token t.
#define X(k, t) _mm512_set1_ps(x[(k) * tokens + (t)])
#define EACH(t) DG_UNROLL(8) for (int t = 0; t < tokens; t++)

AVX512 DG_INLINE void bf16_avx512(const uint8_t *w, int64_t chunks, const void *at, float *acc, const float *s, const int tokens) {
	const float *x = at;
	(void)s;
	__m512 a[2][8], b[2][8];
	for (int h = 0; h < 2; h++)
		EACH(t) {
			a[h][t] = _mm512_loadu_ps(acc + t * DG_ROWS + h * 16);
			b[h][t] = _mm512_setzero_ps();
		}
	for (int64_t k = 0; k < 16 * chunks; k++, w += 128, x += 2 * tokens) {
		DG_ASK(w);
		DG_ASK(w + 64);
		DG_UNROLL(2)
		for (int h = 0; h < 2; h++) {
			__m512i v = _mm512_loadu_si512(w + 64 * h);
			__m512 even = _mm512_castsi512_ps(_mm512_slli_epi32(v, 16));
			__m512 odd = _mm512_castsi512_ps(_mm512_and_si512(v, _mm512_set1_epi32((int)0xffff0000)));
			EACH(t) {
				a[h][t] = _mm512_fmadd_ps(even, X(0, t), a[h][t]);
				if (tokens <= 4)
					b[h][t] = _mm512_fmadd_ps(odd, X(1, t), b[h][t]);
				else
					a[h][t] = _mm512_fmadd_ps(odd, X(1, t), a[h][t]);
			}
		}
	}
	for (int h = 0; h < 2; h++)
		EACH(t) _mm512_storeu_ps(acc + t * DG_ROWS + h * 16, _mm512_add_ps(a[h][t], b[h][t]));
}

// 16 rows of one half, as they leave the chunk: inputs 0 and 2, or 1 and 3.
#define E4M3_EVEN(v) _mm512_and_si512(_mm512_srai_epi16(_mm512_slli_epi16(v, 8), 1), _mm512_set1_epi16((short)0xbf80))
#define E4M3_ODD(v) _mm512_and_si512(_mm512_srai_epi16(v, 1), _mm512_set1_epi16((short)0xbf80))
#define LOW(v) _mm512_cvtph_ps(_mm512_castsi512_si256(v))
#define HIGH(v) _mm512_cvtph_ps(_mm512_extracti64x4_epi64(v, 1))

AVX512 DG_INLINE void fp8_avx512(const uint8_t *w, int64_t chunks, const void *at, float *acc, const float *s, const int tokens) {
	const float *x = at;
	for (int64_t c = 0; c < chunks; c++) {
		__m512 a[2][8], b[2][8]; // two chains for few tokens
		for (int h = 0; h < 2; h++)
			EACH(t) a[h][t] = b[h][t] = _mm512_setzero_ps();
		for (int k = 0; k < 32; k++, w += 128, x += 4 * tokens) {
			DG_ASK(w);
			DG_ASK(w + 64);
			DG_UNROLL(2)
			for (int h = 0; h < 2; h++) {
				__m512i v = _mm512_loadu_si512(w + 64 * h), even = E4M3_EVEN(v), odd = E4M3_ODD(v);
				__m512 w0 = LOW(even), w1 = LOW(odd), w2 = HIGH(even), w3 = HIGH(odd);
				EACH(t) {
					a[h][t] = _mm512_fmadd_ps(w0, X(0, t), a[h][t]);
					__m512 *to = tokens <= 4 ? &b[h][t] : &a[h][t];
					*to = _mm512_fmadd_ps(w1, X(1, t), *to);
					a[h][t] = _mm512_fmadd_ps(w2, X(2, t), a[h][t]);
					*to = _mm512_fmadd_ps(w3, X(3, t), *to);
				}
			}
		}
		__m512 scale = _mm512_set1_ps(s ? s[c] : 1);
		for (int h = 0; h < 2; h++)
			EACH(t) {
				float *to = acc + t * DG_ROWS + h * 16;
				_mm512_storeu_ps(to, _mm512_fmadd_ps(_mm512_add_ps(a[h][t], b[h][t]), scale, _mm512_loadu_ps(to)));
			}
	}
}

AVX512 DG_INLINE void four(int format, const uint8_t *w, int64_t chunks, const float *x, float *acc, const int tokens) {
	const int per = dg_chunk_k(format), group = dg_group(format), half = dg_chunk_bytes(format) / 2;
	static const float twice[16] = {DG_TWICE}, less8[16] = {-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7};
	const __m512 table = _mm512_loadu_ps(format == DG_W_INT4 ? less8 : twice);
	__m512 a[2][8];
	for (int h = 0; h < 2; h++)
		EACH(t) a[h][t] = _mm512_loadu_ps(acc + t * DG_ROWS + h * 16);
	for (int64_t c = 0; c < chunks; c++, x += per * tokens) {
		DG_UNROLL(2)
		for (int h = 0; h < 2; h++, w += half) {
			DG_UNROLL(1)
			for (int g = 0; g < per / group; g++) {
				__m512 part[8];
				EACH(t) part[t] = _mm512_setzero_ps();
				DG_UNROLL(1)
				for (int z = 0; z < group / 8; z++) {
					const float *at = x + (g * group + z * 8) * tokens;
					DG_ASK(w + g * group * 8 + z * 64);
					__m512i v = _mm512_loadu_si512(w + g * group * 8 + z * 64);
					DG_UNROLL(8)
					for (int i = 0; i < 8; i++) {
						__m512 value = _mm512_permutexvar_ps(_mm512_srli_epi32(v, 4 * i), table);
						EACH(t) part[t] = _mm512_fmadd_ps(value, _mm512_set1_ps(at[(i % 2 * 4 + i / 2) * tokens + t]), part[t]);
					}
				}
				if (g == 0)
					DG_ASK(w + per * 8);
				__m512 scale = scale_of(format, w + per * 8, g);
				EACH(t) a[h][t] = _mm512_fmadd_ps(part[t], scale, a[h][t]);
			}
		}
	}
	for (int h = 0; h < 2; h++)
		EACH(t) _mm512_storeu_ps(acc + t * DG_ROWS + h * 16, a[h][t]);
}

#define FOUR(name, format) \
	AVX512 DG_INLINE void name(const uint8_t *w, int64_t chunks, const void *x, float *acc, const float *s, const int tokens) { \
		(void)s; \
		four(format, w, chunks, x, acc, tokens); \
	}
FOUR(nvfp4_avx512, DG_W_NVFP4)
FOUR(mxfp4_avx512, DG_W_MXFP4)
FOUR(int4_avx512, DG_W_INT4)

DG_STRIPS(bf16_avx512, AVX512)
DG_STRIPS(fp8_avx512, AVX512)
DG_STRIPS(nvfp4_avx512, AVX512)
DG_STRIPS(mxfp4_avx512, AVX512)
DG_STRIPS(int4_avx512, AVX512)
#endif
