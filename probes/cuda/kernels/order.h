// Floats in the order of their values, as unsigned numbers, and the largest of
// a warp with its place.
#pragma once
#include "device.h"

// A float's bits in the order of its value.
DEVICE u32 ordered(float v) {
	u32 b = float_bits(v);
	return b & 0x80000000u ? ~b : b | 0x80000000u;
}
DEVICE float value(u32 o) { return bits_float(o & 0x80000000u ? o & 0x7fffffffu : ~o); }

// The largest value of a warp's lanes, and of equals the least place.
DEVICE void warp_first(u32 &best, u32 &place) {
	const u32 top = warp_max(best);
	place = warp_min(best == top ? place : ~0u);
	best = top;
}
