// Four-bit floating-point weights as the kernels read them.
//
// A word holds eight weights, four pairs; of a half-word, the weight of pair p
// has its sign at bit 15, 12, 14, 13 and its magnitude at bits 9, 6, 3, 0 up.
// Shifted left by 3·p, a pair is two binary16 numbers times 2^-14, sub-normal
// ones included: one AND, and at most two shifts.
#pragma once
#include "device.h"

// The four pairs of a word.
DEVICE void unpack(u32 w, u32 *pair) {
	const u32 number = 0x8e008e00u, magnitude = 0x0e000e00u, sign = 0x80008000u;
	pair[0] = w & number;
	pair[1] = (w << 3) & magnitude | w << 3 & sign;
	pair[2] = (w << 6) & magnitude | w << 1 & sign;
	pair[3] = (w << 9) & magnitude | w << 2 & sign;
}
