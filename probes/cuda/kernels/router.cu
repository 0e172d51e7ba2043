// The router of a mixture of experts: of each token's logits the k largest,
// and their softmax among themselves. One warp a token, its logits in
// registers; in each round the warp agrees on the largest that is left, the
// lower expert where two are equal.
#include "order.h"

enum { EXPERTS = 256, EACH = EXPERTS / 32, WARPS = 4 };

// Logits are float32, tokens × 256; ids and weights tokens × k, k ≤ 32.
KERNEL __launch_bounds__(WARPS * 32, 1) router_256(const float *logits, u32 *ids, float *weights, u32 tokens, u32 k, u32 order) {
	const u32 lane = thread() % 32, token = block() * WARPS + thread() / 32;
	if (order) {
		start_successor();
		wait_predecessor();
	}
	if (token >= tokens) return;
	// Lane l has experts 4·l to 4·l+3 and 128 further.
	u32 left[EACH];
#pragma unroll
	for (int h = 0; h < 2; h++) {
		uint4 v = load_l2(logits + token * EXPERTS + h * 128 + lane * 4);
		left[4 * h] = ordered(bits_float(v.x));
		left[4 * h + 1] = ordered(bits_float(v.y));
		left[4 * h + 2] = ordered(bits_float(v.z));
		left[4 * h + 3] = ordered(bits_float(v.w));
	}
	u32 mine = 0, chosen = 0, largest = 0;
	float sum = 0;
	for (u32 r = 0; r < k; r++) {
		u32 best = 0, at = 0;
#pragma unroll
		for (int i = 0; i < EACH; i++)
			if (left[i] > best) {
				best = left[i];
				at = i;
			}
		const u32 top = warp_max(best), expert = (at & 4) * 32 + lane * 4 + (at & 3);
		const u32 winner = warp_min(best == top ? expert : ~0u);
		if (winner == expert)
#pragma unroll
			for (int i = 0; i < EACH; i++)
				if (i == at) left[i] = 0;
		if (r == 0) largest = top;
		if (lane == r) {
			mine = top;
			chosen = winner;
		}
	}
	const float e = lane < k ? exp2_approx((value(mine) - value(largest)) * 1.4426950408889634f) : 0;
	sum = e;
	for (int m = 16; m; m >>= 1) sum += shuffle_xor(sum, m);
	if (lane < k) {
		ids[token * k + lane] = chosen;
		weights[token * k + lane] = e / sum;
	}
}
