// Reads memory and nothing else: the rate that everything else is held
// against. Eight loads of 16 bytes in flight a thread; each block leaves the
// exclusive or of the words it read.
#include "device.h"

// n vectors of 16 bytes at p, one sum of 8 bytes for each block at out.
KERNEL __launch_bounds__(512, 2) read_words(const uint4 *p, u64 n, uint2 *out) {
	const u64 step = (u64)blocks() * threads();
	u64 i = (u64)block() * threads() + thread();
	uint4 sum = {0, 0, 0, 0};
	auto add = [&](uint4 v) { sum.x ^= v.x; sum.y ^= v.y; sum.z ^= v.z; sum.w ^= v.w; };
	for (; i + 7 * step < n; i += 8 * step) {
		uint4 v[8];
#pragma unroll
		for (int k = 0; k < 8; k++) v[k] = load_once(p + i + k * step);
#pragma unroll
		for (int k = 0; k < 8; k++) add(v[k]);
	}
	for (; i < n; i += step) add(load_once(p + i));

	u32 low = sum.x ^ sum.z, high = sum.y ^ sum.w;
	for (int m = 16; m; m >>= 1) {
		low ^= shuffle_xor(low, m);
		high ^= shuffle_xor(high, m);
	}
	__shared__ uint2 part[16];
	if (thread() % 32 == 0) part[thread() / 32] = {low, high};
	barrier();
	if (thread() == 0) {
		uint2 all = {0, 0};
		for (u32 w = 0; w < threads() / 32; w++) {
			all.x ^= part[w].x;
			all.y ^= part[w].y;
		}
		out[block()] = all;
	}
}
