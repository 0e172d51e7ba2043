// Weight kernels in NEON, for every 64-bit ARM: four rows at a time, their
// accumulators in registers, over a strip that stays in L1. Four-bit weights
// are multiplied with int8 activations: table look-up, widening products.
#if defined(__aarch64__)
#include "strips.h"

#include <arm_neon.h>

#define EACH(t) DG_UNROLL(8) for (int t = 0; t < tokens; t++)
#define X(k, t) x[(k) * tokens + (t)]

DG_INLINE void ask(const uint8_t *w, int64_t bytes) {
	for (int64_t i = 0; i < bytes; i += 64)
		DG_ASK(w + i);
}

DG_INLINE void bf16_neon(const uint8_t *w, int64_t chunks, const void *at, float *acc, const float *s, const int tokens) {
	(void)s;
	for (int q = 0; q < 8; q++) {
		const float *x = at;
		float32x4_t a[8], b[8];
		EACH(t) a[t] = vld1q_f32(acc + t * DG_ROWS + q * 4), b[t] = vdupq_n_f32(0);
		for (int64_t k = 0; k < 16 * chunks; k++, x += 2 * tokens) {
			if (q == 0)
				ask(w + k * 128, 128);
			uint32x4_t v = vld1q_u32((const uint32_t *)(w + k * 128 + q * 16));
			float32x4_t even = vreinterpretq_f32_u32(vshlq_n_u32(v, 16));
			float32x4_t odd = vreinterpretq_f32_u32(vandq_u32(v, vdupq_n_u32(0xffff0000)));
			EACH(t) {
				a[t] = vfmaq_n_f32(a[t], even, X(0, t));
				b[t] = vfmaq_n_f32(b[t], odd, X(1, t));
			}
		}
		EACH(t) vst1q_f32(acc + t * DG_ROWS + q * 4, vaddq_f32(a[t], b[t]));
	}
}

// The f16 of four E4M3 times 2⁻⁸, in the high bytes of 16-bit lanes.
DG_INLINE float32x4_t from_e4m3(uint16x4_t high) {
	int16x4_t v = vshr_n_s16(vreinterpret_s16_u16(high), 1);
	return vcvt_f32_f16(vreinterpret_f16_u16(vand_u16(vreinterpret_u16_s16(v), vdup_n_u16(0xbf80))));
}

DG_INLINE void fp8_neon(const uint8_t *w, int64_t chunks, const void *at, float *acc, const float *s, const int tokens) {
	for (int64_t c = 0; c < chunks; c++, w += 4096) {
		const float scale = s ? s[c] : 1;
		for (int q = 0; q < 8; q++) {
			const float *x = (const float *)at + c * 128 * tokens;
			const uint8_t *from = w + q / 4 * 64 + q % 4 * 8;
			float32x4_t a[8], b[8];
			EACH(t) a[t] = b[t] = vdupq_n_f32(0);
			for (int k = 0; k < 32; k++, from += 128, x += 4 * tokens) {
				if (q == 0)
					ask(from, 128);
				uint16x4_t v = vreinterpret_u16_u8(vld1_u8(from)), u = vreinterpret_u16_u8(vld1_u8(from + 32));
				float32x4_t w0 = from_e4m3(vshl_n_u16(v, 8)), w1 = from_e4m3(v);
				float32x4_t w2 = from_e4m3(vshl_n_u16(u, 8)), w3 = from_e4m3(u);
				EACH(t) {
					a[t] = vfmaq_n_f32(a[t], w0, X(0, t));
					b[t] = vfmaq_n_f32(b[t], w1, X(1, t));
					a[t] = vfmaq_n_f32(a[t], w2, X(2, t));
					b[t] = vfmaq_n_f32(b[t], w3, X(3, t));
				}
			}
			EACH(t) {
				float *to = acc + t * DG_ROWS + q * 4;
				vst1q_f32(to, vfmaq_n_f32(vld1q_f32(to), vaddq_f32(a[t], b[t]), scale));
			}
		}
	}
}

// The scales of group g of four rows, q4 of a half.
DG_INLINE float32x4_t scale_of(int format, const uint8_t *s, int g, int q4) {
	if (format == DG_W_INT4)
		return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16((const uint16_t *)(s + 32 * g + 8 * q4))));
	uint16x4_t bytes = vget_low_u16(vmovl_u8(vreinterpret_u8_u32(vdup_n_u32(*(const uint32_t *)(s + 16 * g + 4 * q4)))));
	if (format == DG_W_NVFP4)
		return vcvt_f32_f16(vreinterpret_f16_u16(vshl_n_u16(bytes, 7)));
	return vreinterpretq_f32_u32(vshlq_n_u32(vmovl_u16(bytes), 23)); // 2⁻¹²⁷, a sub-normal, counts as zero
}

// Codes are looked up as signed values: the bias that other instruction sets
// need is left out.
DG_INLINE void four(int format, const uint8_t *w, int64_t chunks, const char *x, float *acc, const int tokens) {
	static const int8_t twice[16] = {DG_TWICE}, less8[16] = {-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7};
	const int per = dg_chunk_k(format), group = dg_group(format), half = dg_chunk_bytes(format) / 2;
	const int record = (group + 8) * tokens;
	const int8x16_t table = vld1q_s8(format == DG_W_INT4 ? less8 : twice);
	for (int q = 0; q < 8; q++) {
		float32x4_t a[8];
		EACH(t) a[t] = vld1q_f32(acc + t * DG_ROWS + q * 4);
		for (int64_t c = 0; c < chunks; c++) {
			const uint8_t *from = w + (2 * c + q / 4) * half;
			if (q % 4 == 0)
				ask(from, half);
			for (int g = 0; g < per / group; g++) {
				const int32_t *words = (const int32_t *)(x + (c * (per / group) + g) * record);
				const float *scales = (const float *)(words + (group / 4 + 1) * tokens);
				int32x4_t sum[8];
				EACH(t) sum[t] = vdupq_n_s32(0);
				for (int z = 0; z < group / 8; z++) {
					uint8x16_t v = vld1q_u8(from + g * group * 8 + z * 64 + q % 4 * 16);
					int8x16_t low = vqtbl1q_s8(table, vandq_u8(v, vdupq_n_u8(15)));
					int8x16_t high = vqtbl1q_s8(table, vshrq_n_u8(v, 4));
					EACH(t) {
						int8x8_t in = vreinterpret_s8_s32(vdup_n_s32(words[2 * z * tokens + t]));
						int8x8_t more = vreinterpret_s8_s32(vdup_n_s32(words[(2 * z + 1) * tokens + t]));
						// Two products of at most 12 · 127 each in 16 bits.
						int16x8_t first = vmlal_s8(vmull_s8(vget_low_s8(low), in), vget_low_s8(high), more);
						int16x8_t second = vmlal_s8(vmull_s8(vget_high_s8(low), in), vget_high_s8(high), more);
						sum[t] = vpadalq_s16(sum[t], vpaddq_s16(first, second));
					}
				}
				float32x4_t scale = scale_of(format, from + per * 8, g, q % 4);
				EACH(t) a[t] = vfmaq_f32(a[t], vcvtq_f32_s32(sum[t]), vmulq_n_f32(scale, scales[t]));
			}
		}
		EACH(t) vst1q_f32(acc + t * DG_ROWS + q * 4, a[t]);
	}
}

#define FOUR(name, format) \
	DG_INLINE void name(const uint8_t *w, int64_t chunks, const void *x, float *acc, const float *s, const int tokens) { \
		(void)s; \
		four(format, w, chunks, x, acc, tokens); \
	}
FOUR(nvfp4_neon, DG_W_NVFP4)
FOUR(mxfp4_neon, DG_W_MXFP4)
FOUR(int4_neon, DG_W_INT4)

DG_STRIPS(bf16_neon, )
DG_STRIPS(fp8_neon, )
DG_STRIPS(nvfp4_neon, )
DG_STRIPS(mxfp4_neon, )
DG_STRIPS(int4_neon, )
#endif
