// NVFP4 weights as the kernels read them, and their arithmetic on tensor cores
// that know nothing narrower than binary16.
//
// A unit is 16 rows × 256 columns in 2304 bytes, 18 full lines: 2048 of
// weights, then 256 of scales. In each of the four pieces of 512 bytes, lane
// 4·g + t has 16: of piece 2·m + h the 32 weights of row g + 8·h, columns
// 128·m + 32·t on. Of scales it has 8 bytes.
//
// A word holds eight weights, four pairs; of a half-word, the weight of pair p
// has its sign at bit 15, 12, 14, 13 and its magnitude at bits 9, 6, 3, 0 up.
// Shifted left by 3·p, a pair is two binary16 numbers times 2^-14, sub-normal
// ones included: one AND, and at most two shifts.
//
// An E4M3 scale shifted left by 7 is binary16 times 2^-8.
//
// At one token the eight columns of operand B would be one of use and seven
// not. Instead column n holds x only where the weights belong to the n-th
// group of 16 columns: a column of the result is a group, and each group's
// scale is applied once, in float32, to a sum of 16 products.
#pragma once
#include "device.h"

enum { UNIT = 2304, SCALES = 2048 };

// 2^14 of the weights and 2^8 of the scales.
#define NVFP4_FACTOR 4194304.f

// The four pairs of a word.
DEVICE void unpack(u32 w, u32 *pair) {
	const u32 number = 0x8e008e00u, magnitude = 0x0e000e00u, sign = 0x80008000u;
	pair[0] = w & number;
	pair[1] = (w << 3) & magnitude | w << 3 & sign;
	pair[2] = (w << 6) & magnitude | w << 1 & sign;
	pair[3] = (w << 9) & magnitude | w << 2 & sign;
}

// One unit: w are the lane's pieces, s its scales, x0 and x1 the shared
// addresses of x for its column of B, or of zeros. Adds to the sums of rows g
// and g + 8 over the groups the lane has.
DEVICE void multiply_unit(const uint4 *w, uint2 s, u32 x0, u32 x1, float &y0, float &y1) {
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
		const u32 four = m ? s.y : s.x;
		float s0, s1, s2, s3;
		f16_pair(permute(four, 0, 0x4140) << 7, s0, s1);
		f16_pair(permute(four, 0, 0x4342) << 7, s2, s3);
		const float *a = c[2 * m], *b = c[2 * m + 1];
		y0 = fma(a[0] + b[0], s0, fma(a[1] + b[1], s1, y0));
		y1 = fma(a[2] + b[2], s2, fma(a[3] + b[3], s3, y1));
	}
}

// A warp's units from its ring, in STAGES, one after another: units of a tile
// make 16 rows, first begins at unit of tile. Adds each tile's rows to sums in
// shared memory. issue brings the next unit into a slot.
template <int STAGES, class Issue>
DEVICE void sum_units(u32 ring, u32 xs, u32 zeros, u32 sums, u32 count, u32 units, u32 tile, u32 unit, Issue issue) {
	const u32 lane = thread() % 32, g = lane / 4, t = lane % 4;
	u32 slot = 0, free = STAGES - 1;
	// A lane's column of B is g; its rows of B are the columns of lane t's weights.
	const u32 step0 = g == t ? 512 : 0, step1 = g == t + 4 ? 512 : 0;
	u32 x0 = step0 ? xs + t * 64 + unit * 512 : zeros, x1 = step1 ? xs + t * 64 + 32 + unit * 512 : zeros;
	float y0 = 0, y1 = 0;
	auto finish_tile = [&]() INLINE {
		for (int m = 1; m < 4; m <<= 1) {
			y0 += shuffle_xor(y0, m);
			y1 += shuffle_xor(y1, m);
		}
		if (t == 0) {
			add_shared(sums + (tile * 16 + g) * 4, y0);
			add_shared(sums + (tile * 16 + g + 8) * 4, y1);
		}
		y0 = y1 = 0;
	};
#pragma unroll 1
	for (u32 i = 0; i < count; i++) {
		copies_wait<STAGES - 2>();
		uint4 q[4];
		const u32 from = ring + slot * UNIT;
#pragma unroll
		for (int c = 0; c < 4; c++) q[c] = load_shared16(from + c * 512 + lane * 16);
		const uint2 scales = load_shared8(from + SCALES + lane * 8);
		issue(free);
		if (++free == STAGES) free = 0;
		if (++slot == STAGES) slot = 0;
		multiply_unit(q, scales, x0, x1, y0, y1);
		x0 += step0;
		x1 += step1;
		if (++unit == units) {
			finish_tile();
			unit = 0;
			tile++;
			x0 -= units * step0;
			x1 -= units * step1;
		}
	}
	if (unit) finish_tile();
}
