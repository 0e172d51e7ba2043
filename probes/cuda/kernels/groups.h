// Four-bit weights with a scale for each 32 columns, and their arithmetic.
//
// A unit is 16 rows × 256 columns: 2048 bytes of weights, as in nvfp4.h, where
// a lane's 32 weights of a piece are one group, then the scales: of lane
// 4·g + t those of row g, groups 2·t and 2·t + 1, then of row g + 8.
//
// As in nvfp4.h a column of operand B is a group: columns 0 to 3 those of the
// first 128 columns, 4 to 7 those of the others.
//
// Encoding gives Scales, a lane's, with copy, load and the four as float32,
// and unpack, the four pairs of a word as binary16.
#pragma once
#include "tiles.h"

template <class Encoding> struct Groups {
	enum { COLUMNS = 256, BYTES = 2048 + 32 * (int)sizeof(typename Encoding::Scales), SLOT = BYTES };
	static constexpr float FACTOR = Encoding::FACTOR;
	using Stream = InOrder<Groups>;
	uint4 w[4];
	typename Encoding::Scales scales;

	DEVICE_MEMBER static void copy(u32 to, const char *from) {
		const u32 lane = thread() % 32;
#pragma unroll
		for (int c = 0; c < 4; c++) copy16(to + c * 512 + lane * 16, from + c * 512 + lane * 16);
		Encoding::copy(to + 2048 + lane * sizeof scales, from + 2048 + lane * sizeof scales);
	}
	DEVICE_MEMBER void load(u32 from) {
		const u32 lane = thread() % 32;
#pragma unroll
		for (int c = 0; c < 4; c++) w[c] = load_shared16(from + c * 512 + lane * 16);
		scales = Encoding::load(from + 2048 + lane * sizeof scales);
	}
	DEVICE_MEMBER static u32 first(u32 g, u32 t) { return g == t ? t * 64 : NONE; }
	DEVICE_MEMBER static u32 second(u32 g, u32 t) { return g == t + 4 ? 256 + t * 64 : NONE; }

	DEVICE_MEMBER void multiply(u32 x0, u32 x1, float &y0, float &y1) {
		float c[4][4];
#pragma unroll
		for (int i = 0; i < 4; i++) c[i][0] = c[i][1] = c[i][2] = c[i][3] = 0;
#pragma unroll
		for (int i = 0; i < 4; i++) {
			const int m = i >> 1, q = i & 1;
			const uint4 low = w[2 * m], high = w[2 * m + 1];
			u32 a0[4], a1[4], a2[4], a3[4];
			Encoding::unpack(q ? low.y : low.x, a0);
			Encoding::unpack(q ? high.y : high.x, a1);
			Encoding::unpack(q ? low.w : low.z, a2);
			Encoding::unpack(q ? high.w : high.z, a3);
			const u32 at = m ? x1 : x0;
			const uint4 b0 = load_shared16(at + q * 16), b1 = load_shared16(at + 32 + q * 16);
			mma_f16(c[i], a0[0], a1[0], a2[0], a3[0], b0.x, b1.x);
			mma_f16(c[i], a0[1], a1[1], a2[1], a3[1], b0.y, b1.y);
			mma_f16(c[i], a0[2], a1[2], a2[2], a3[2], b0.z, b1.z);
			mma_f16(c[i], a0[3], a1[3], a2[3], a3[3], b0.w, b1.w);
		}
		float s[4];
		Encoding::values(scales, s);
		y0 = fma(c[0][0] + c[1][0] + (c[2][0] + c[3][0]), s[0], fma(c[0][1] + c[1][1] + (c[2][1] + c[3][1]), s[1], y0));
		y1 = fma(c[0][2] + c[1][2] + (c[2][2] + c[3][2]), s[2], fma(c[0][3] + c[1][3] + (c[2][3] + c[3][3]), s[3], y1));
	}
};
