// Four-bit floating-point weights as the kernels read them.
//
// A word holds eight weights, four pairs; of a half-word, the weight of pair p
// has its sign at bit 15, 12, 14, 13 and its magnitude at bits 9, 6, 3, 0 up.
// Shifted left by 3·p, a pair is two binary16 numbers times 2^-14, sub-normal
// ones included. Where sign and magnitude have different ways to go, one
// multiplication shifts both: what else it leaves lies between them.
#pragma once
#include "device.h"

// The four pairs of a word.
DEVICE void unpack(u32 w, u32 *pair) {
	const u32 number = 0x8e008e00u;
	pair[0] = w & number;
	pair[1] = w << 3 & number;
	pair[2] = (w & 0x40384038u) * (1 << 6 | 1 << 1) & number;
	pair[3] = (w & 0x20072007u) * (1 << 9 | 1 << 2) & number;
}
