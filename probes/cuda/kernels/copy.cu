// Copies memory: what a read with a write beside it reaches.
#include "device.h"

// n vectors of 16 bytes.
KERNEL __launch_bounds__(512, 2) copy_words(uint4 *to, const uint4 *from, u64 n) {
	const u64 step = (u64)blocks() * threads();
	u64 i = (u64)block() * threads() + thread();
	for (; i + 3 * step < n; i += 4 * step) {
		uint4 v[4];
#pragma unroll
		for (int k = 0; k < 4; k++) v[k] = load_once(from + i + k * step);
#pragma unroll
		for (int k = 0; k < 4; k++) to[i + k * step] = v[k];
	}
	for (; i < n; i += step) to[i] = load_once(from + i);
}
