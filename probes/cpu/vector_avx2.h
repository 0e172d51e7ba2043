// Vectors of eight lanes: AVX2, FMA, F16C.
#ifndef DECODEGAP_VECTOR_AVX2_H
#define DECODEGAP_VECTOR_AVX2_H

#include "kernels.h"

#include <immintrin.h>
#include <math.h>
#include <string.h>

#define TARGET __attribute__((target("avx2,fma,f16c")))
#define FN static inline DG_ALWAYS __attribute__((unused)) TARGET
#define OP(name) dg_##name##_avx2

typedef __m256 vec;
enum { LANES = 8, SCORE_SUMS = 8, WEIGH_PAIRS = 1 };

FN vec v_set1(float a) { return _mm256_set1_ps(a); }
FN vec v_load(const float *p) { return _mm256_loadu_ps(p); }
FN void v_store(float *p, vec a) { _mm256_storeu_ps(p, a); }
FN vec v_add(vec a, vec b) { return _mm256_add_ps(a, b); }
FN vec v_sub(vec a, vec b) { return _mm256_sub_ps(a, b); }
FN vec v_mul(vec a, vec b) { return _mm256_mul_ps(a, b); }
FN vec v_div(vec a, vec b) { return _mm256_div_ps(a, b); }
FN vec v_fma(vec a, vec b, vec c) { return _mm256_fmadd_ps(a, b, c); }
FN vec v_max(vec a, vec b) { return _mm256_max_ps(a, b); }
FN vec v_xor(vec a, vec b) { return _mm256_xor_ps(a, b); }
FN void v_stream(float *p, vec a) { _mm256_stream_ps(p, a); }
FN void v_fence(void) { _mm_sfence(); }
FN unsigned v_equal(vec a, vec b) { return _mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_EQ_OQ)); }
FN unsigned v_at_least(vec a, vec b) { return _mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_GE_OQ)); }

FN float v_sum(vec a) {
	__m128 s = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
	s = _mm_add_ps(s, _mm_movehl_ps(s, s));
	return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}

FN float v_highest(vec a) {
	__m128 s = _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
	s = _mm_max_ps(s, _mm_movehl_ps(s, s));
	return _mm_cvtss_f32(_mm_max_ss(s, _mm_movehdup_ps(s)));
}

// 2^x to two units in the last place, 0 below 2^-126.
FN vec v_exp2(vec x) {
	vec normal = _mm256_cmp_ps(x, v_set1(-126), _CMP_GE_OQ);
	x = _mm256_min_ps(v_max(x, v_set1(-126)), v_set1(128));
	vec n = _mm256_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
	vec f = v_sub(x, n), p = v_set1(1.5403530e-4f);
	p = v_fma(p, f, v_set1(1.3333558e-3f));
	p = v_fma(p, f, v_set1(9.6181291e-3f));
	p = v_fma(p, f, v_set1(5.5504109e-2f));
	p = v_fma(p, f, v_set1(2.4022651e-1f));
	p = v_fma(p, f, v_set1(6.9314718e-1f));
	p = v_fma(p, f, v_set1(1));
	__m256i power = _mm256_slli_epi32(_mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127)), 23);
	return _mm256_and_ps(normal, v_mul(p, _mm256_castsi256_ps(power)));
}

FN vec v_load_bf16(const uint16_t *p) {
	__m256i wide = _mm256_cvtepu16_epi32(_mm_loadu_si128((const void *)p));
	return _mm256_castsi256_ps(_mm256_slli_epi32(wide, 16));
}

FN void v_store_bf16(uint16_t *p, vec a) {
	__m256i bits = _mm256_castps_si256(a);
	__m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
	bits = _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)), odd);
	bits = _mm256_srli_epi32(bits, 16);
	_mm_storeu_si128((void *)p, _mm_packus_epi32(_mm256_castsi256_si128(bits), _mm256_extracti128_si256(bits, 1)));
}

// 16 values: the even ones in a, the odd ones in b.
FN void v_pair_bf16(const uint16_t *p, int64_t n, vec *a, vec *b) {
	(void)n;
	__m256i v = _mm256_loadu_si256((const void *)p);
	*a = _mm256_castsi256_ps(_mm256_slli_epi32(v, 16));
	*b = _mm256_castsi256_ps(_mm256_and_si256(v, _mm256_set1_epi32(0xffff0000)));
}

// 16 values ÷ 256: the first half in a, the second in b.
FN void v_pair_fp8(const uint8_t *p, int64_t n, vec *a, vec *b) {
	(void)n;
	__m256i half = _mm256_slli_epi16(_mm256_cvtepi8_epi16(_mm_loadu_si128((const void *)p)), 7);
	half = _mm256_and_si256(half, _mm256_set1_epi16((short)0xbfff));
	*a = _mm256_cvtph_ps(_mm256_castsi256_si128(half));
	*b = _mm256_cvtph_ps(_mm256_extracti128_si256(half, 1));
}

FN void v_sums(const vec *a, int n, float *out) {
	for (int i = 0; i < n; i++)
		out[i] = v_sum(a[i]);
}

#endif
