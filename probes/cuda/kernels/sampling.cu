// The next token of each row of float32 logits: the highest, or a draw with
// temperature, top-k and top-p by a number in [0, 1).
//
// Tokens are ordered by falling logit, of equals the first; the order is cut
// after top-k tokens, then where top-p of what is left is reached, and the
// token drawn is where u of the rest is passed. Sorting a vocabulary for that
// would cost more than reading it: tokens are counted into buckets of 1/32 nat,
// and only the bucket in which a bound falls is put in order. Weights are whole
// numbers, so that every sum is the same in any order.
//
// What is no number, or below ±1e30, counts as that: rows of nothing but −inf
// are drawn from as equals.
#include "draw.h"

// ---- the highest

// One block has a part of a row; the last of a row to end compares the parts.
// Counters are zero before and after.
template <int FLIGHT>
DEVICE void highest(const float *logits, u64 *best, u32 *counters, u32 *ids, u32 size, u32 parts, u32 order) {
	const u32 row = block() / parts, part = block() % parts, lane = thread() % 32;
	u32 first, last;
	share(size, part, parts, first, last);
	begin(order);
	float top = -__builtin_inff();
	u32 at = 4 * (first + thread()), i = first + thread();
	const float *x = logits + (u64)row * size;
	auto see = [&](uint4 v, u32 place) INLINE {
		const u32 word[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
		for (int k = 0; k < 4; k++)
			if (bits_float(word[k]) > top) {
				top = bits_float(word[k]);
				at = 4 * place + k;
			}
	};
	for (; i + (FLIGHT - 1) * threads() < last; i += FLIGHT * threads()) {
		uint4 v[FLIGHT];
#pragma unroll
		for (int k = 0; k < FLIGHT; k++) v[k] = load_l2(x + 4 * (i + k * threads()));
#pragma unroll
		for (int k = 0; k < FLIGHT; k++) see(v[k], i + k * threads());
	}
	for (; i < last; i += threads()) see(load_l2(x + 4 * i), i);
	__shared__ uint2 found[32];
	u32 high = thread() < last - first ? ordered(top + 0.f) : 0; // −0 is 0
	warp_first(high, at);
	if (lane == 0) found[thread() / 32] = {high, at};
	barrier();
	if (thread() >= 32) return;
	auto join = [&](uint2 f, bool there) INLINE {
		high = there ? f.x : 0;
		at = there ? f.y : ~0u;
		warp_first(high, at);
	};
	join(found[lane], lane < threads() / 32);
	u32 before = 0;
	if (lane == 0) {
		best[row * parts + part] = (u64)high << 32 | at;
		asm volatile("fence.acq_rel.gpu; atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;" : "=r"(before) : "l"(counters + row), "r"(parts - 1) : "memory");
	}
	before = shuffle(before, 0);
	warp_barrier();
	if (before == parts - 1) {
		uint2 f = {};
		if (lane < parts) f = load_l2_pair(best + row * parts + lane);
		join({f.y, f.x}, lane < parts);
		if (lane == 0) ids[row] = at;
	}
	finish(order);
}

#define HIGHEST(flight) \
	KERNEL __launch_bounds__(1024, 1) highest_##flight(const float *logits, u64 *best, u32 *counters, u32 *ids, u32 size, u32 parts, u32 order) { \
		highest<flight>(logits, best, counters, ids, size, parts, order); \
	}
HIGHEST(2)
HIGHEST(4)
HIGHEST(8)

// ---- a draw

#define TALLY(warps, resident) \
	KERNEL __launch_bounds__(warps * 32, resident) tally_##warps(const float *logits, Part *said, Bucket *buckets, Token *tokens, u32 size, u32 parts, \
	                                                            u32 top_k, u32 limit, float scale, u32 order) { \
		tally<warps * 32>(logits, said, buckets, tokens, size, parts, top_k, limit, scale, order); \
	}
TALLY(8, 4)
TALLY(16, 2)

#define DRAW(parts) \
	KERNEL __launch_bounds__(BUCKETS, 1) draw_##parts(const Part *said, const Bucket *buckets, const Token *tokens, const float *random, u32 *ids, \
	                                                  u32 size, u32 top_k, float top_p, float scale, u32 order) { \
		draw<parts>(said, buckets, tokens, random, ids, size, top_k, top_p, scale, order); \
	}
DRAW(16)
DRAW(32)
