// What the weight kernels in AVX-512 have in common, with float and with int8
// activations.
#ifndef DECODEGAP_STRIPS_AVX512_H
#define DECODEGAP_STRIPS_AVX512_H

#include "strips.h"

#define AVX512 __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,f16c,fma")))

// The scales of group g of 16 rows.
AVX512 DG_INLINE __m512 scale_of(int format, const uint8_t *s, int g) {
	switch (format) {
	case DG_W_NVFP4: // through f16, where sub-normals cost nothing
		return _mm512_cvtph_ps(_mm256_slli_epi16(_mm256_cvtepu8_epi16(_mm_loadu_si128((const void *)(s + 16 * g))), 7));
	case DG_W_MXFP4: // 2⁻¹²⁷, a sub-normal, counts as zero
		return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu8_epi32(_mm_loadu_si128((const void *)(s + 16 * g))), 23));
	default:
		return _mm512_cvtph_ps(_mm256_loadu_si256((const void *)(s + 32 * g)));
	}
}

#endif
