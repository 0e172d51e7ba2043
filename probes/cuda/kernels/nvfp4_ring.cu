// As nvfp4_gemm.cu, with the copies of ring.h.
#include "ring.h"

template <int EIGHTS> struct Products {
	static constexpr u32 TOKENS = EIGHTS * 8 * 512, BRINGING = 1;
	static constexpr bool LAG = false, QUAD = false;
	Sums<1, EIGHTS> sums;

	DEVICE_MEMBER static void begin_bringing() {}
	DEVICE_MEMBER static void begin() {}
	DEVICE_MEMBER static void arrived() {}
	DEVICE_MEMBER static void bring(u32 to, const char *from, u64 token, u32 n) {
		const u32 lane = thread() % 32;
#pragma unroll
		for (u32 i = 0; i < 8; i++, from += token) copy16(to + (n * 8 + i) * 512 + wide_chunk(lane, i) * 16, from + lane * 16);
	}
	template <class Ended> DEVICE_MEMBER void multiply(u32 tokens, u32 unit, bool mine, Ended) {
		if (!mine) return;
		const u32 lane = thread() % 32, g = lane / 4, t = lane % 4;
		const uint2 scales = load_shared8(unit + SCALES + lane * 8);
#pragma unroll
		for (int m = 0; m < 2; m++) {
			const uint4 low = load_shared16(unit + 2 * m * 512 + lane * 16), high = load_shared16(unit + (2 * m + 1) * 512 + lane * 16);
			const Scales s(m ? scales.y : scales.x);
#pragma unroll
			for (int q = 0; q < 4; q++) {
				u32 a[2][4];
				weights_of(word(low, q), word(high, q), q < 2 ? s.first : s.second, a);
#pragma unroll
				for (int n = 0; n < EIGHTS; n++) {
					const uint4 b = load_shared16(tokens + (n * 8 + g) * 512 + wide_chunk(m * 16 + t * 4 + q, g) * 16);
					mma_f16(sums.c[0][n], a[0], b.x, b.y);
					mma_f16(sums.c[0][n], a[1], b.z, b.w);
				}
			}
		}
	}
	DEVICE_MEMBER void finish() {}
};

RING(nvfp4_ring, 1, 1024)
RING(nvfp4_ring, 2, 1024)
RING(nvfp4_ring, 4, 608)
