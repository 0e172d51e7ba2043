// Four-bit weights times int8 activations: a byte permute looks 64 codes up,
// a dot product of bytes sums four inputs of each of 16 rows.
#if defined(__x86_64__)
#include "strips_avx512.h"

#define VNNI __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vnni,f16c,fma")))
#define EACH(t) DG_UNROLL(8) for (int t = 0; t < tokens; t++)

// Codes are looked up as values plus an offset, unsigned; the sums begin at
// minus the offset times the sum of the activations.
VNNI DG_INLINE void four(int format, const uint8_t *w, int64_t chunks, const char *x, float *acc, const int tokens) {
	const int per = dg_chunk_k(format), group = dg_group(format), half = dg_chunk_bytes(format) / 2;
	const int record = (group + 8) * tokens, int4 = format == DG_W_INT4;
	// The table four times over: the index's two high bits do not matter, so
	// that no code need be masked.
	const __m512i table = _mm512_broadcast_i32x4(int4 ? _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
	                                                  : _mm_setr_epi8(DG_TWICE_UP));
	__m512 a[2][8];
	for (int h = 0; h < 2; h++)
		EACH(t) a[h][t] = _mm512_loadu_ps(acc + t * DG_ROWS + h * 16);
	for (int64_t c = 0; c < chunks; c++, x += per / group * record) {
		DG_UNROLL(2)
		for (int h = 0; h < 2; h++, w += half) {
			DG_UNROLL(4)
			for (int g = 0; g < per / group; g++) {
				const char *at = x + g * record;
				const int32_t *words = (const int32_t *)at, *bias = words + group / 4 * tokens;
				const float *scales = (const float *)(bias + tokens);
				__m512i sum[8];
				EACH(t) sum[t] = _mm512_set1_epi32(bias[t]);
				DG_UNROLL(4)
				for (int z = 0; z < group / 8; z++) {
					DG_ASK(w + g * group * 8 + z * 64);
					__m512i v = _mm512_loadu_si512(w + g * group * 8 + z * 64);
					__m512i low = _mm512_permutexvar_epi8(v, table);
					__m512i high = _mm512_permutexvar_epi8(_mm512_srli_epi16(v, 4), table);
					EACH(t) {
						sum[t] = _mm512_dpbusd_epi32(sum[t], low, _mm512_set1_epi32(words[2 * z * tokens + t]));
						sum[t] = _mm512_dpbusd_epi32(sum[t], high, _mm512_set1_epi32(words[(2 * z + 1) * tokens + t]));
					}
				}
				if (g % 2 == 0 && (format != DG_W_NVFP4 || g == 0))
					DG_ASK(w + per * 8 + g * 32);
				__m512 scale = scale_of(format, w + per * 8, g);
				EACH(t) a[h][t] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sum[t]), _mm512_mul_ps(scale, _mm512_set1_ps(scales[t])), a[h][t]);
				if (tokens >= 4) // keeps inputs out of registers, which the sums need
					__asm__ volatile("" ::: "memory");
			}
		}
	}
	for (int h = 0; h < 2; h++)
		EACH(t) _mm512_storeu_ps(acc + t * DG_ROWS + h * 16, a[h][t]);
}

#define FOUR(name, format) \
	VNNI DG_INLINE void name(const uint8_t *w, int64_t chunks, const void *x, float *acc, const float *s, const int tokens) { \
		(void)s; \
		four(format, w, chunks, x, acc, tokens); \
	}
FOUR(nvfp4_vnni, DG_W_NVFP4)
FOUR(mxfp4_vnni, DG_W_MXFP4)
FOUR(int4_vnni, DG_W_INT4)

DG_STRIPS(nvfp4_vnni, VNNI)
DG_STRIPS(mxfp4_vnni, VNNI)
DG_STRIPS(int4_vnni, VNNI)
#endif
