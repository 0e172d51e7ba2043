// NVFP4 weights as the kernels read them, and their arithmetic on tensor cores
// that know nothing narrower than binary16.
//
// A unit is 16 rows × 256 columns in 2304 bytes, 18 full lines: 2048 of
// weights (e2m1.h), then 256 of scales. In each of the four pieces of 512
// bytes, lane 4·g + t has 16: of piece 2·m + h the 32 weights of row g + 8·h,
// columns 128·m + 32·t on, two groups of 16. Of scales it has those of its own
// weights: byte 4·m + 2·h + group.
//
// An E4M3 scale shifted left by 7 is binary16 times 2^-8.
//
// At one token the eight columns of operand B would be one of use and seven
// not. Instead columns 2·t and 2·t + 1 hold x only where the weights belong to
// lane t's first or second group: a column of the result is a group, and each
// group's scale is applied once, in float32, to a sum of 16 products.
#pragma once
#include "e2m1.h"
#include "tiles.h"

enum { UNIT = 2304, SCALES = 2048 };

// Each of a pair times its scale, or both times the lower or the upper one.
DEVICE u32 scaled(u32 pair, u32 scales) {
	u32 r;
	asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(r) : "r"(pair), "r"(scales));
	return r;
}
DEVICE u32 scaled_low(u32 pair, u32 scales) {
	u32 r;
	asm("{ .reg .b16 l, h; .reg .b32 both; mov.b32 {l, h}, %2; mov.b32 both, {l, l}; mul.rn.f16x2 %0, %1, both; }" : "=r"(r) : "r"(pair), "r"(scales));
	return r;
}
DEVICE u32 scaled_high(u32 pair, u32 scales) {
	u32 r;
	asm("{ .reg .b16 l, h; .reg .b32 both; mov.b32 {l, h}, %2; mov.b32 both, {h, h}; mul.rn.f16x2 %0, %1, both; }" : "=r"(r) : "r"(pair), "r"(scales));
	return r;
}

// A lane's scales of four bytes as binary16 times 2^6: of rows g and g + 8, of
// the first group and of the second.
struct Scales {
	u32 first, second;

	DEVICE_MEMBER Scales(u32 four) {
		const u32 number = 0x7f807f80u, power = 0x74007400u; // 2^14
		first = scaled(four << 7 & number, power);
		second = scaled(four >> 1 & number, power);
	}
};

// A lane's operand A of two products with 16 columns each, from a word of row g
// and of row g + 8: weights times their scales, exactly, times 2^-8. Rows 2·t on
// of B are an even pair's columns, those 8 below the next pair's.
DEVICE void weights_of(u32 low, u32 high, u32 scales, u32 (*a)[4]) {
	u32 l[4], h[4];
	unpack(low, l);
	unpack(high, h);
#pragma unroll
	for (int j = 0; j < 2; j++) {
		a[j][0] = scaled_low(l[2 * j], scales);
		a[j][1] = scaled_high(h[2 * j], scales);
		a[j][2] = scaled_low(l[2 * j + 1], scales);
		a[j][3] = scaled_high(h[2 * j + 1], scales);
	}
}
struct NVFP4 {
	enum { COLUMNS = 256, BYTES = UNIT, SLOT = UNIT };
	static constexpr float FACTOR = 4194304.f; // 2^14 of the weights and 2^8 of the scales
	using Stream = InOrder<NVFP4>;
	uint4 w[4];
	uint2 scales;

	DEVICE_MEMBER static void copy(u32 to, const char *from) {
		const u32 lane = thread() % 32;
#pragma unroll
		for (int c = 0; c < 4; c++) copy16(to + c * 512 + lane * 16, from + c * 512 + lane * 16);
		copy8(to + SCALES + lane * 8, from + SCALES + lane * 8);
	}
	DEVICE_MEMBER void load(u32 from) {
		const u32 lane = thread() % 32;
#pragma unroll
		for (int c = 0; c < 4; c++) w[c] = load_shared16(from + c * 512 + lane * 16);
		scales = load_shared8(from + SCALES + lane * 8);
	}
	// The first 16 of a lane's 32 columns are a group, and the second.
	DEVICE_MEMBER static u32 first(u32 g, u32 t) { return g == 2 * t ? t * 64 : NONE; }
	DEVICE_MEMBER static u32 second(u32 g, u32 t) { return g == 2 * t + 1 ? t * 64 + 32 : NONE; }

	DEVICE_MEMBER void multiply(u32 x0, u32 x1, float &y0, float &y1) {
		float c[4][4];
#pragma unroll
		for (int i = 0; i < 4; i++) c[i][0] = c[i][1] = c[i][2] = c[i][3] = 0;
		// Four chains that do not wait for each other.
#pragma unroll
		for (int i = 0; i < 4; i++) {
			const int m = i >> 1, q = i & 1;
			const uint4 low = w[2 * m], high = w[2 * m + 1];
			u32 a0[4], a1[4], a2[4], a3[4];
			unpack(q ? low.y : low.x, a0);
			unpack(q ? high.y : high.x, a1);
			unpack(q ? low.w : low.z, a2);
			unpack(q ? high.w : high.z, a3);
			const uint4 b0 = load_shared16(x0 + m * 256 + q * 16), b1 = load_shared16(x1 + m * 256 + q * 16);
			mma_f16(c[i], a0[0], a1[0], a2[0], a3[0], b0.x, b1.x);
			mma_f16(c[i], a0[1], a1[1], a2[1], a3[1], b0.y, b1.y);
			mma_f16(c[i], a0[2], a1[2], a2[2], a3[2], b0.z, b1.z);
			mma_f16(c[i], a0[3], a1[3], a2[3], a3[3], b0.w, b1.w);
		}
#pragma unroll
		for (int m = 0; m < 2; m++) {
			const u32 four = m ? scales.y : scales.x;
			float s0, s1, s2, s3;
			f16_pair(permute(four, 0, 0x4140) << 7, s0, s1);
			f16_pair(permute(four, 0, 0x4342) << 7, s2, s3);
			const float *a = c[2 * m], *b = c[2 * m + 1];
			y0 = fma(a[0] + b[0], s0, fma(a[1] + b[1], s1, y0));
			y1 = fma(a[2] + b[2], s2, fma(a[3] + b[3], s3, y1));
		}
	}
};
