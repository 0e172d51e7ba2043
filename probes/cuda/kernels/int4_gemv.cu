// The product of a matrix of four-bit integers with one token: a weight is its
// code less 8, times a binary16 number for each 32 columns.
#include "groups.h"

struct INT4 {
	using Scales = uint2;
	static constexpr float FACTOR = 1;

	DEVICE_MEMBER static void copy(u32 to, const char *from) { copy8(to, from); }
	DEVICE_MEMBER static uint2 load(u32 from) { return load_shared8(from); }
	// Pair p is the p-th nibble of both halves of a word. As the lowest bits of
	// a binary16 number above 1024, a code n is 1024 + n, or 1024 + 16·n.
	DEVICE_MEMBER static void unpack(u32 w, u32 *pair) {
#pragma unroll
		for (int p = 0; p < 4; p += 2) {
			const u32 v = w >> 4 * p;
			pair[p] = less(v & 0x000f000fu | 0x64006400u);
			pair[p + 1] = sixteenth(v & 0x00f000f0u | 0x64006400u);
		}
	}
	DEVICE_MEMBER static void values(uint2 s, float *v) {
		f16_pair(s.x, v[0], v[1]);
		f16_pair(s.y, v[2], v[3]);
	}
	DEVICE_MEMBER static u32 less(u32 v) { // v - 1032
		u32 r;
		asm("sub.f16x2 %0, %1, %2;" : "=r"(r) : "r"(v), "r"(0x64086408u));
		return r;
	}
	DEVICE_MEMBER static u32 sixteenth(u32 v) { // v/16 - 72
		u32 r;
		asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(r) : "r"(v), "r"(0x2c002c00u), "r"(0xd480d480u));
		return r;
	}
};

GEMVS(Groups<INT4>, int4)
