// The scalar twin of every weight kernel: the layout of weights.h read value
// by value.
#include "strips.h"

#include <string.h>

static float from_bits(uint32_t bits) {
	float v;
	memcpy(&v, &bits, 4);
	return v;
}

// The product moves the exponent, of sub-normals too.
static float f16(uint16_t h) {
	float v = from_bits((uint32_t)(h & 0x7fff) << 13) * 0x1p112f;
	return h & 0x8000 ? -v : v;
}

static float half_of_byte(uint8_t e4m3) {
	return f16((uint16_t)((e4m3 & 0x80) << 8 | (e4m3 & 0x7f) << 7));
}

// 2⁻¹²⁷, a sub-normal, counts as zero.
static float power(uint8_t e8m0) { return from_bits((uint32_t)e8m0 << 23); }

static float from_bf16(const uint8_t *p) { return from_bits((uint32_t)p[1] << 24 | (uint32_t)p[0] << 16); }

static const int8_t twice[16] = {DG_TWICE};

static inline void add(float *acc, const float *x, int tokens, int lane, float w) {
	for (int t = 0; t < tokens; t++)
		acc[t * DG_ROWS + lane] += w * x[t];
}

DG_INLINE void bf16_scalar(const uint8_t *w, int64_t chunks, const void *at, float *acc, const float *s, int tokens) {
	const float *x = at;
	(void)s;
	for (int64_t k = 0; k < 32 * chunks; k++)
		for (int lane = 0; lane < DG_ROWS; lane++)
			add(acc, x + k * tokens, tokens, lane, from_bf16(w + k / 2 * 128 + lane * 4 + k % 2 * 2));
}

DG_INLINE void fp8_scalar(const uint8_t *w, int64_t chunks, const void *at, float *acc, const float *s, int tokens) {
	const float *x = at;
	for (int64_t k = 0; k < 128 * chunks; k++)
		for (int lane = 0; lane < DG_ROWS; lane++) {
			uint8_t b = w[k / 4 * 128 + lane / 16 * 64 + k / 2 % 2 * 32 + lane % 16 * 2 + k % 2];
			add(acc, x + k * tokens, tokens, lane, half_of_byte(b) * (s ? s[k / 128] : 1));
		}
}

DG_INLINE void four(int format, const uint8_t *w, int64_t chunks, const float *x, float *acc, int tokens) {
	int per = dg_chunk_k(format), bytes = dg_chunk_bytes(format);
	for (int64_t c = 0; c < chunks; c++, w += bytes)
		for (int k = 0; k < per; k++)
			for (int lane = 0; lane < DG_ROWS; lane++) {
				const uint8_t *half = w + lane / 16 * (bytes / 2), *s = half + per * 8;
				int r = lane % 16, code = half[k / 8 * 64 + r * 4 + k % 4] >> (k / 4 % 2 * 4) & 15;
				float v = twice[code];
				switch (format) {
				case DG_W_NVFP4:
					v *= half_of_byte(s[k / 16 * 16 + r]);
					break;
				case DG_W_MXFP4:
					v *= power(s[k / 32 * 16 + r]);
					break;
				case DG_W_INT4:
					v = (float)(code - 8) * f16((uint16_t)(s[k / 32 * 32 + r * 2] | s[k / 32 * 32 + r * 2 + 1] << 8));
					break;
				}
				add(acc, x + (c * per + k) * tokens, tokens, lane, v);
			}
}

#define FOUR(name, format) \
	DG_INLINE void name(const uint8_t *w, int64_t chunks, const void *x, float *acc, const float *s, int tokens) { \
		(void)s; \
		four(format, w, chunks, x, acc, tokens); \
	}
FOUR(nvfp4_scalar, DG_W_NVFP4)
FOUR(mxfp4_scalar, DG_W_MXFP4)
FOUR(int4_scalar, DG_W_INT4)

DG_STRIPS(bf16_scalar, )
DG_STRIPS(fp8_scalar, )
DG_STRIPS(nvfp4_scalar, )
DG_STRIPS(mxfp4_scalar, )
DG_STRIPS(int4_scalar, )
