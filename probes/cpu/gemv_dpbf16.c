// Weights as bf16 times activations rounded to bf16, pairs of them in one
// instruction. Activations that are bf16 already lose nothing.
#if defined(__x86_64__)
#include "strips.h"

#define DPBF16 __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,f16c,fma")))
#define EACH(t) DG_UNROLL(8) for (int t = 0; t < tokens; t++)
#define BH(v) ((__m512bh)(v))

DPBF16 DG_INLINE void bf16_dpbf16(const uint8_t *w, int64_t chunks, const void *at, float *acc, const float *s, const int tokens) {
	const int32_t *x = at; // pairs
	(void)s;
	// The instruction takes six cycles: four chains a half hide it for few tokens.
	enum { CHAINS = 4 };
	const int chains = tokens == 1 ? 4 : tokens == 2 ? 2 : 1;
	__m512 a[2][8][CHAINS];
	for (int h = 0; h < 2; h++)
		EACH(t) {
			a[h][t][0] = _mm512_loadu_ps(acc + t * DG_ROWS + h * 16);
			DG_UNROLL(3)
			for (int i = 1; i < chains; i++)
				a[h][t][i] = _mm512_setzero_ps();
		}
	for (int64_t k = 0; k < 4 * chunks; k++, w += 512, x += 4 * tokens) {
		DG_UNROLL(4)
		for (int i = 0; i < 4; i++)
			DG_UNROLL(2)
			for (int h = 0; h < 2; h++) {
				DG_ASK(w + 128 * i + 64 * h);
				__m512i v = _mm512_loadu_si512(w + 128 * i + 64 * h);
				EACH(t) a[h][t][i % chains] = _mm512_dpbf16_ps(a[h][t][i % chains], BH(v), BH(_mm512_set1_epi32(x[i * tokens + t])));
			}
	}
	for (int h = 0; h < 2; h++)
		EACH(t) {
			__m512 sum = a[h][t][0];
			DG_UNROLL(3)
			for (int i = 1; i < chains; i++)
				sum = _mm512_add_ps(sum, a[h][t][i]);
			_mm512_storeu_ps(acc + t * DG_ROWS + h * 16, sum);
		}
}

// Twice the value of E2M1 code n, in bf16.
#define TWICE 0, 0x3f80, 0x4000, 0x4040, 0x4080, 0x40c0, 0x4100, 0x4140, (short)0x8000, (short)0xbf80, (short)0xc000, \
		(short)0xc040, (short)0xc080, (short)0xc0c0, (short)0xc100, (short)0xc140

DPBF16 DG_INLINE void nvfp4_dpbf16(const uint8_t *w, int64_t chunks, const void *at, float *acc, const float *unused, const int tokens) {
	const int32_t *x = at; // pairs
	(void)unused;
	// 32 entries, the index's bit above the code does not matter.
	const __m512i table = _mm512_broadcast_i64x4(_mm256_setr_epi16(TWICE));
	__m512 a[2][8];
	for (int h = 0; h < 2; h++)
		EACH(t) a[h][t] = _mm512_loadu_ps(acc + t * DG_ROWS + h * 16);
	for (int64_t c = 0; c < chunks; c++, x += 32 * tokens) {
		DG_UNROLL(2)
		for (int h = 0; h < 2; h++, w += 576) {
			DG_UNROLL(9)
			for (int i = 0; i < 576; i += 64)
				DG_ASK(w + i);
			DG_UNROLL(4)
			for (int g = 0; g < 4; g++) {
				__m512 part[8];
				EACH(t) part[t] = _mm512_setzero_ps();
				DG_UNROLL(2)
				for (int z = 0; z < 2; z++) {
					__m512i v = _mm512_loadu_si512(w + g * 128 + z * 64);
					DG_UNROLL(4)
					for (int i = 0; i < 4; i++) {
						__m512i value = _mm512_permutexvar_epi16(_mm512_srli_epi16(v, 4 * i), table);
						EACH(t) part[t] = _mm512_dpbf16_ps(part[t], BH(value), BH(_mm512_set1_epi32(x[(g * 8 + z * 4 + i) * tokens + t])));
					}
				}
				__m512 scale = _mm512_cvtph_ps(_mm256_slli_epi16(_mm256_cvtepu8_epi16(_mm_loadu_si128((const void *)(w + 512 + 16 * g))), 7));
				EACH(t) a[h][t] = _mm512_fmadd_ps(part[t], scale, a[h][t]);
			}
		}
	}
	for (int h = 0; h < 2; h++)
		EACH(t) _mm512_storeu_ps(acc + t * DG_ROWS + h * 16, a[h][t]);
}

DG_STRIPS(bf16_dpbf16, DPBF16)
DG_STRIPS(nvfp4_dpbf16, DPBF16)
#endif
