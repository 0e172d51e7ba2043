// Vectors of sixteen lanes: AVX-512 F, BW, VL, DQ.
#ifndef DECODEGAP_VECTOR_AVX512_H
#define DECODEGAP_VECTOR_AVX512_H

#include "kernels.h"

#include <immintrin.h>
#include <math.h>
#include <string.h>

#define TARGET __attribute__((target("avx2,fma,f16c,avx512f,avx512bw,avx512vl,avx512dq")))
#define FN static inline DG_ALWAYS __attribute__((unused)) TARGET
#define OP(name) dg_##name##_avx512

typedef __m512 vec;
enum { LANES = 16, SCORE_SUMS = 16, WEIGH_PAIRS = 2 };

FN vec v_set1(float a) { return _mm512_set1_ps(a); }
FN vec v_load(const float *p) { return _mm512_loadu_ps(p); }
FN void v_store(float *p, vec a) { _mm512_storeu_ps(p, a); }
FN vec v_add(vec a, vec b) { return _mm512_add_ps(a, b); }
FN vec v_sub(vec a, vec b) { return _mm512_sub_ps(a, b); }
FN vec v_mul(vec a, vec b) { return _mm512_mul_ps(a, b); }
FN vec v_div(vec a, vec b) { return _mm512_div_ps(a, b); }
FN vec v_fma(vec a, vec b, vec c) { return _mm512_fmadd_ps(a, b, c); }
FN vec v_max(vec a, vec b) { return _mm512_max_ps(a, b); }
FN vec v_xor(vec a, vec b) { return _mm512_xor_ps(a, b); }
FN void v_stream(float *p, vec a) { _mm512_stream_ps(p, a); }
FN void v_fence(void) { _mm_sfence(); }
FN float v_sum(vec a) { return _mm512_reduce_add_ps(a); }
FN float v_highest(vec a) { return _mm512_reduce_max_ps(a); }
FN unsigned v_equal(vec a, vec b) { return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ); }
FN unsigned v_at_least(vec a, vec b) { return _mm512_cmp_ps_mask(a, b, _CMP_GE_OQ); }

// 2^x to two units in the last place, 0 below 2^-126.
FN vec v_exp2(vec x) {
	__mmask16 normal = _mm512_cmp_ps_mask(x, v_set1(-126), _CMP_GE_OQ);
	x = _mm512_min_ps(v_max(x, v_set1(-126)), v_set1(128));
	vec n = _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
	vec f = v_sub(x, n), p = v_set1(1.5403530e-4f);
	p = v_fma(p, f, v_set1(1.3333558e-3f));
	p = v_fma(p, f, v_set1(9.6181291e-3f));
	p = v_fma(p, f, v_set1(5.5504109e-2f));
	p = v_fma(p, f, v_set1(2.4022651e-1f));
	p = v_fma(p, f, v_set1(6.9314718e-1f));
	p = v_fma(p, f, v_set1(1));
	return _mm512_maskz_scalef_ps(normal, p, n);
}

FN vec v_load_bf16(const uint16_t *p) {
	__m512i wide = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)p));
	return _mm512_castsi512_ps(_mm512_slli_epi32(wide, 16));
}

FN void v_store_bf16(uint16_t *p, vec a) {
	__m512i bits = _mm512_castps_si512(a);
	__m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
	bits = _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff)), odd);
	_mm256_storeu_si256((void *)p, _mm512_cvtepi32_epi16(_mm512_srli_epi32(bits, 16)));
}

// Up to 32 values, 0 past n: the even ones in a, the odd ones in b.
FN void v_pair_bf16(const uint16_t *p, int64_t n, vec *a, vec *b) {
	__m512i v = _mm512_maskz_loadu_epi16(n < 32 ? (1u << n) - 1 : ~0u, p);
	*a = _mm512_castsi512_ps(_mm512_slli_epi32(v, 16));
	*b = _mm512_castsi512_ps(_mm512_and_si512(v, _mm512_set1_epi32(0xffff0000)));
}

// Up to 32 values ÷ 256, 0 past n: the first half in a, the second in b.
FN void v_pair_fp8(const uint8_t *p, int64_t n, vec *a, vec *b) {
	__m256i v = _mm256_maskz_loadu_epi8(n < 32 ? (1u << n) - 1 : ~0u, p);
	__m512i half = _mm512_slli_epi16(_mm512_cvtepi8_epi16(v), 7);
	half = _mm512_and_si512(half, _mm512_set1_epi16((short)0xbfff));
	*a = _mm512_cvtph_ps(_mm512_castsi512_si256(half));
	*b = _mm512_cvtph_ps(_mm512_extracti64x4_epi64(half, 1));
}

// The sums of n = 16 vectors in one, as a tree: 15 additions and 30 shuffles.
FN void v_sums(const vec *a, int n, float *out) {
	(void)n;
	vec p[8], q[4];
#pragma GCC unroll 8
	for (int i = 0; i < 8; i++) // lanes of each quarter: a0 a1 a0 a1
		p[i] = v_add(_mm512_unpacklo_ps(a[2 * i], a[2 * i + 1]), _mm512_unpackhi_ps(a[2 * i], a[2 * i + 1]));
#pragma GCC unroll 4
	for (int i = 0; i < 4; i++) { // a0 a1 a2 a3
		__m512d x = _mm512_castps_pd(p[2 * i]), y = _mm512_castps_pd(p[2 * i + 1]);
		q[i] = v_add(_mm512_castpd_ps(_mm512_unpacklo_pd(x, y)), _mm512_castpd_ps(_mm512_unpackhi_pd(x, y)));
	}
	vec r = v_add(_mm512_shuffle_f32x4(q[0], q[1], 0x44), _mm512_shuffle_f32x4(q[0], q[1], 0xee));
	vec s = v_add(_mm512_shuffle_f32x4(q[2], q[3], 0x44), _mm512_shuffle_f32x4(q[2], q[3], 0xee));
	v_store(out, v_add(_mm512_shuffle_f32x4(r, s, 0x88), _mm512_shuffle_f32x4(r, s, 0xdd)));
}

#endif
