// Activations of one group as signed bytes with one scale.
#include "weights.h"

#include <math.h>

void dg_quantise(const float *v, int group, int8_t *q, int *sum, float *scale) {
	float most = 0;
	for (int i = 0; i < group; i++)
		most = fabsf(v[i]) > most ? fabsf(v[i]) : most;
	float inverse = most > 0 ? 127 / most : 0;
	int total = 0;
	for (int i = 0; i < group; i++) {
		int n = (int)lrintf(v[i] * inverse);
		q[i] = (int8_t)n;
		total += n;
	}
	*sum = total;
	*scale = most / 127;
}

#if defined(__x86_64__)
#include <immintrin.h>

// The largest of eight values, none negative.
__attribute__((target("avx2,fma"))) static float largest(__m256 v) {
	__m128 m = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
	m = _mm_max_ps(m, _mm_movehl_ps(m, m));
	return _mm_cvtss_f32(_mm_max_ss(m, _mm_movehdup_ps(m)));
}

// The same bits as dg_quantise, sixteen values at a time.
__attribute__((target("avx2,fma"))) void dg_quantise_avx2(const float *v, int group, int8_t *q, int *sum, float *scale) {
	const __m256 magnitude = _mm256_castsi256_ps(_mm256_set1_epi32(0x7fffffff));
	__m256 most8 = _mm256_setzero_ps();
	for (int i = 0; i < group; i += 8)
		most8 = _mm256_max_ps(most8, _mm256_and_ps(magnitude, _mm256_loadu_ps(v + i)));
	float most = largest(most8), inverse = most > 0 ? 127 / most : 0;
	__m256 by = _mm256_set1_ps(inverse);
	__m128i total = _mm_setzero_si128();
	for (int i = 0; i < group; i += 16) {
		__m256i a = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(v + i), by));
		__m256i b = _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(v + i + 8), by));
		__m256i words = _mm256_permute4x64_epi64(_mm256_packs_epi32(a, b), 0xd8);
		__m128i low = _mm256_castsi256_si128(words), high = _mm256_extracti128_si256(words, 1);
		_mm_storeu_si128((void *)(q + i), _mm_packs_epi16(low, high));
		total = _mm_add_epi32(total, _mm_madd_epi16(_mm_add_epi16(low, high), _mm_set1_epi16(1)));
	}
	total = _mm_add_epi32(total, _mm_shuffle_epi32(total, 0x4e));
	total = _mm_add_epi32(total, _mm_shuffle_epi32(total, 0xb1));
	*sum = _mm_cvtsi128_si32(total);
	*scale = most / 127;
}
#endif
