// E4M3 weights as the kernels read them, with a float32 scale for each block
// of 128×128.
//
// A unit is 16 rows × 128 columns in 2048 bytes. In each of its four pieces of
// 512 bytes, lane 4·g + t has 16: of piece 2·m + h the weights of row g + 8·h,
// columns 64·m + 16·t on. A word holds four, two pairs; of a half-word, the
// weight of pair 0 has its sign at bit 15 and its magnitude at bit 7 up, that
// of pair 1 at bit 14 and bit 0 up. Magnitudes at bits 7 to 13 are binary16
// times 2^-8, sub-normal numbers included.
//
// Scales lie apart, those of 128 rows one after another. In a ring they follow
// the unit, once for each lane: so each reads only what it copied itself.
#pragma once
#include "tiles.h"

struct FP8 {
	enum { COLUMNS = 128, BYTES = 2048, SLOT = 2048 + 128, BLOCK = 8 }; // BLOCK: tiles of one scale
	static constexpr float FACTOR = 256;
	uint4 w[4];
	float scale;

	struct Stream {
		const char *next, *scale;
		u32 tile, unit, units;

		DEVICE_MEMBER void begin(const char *w, const char *scales, u32 at_tile, u32 at_unit, u32 of) {
			tile = at_tile;
			unit = at_unit;
			units = of;
			next = w + ((u64)tile * units + unit) * BYTES;
			scale = scales + (tile / BLOCK * units + unit) * 4;
		}
		DEVICE_MEMBER void copy(u32 to) { FP8::copy(to, next, scale); }
		DEVICE_MEMBER void step() {
			next += BYTES;
			scale += 4;
			if (++unit < units) return;
			unit = 0;
			if (++tile % BLOCK) scale -= units * 4;
		}
	};

	DEVICE_MEMBER static void copy(u32 to, const char *from, const char *scale) {
		const u32 lane = thread() % 32;
#pragma unroll
		for (int c = 0; c < 4; c++) copy16(to + c * 512 + lane * 16, from + c * 512 + lane * 16);
		copy4(to + BYTES + lane * 4, scale);
	}
	DEVICE_MEMBER void load(u32 from) {
		const u32 lane = thread() % 32;
#pragma unroll
		for (int c = 0; c < 4; c++) w[c] = load_shared16(from + c * 512 + lane * 16);
		scale = load_shared(from + BYTES + lane * 4);
	}
	DEVICE_MEMBER static void unpack(u32 w, u32 *pair) {
		pair[0] = w & 0xbf80bf80u;
		pair[1] = (w << 7) & 0x3f803f80u | w << 1 & 0x80008000u;
	}
	// Operand A of the four steps of 16 columns of a piece, of rows g and g + 8.
	DEVICE_MEMBER static void operand(uint4 low, uint4 high, u32 (*a)[4]) {
		const u32 l[4] = {low.x, low.y, low.z, low.w}, h[4] = {high.x, high.y, high.z, high.w};
#pragma unroll
		for (int k = 0; k < 4; k++) {
			u32 pair[2];
			unpack(l[k], pair);
			a[k][0] = pair[0];
			a[k][2] = pair[1];
			unpack(h[k], pair);
			a[k][1] = pair[0];
			a[k][3] = pair[1];
		}
	}
	// Of the columns of operand B one holds the token.
	DEVICE_MEMBER static u32 first(u32 g, u32 t) { return g == 0 ? t * 32 : NONE; }
	DEVICE_MEMBER static u32 second(u32 g, u32 t) { return g == 0 ? 128 + t * 32 : NONE; }

	DEVICE_MEMBER void multiply(u32 x0, u32 x1, float &y0, float &y1) {
		float c[4][4];
#pragma unroll
		for (int m = 0; m < 2; m++) {
			u32 a[4][4];
			operand(w[2 * m], w[2 * m + 1], a);
#pragma unroll
			for (int q = 0; q < 2; q++) {
				float *sum = c[2 * m + q];
				sum[0] = sum[1] = sum[2] = sum[3] = 0;
				const uint4 b = load_shared16((m ? x1 : x0) + q * 16);
				mma_f16(sum, a[2 * q][0], a[2 * q][1], a[2 * q][2], a[2 * q][3], b.x, b.y);
				mma_f16(sum, a[2 * q + 1][0], a[2 * q + 1][1], a[2 * q + 1][2], a[2 * q + 1][3], b.z, b.w);
			}
		}
		y0 = fma(c[0][0] + c[1][0] + (c[2][0] + c[3][0]), scale, y0);
		y1 = fma(c[0][2] + c[1][2] + (c[2][2] + c[3][2]), scale, y1);
	}
};
