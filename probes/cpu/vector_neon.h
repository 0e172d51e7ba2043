// Vectors of four lanes: NEON of every AArch64.
#ifndef DECODEGAP_VECTOR_NEON_H
#define DECODEGAP_VECTOR_NEON_H

#include "kernels.h"

#include <arm_neon.h>
#include <math.h>
#include <string.h>

#define TARGET
#define FN static inline DG_ALWAYS __attribute__((unused)) TARGET
#define OP(name) dg_##name##_neon

typedef float32x4_t vec;
enum { LANES = 4, SCORE_SUMS = 16, WEIGH_PAIRS = 2 };

FN vec v_set1(float a) { return vdupq_n_f32(a); }
FN vec v_load(const float *p) { return vld1q_f32(p); }
FN void v_store(float *p, vec a) { vst1q_f32(p, a); }
FN vec v_add(vec a, vec b) { return vaddq_f32(a, b); }
FN vec v_sub(vec a, vec b) { return vsubq_f32(a, b); }
FN vec v_mul(vec a, vec b) { return vmulq_f32(a, b); }
FN vec v_div(vec a, vec b) { return vdivq_f32(a, b); }
FN vec v_fma(vec a, vec b, vec c) { return vfmaq_f32(c, a, b); }
FN vec v_max(vec a, vec b) { return vmaxnmq_f32(a, b); } // of a NaN and a number the number
FN vec v_xor(vec a, vec b) { return vreinterpretq_f32_u32(veorq_u32(vreinterpretq_u32_f32(a), vreinterpretq_u32_f32(b))); }
FN void v_stream(float *p, vec a) { vst1q_f32(p, a); } // there are no stores past the caches
FN void v_fence(void) {}
FN float v_sum(vec a) { return vaddvq_f32(a); }
FN float v_highest(vec a) { return vmaxnmvq_f32(a); }

FN unsigned lanes_set(uint32x4_t mask) {
	static const uint32_t bit[4] = {1, 2, 4, 8};
	return vaddvq_u32(vandq_u32(mask, vld1q_u32(bit)));
}

FN unsigned v_equal(vec a, vec b) { return lanes_set(vceqq_f32(a, b)); }
FN unsigned v_at_least(vec a, vec b) { return lanes_set(vcgeq_f32(a, b)); }

// 2^x to two units in the last place, 0 below 2^-126.
FN vec v_exp2(vec x) {
	uint32x4_t normal = vcgeq_f32(x, v_set1(-126));
	x = vminq_f32(v_max(x, v_set1(-126)), v_set1(128));
	vec n = vrndnq_f32(x);
	vec f = v_sub(x, n), p = v_set1(1.5403530e-4f);
	p = v_fma(p, f, v_set1(1.3333558e-3f));
	p = v_fma(p, f, v_set1(9.6181291e-3f));
	p = v_fma(p, f, v_set1(5.5504109e-2f));
	p = v_fma(p, f, v_set1(2.4022651e-1f));
	p = v_fma(p, f, v_set1(6.9314718e-1f));
	p = v_fma(p, f, v_set1(1));
	int32x4_t power = vshlq_n_s32(vaddq_s32(vcvtnq_s32_f32(n), vdupq_n_s32(127)), 23);
	p = v_mul(p, vreinterpretq_f32_s32(power));
	return vreinterpretq_f32_u32(vandq_u32(normal, vreinterpretq_u32_f32(p)));
}

FN vec v_load_bf16(const uint16_t *p) { return vreinterpretq_f32_u32(vshll_n_u16(vld1_u16(p), 16)); }

FN void v_store_bf16(uint16_t *p, vec a) {
	uint32x4_t bits = vreinterpretq_u32_f32(a);
	uint32x4_t odd = vandq_u32(vshrq_n_u32(bits, 16), vdupq_n_u32(1));
	bits = vaddq_u32(vaddq_u32(bits, vdupq_n_u32(0x7fff)), odd);
	vst1_u16(p, vshrn_n_u32(bits, 16));
}

// 8 values: the even ones in a, the odd ones in b.
FN void v_pair_bf16(const uint16_t *p, int64_t n, vec *a, vec *b) {
	(void)n;
	uint32x4_t v = vreinterpretq_u32_u16(vld1q_u16(p));
	*a = vreinterpretq_f32_u32(vshlq_n_u32(v, 16));
	*b = vreinterpretq_f32_u32(vandq_u32(v, vdupq_n_u32(0xffff0000)));
}

// 8 values ÷ 256: the first half in a, the second in b.
FN void v_pair_fp8(const uint8_t *p, int64_t n, vec *a, vec *b) {
	(void)n;
	int16x8_t half = vshlq_n_s16(vmovl_s8(vreinterpret_s8_u8(vld1_u8(p))), 7);
	half = vandq_s16(half, vdupq_n_s16((short)0xbfff));
	*a = vcvt_f32_f16(vreinterpret_f16_s16(vget_low_s16(half)));
	*b = vcvt_f32_f16(vreinterpret_f16_s16(vget_high_s16(half)));
}

FN void v_sums(const vec *a, int n, float *out) {
	for (int i = 0; i < n; i += 4) {
		vec lo = vpaddq_f32(a[i], a[i + 1]), hi = vpaddq_f32(a[i + 2], a[i + 3]);
		v_store(out + i, vpaddq_f32(lo, hi));
	}
}

#endif
