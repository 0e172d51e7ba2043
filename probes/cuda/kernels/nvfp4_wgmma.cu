// As nvfp4_ring.cu, on Hopper's products of a warp group: four warps have 16
// rows each and read the tokens, operand B, together.
#include "ring.h"
#include "wgmma.h"

// A word of B pairs with the weights of a lane: of the product i of a unit, 8·m
// + j, rows 2·t and 2·t + 1 of B are x at columns 128·m + 32·t + 4·j on, and rows
// 8 below two columns on. So x comes in words of four bytes.
//
// The products of half a unit are under way while the next half is unpacked, or
// of a quarter where sums take many registers. The warps that bring are a group
// too, and give registers to those that multiply.
template <int EIGHTS> struct Products {
	// Of one product's B: the odd 16 bytes let a warp's copies go to different
	// banks.
	static constexpr u32 ALONG = EIGHTS * 128 + 16, PRODUCT = 2 * ALONG, TOKENS = 16 * PRODUCT, BRINGING = 4;
	static constexpr u64 NEXT = PRODUCT >> 4;
	static constexpr bool LAG = true, QUAD = true, QUARTERS = EIGHTS == 8;
	Sums<1, EIGHTS> sums;

	DEVICE_MEMBER static void begin_bringing() { registers_down<24>(); }
	DEVICE_MEMBER static void begin() { registers_up<112>(); }
	DEVICE_MEMBER static void arrived() { wgmma_visible(); }
	// Of one token and 16 columns of each lane t at a time.
	DEVICE_MEMBER static void bring(u32 to, const char *from, u64 token, u32 n) {
		const u32 lane = thread() % 32;
		to += n * 128 + lane % 8 / 2 * PRODUCT + lane % 2 * ALONG + lane / 8 * 4;
		from += lane / 8 * 64 + lane % 8 * 4;
#pragma unroll
		for (int i = 0; i < 8; i++, from += token)
#pragma unroll
			for (int piece = 0; piece < 4; piece++)
				copy4(to + piece * 4 * PRODUCT + i * 16, from + piece / 2 * 256 + piece % 2 * 32);
	}
	DEVICE_MEMBER void run(u32 (*a)[4], u64 b) {
#pragma unroll
		for (int i = 0; i < 4; i++) wgmma_f16<EIGHTS>(sums.c[0], a[i], b + i * NEXT);
	}
	// What was begun before has ended then.
	DEVICE_MEMBER void begun() {
		wgmma_commit();
		wgmma_wait<1>();
	}
	template <class Ended> DEVICE_MEMBER void multiply(u32 tokens, u32 unit, bool mine, Ended ended) {
		const u32 lane = thread() % 32;
		const u64 all = wgmma_operand(tokens, ALONG);
		const uint2 scales = load_shared8(unit + SCALES + lane * 8);
#pragma unroll
		for (int m = 0; m < 2; m++) {
			const uint4 low = load_shared16(unit + 2 * m * 512 + lane * 16), high = load_shared16(unit + (2 * m + 1) * 512 + lane * 16);
			const Scales s(m ? scales.y : scales.x);
			const u64 b = all + m * 8 * NEXT;
			u32 a[2][4][4];
			weights_of(low.x, high.x, s.first, a[0]);
			weights_of(low.y, high.y, s.first, a[0] + 2);
			if (QUARTERS) {
				wgmma_fence();
				run(a[0], b);
				begun();
			}
			weights_of(low.z, high.z, s.second, a[1]);
			weights_of(low.w, high.w, s.second, a[1] + 2);
			wgmma_fence();
			if (!QUARTERS) run(a[0], b);
			run(a[1], b + 4 * NEXT);
			begun();
			if (m == 0) ended();
		}
	}
	DEVICE_MEMBER void finish() { wgmma_wait<0>(); }
};

RING(nvfp4_wgmma, 4, 640)
RING(nvfp4_wgmma, 8, 640)
