// Float32 in few bits: the nearest number of a format, of two as near the one
// with an even code, and the largest where a number is too large.
#pragma once
#include "rows.h"

enum { BF16, FP8, NVFP4 }; // what a row is written as

#define E4M3_MOST 448.f
#define E2M1_MOST 6.f

// The nearest code without its sign: `step` is the mantissa's last bit in a
// float, one the exponent of the least normal number, and unit a float whose
// last bit is the step below that.
DEVICE u32 nearest_code(float magnitude, u32 bit, u32 bias, float least, float unit) {
	const u32 b = float_bits(magnitude);
	const u32 normal = (b + ((1u << (bit - 1)) - 1) + (b >> bit & 1)) >> bit;
	return magnitude < least ? float_bits(magnitude + unit) - float_bits(unit) : normal - bias;
}
DEVICE u32 e4m3_code(float x) {
	return nearest_code(__builtin_fminf(magnitude(x), E4M3_MOST), 20, 120 << 3, 0x1p-6f, 0x1p14f) | (float_bits(x) >> 24 & 0x80);
}
DEVICE u32 e2m1_code(float x) {
	return nearest_code(__builtin_fminf(magnitude(x), E2M1_MOST), 22, 126 << 1, 1.f, 0x1p22f) | (float_bits(x) >> 28 & 8);
}
// The value of a positive code.
DEVICE float e4m3_value(u32 code) {
	float low, high;
	f16_pair(code << 7, low, high);
	return 256.f * low;
}

DEVICE u32 pack_e4m3(float low, float high) {
#if __CUDA_ARCH__ >= 900
	u16 r;
	asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(r) : "f"(high), "f"(low));
	return r;
#else
	return e4m3_code(low) | e4m3_code(high) << 8;
#endif
}
DEVICE uint2 pack8_e4m3(const float *x, float factor) {
	u32 half[4];
#pragma unroll
	for (int i = 0; i < 4; i++) half[i] = pack_e4m3(x[2 * i] * factor, x[2 * i + 1] * factor);
	return {half[0] | half[1] << 16, half[2] | half[3] << 16};
}

// Where engines put the scale of a row's block of 16 for the tensor cores: in
// tiles of 128 rows and four blocks, four rows that are 32 apart in 16 bytes.
DEVICE u32 nvfp4_scale_at(u32 row, u32 group, u32 groups) {
	return ((row / 128) * (groups / 4) + group / 4) * 512 + row % 32 * 16 + row % 128 / 32 * 4 + group % 4;
}

// Eight values as NVFP4, the odd thread beside an even one having the other
// half of the same block: codes in y, two a byte, and an E4M3 scale. The scale
// of the tensor is its reciprocal, global. All lanes of a warp come here; cols
// is a multiple of 64.
DEVICE void write_nvfp4(const float *x, char *y, char *scales, u32 row, u32 col, u32 cols, float global) {
	float most = 0;
#pragma unroll
	for (int i = 0; i < 8; i++) most = maximum(most, magnitude(x[i]));
	most = maximum(most, shuffle_xor(most, 1));
	const u32 code = e4m3_code(most * (global * (1 / E2M1_MOST)));
	const float factor = code ? global / e4m3_value(code) : 0;
	u32 word = 0;
#pragma unroll
	for (int i = 0; i < 8; i++) word |= e2m1_code(x[i] * factor) << (4 * i);
	store4(y + ((u64)row * cols + col) / 2, word);
	// Four scales in one store.
	u32 four = code | shuffle_xor(code, 2) << 8;
	four |= shuffle_xor(four, 4) << 16;
	if (thread() % 8 == 0) store4(scales + nvfp4_scale_at(row, col / 16, cols / 16), four);
}
