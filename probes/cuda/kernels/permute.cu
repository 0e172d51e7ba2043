// The order of a mixture of experts: rows of tokens sorted by the expert that
// they go to, those of one expert by token, and the way back, weighted. Nothing
// depends on which thread comes first.
#include "rows.h"

enum { CHOSEN = 8, LEAST = 256, MOST_ENTRIES = 512, PER_LANE = MOST_ENTRIES / 32, MOST_EXPERTS = 512 };

DEVICE u32 warp_sum(u32 v) {
	u32 r;
	asm volatile("redux.sync.add.u32 %0, %1, 0xffffffff;" : "=r"(r) : "r"(v));
	return r;
}

// Where each expert's rows begin, and where the last one's end: one block.
DEVICE void offsets(const u32 *experts, u32 entries, u32 count, u32 *out) {
	__shared__ u32 tally[MOST_EXPERTS], warps[32];
	for (u32 e = thread(); e < MOST_EXPERTS; e += threads()) tally[e] = 0;
	barrier();
	for (u32 i = thread(); i < entries; i += threads())
		asm volatile("red.shared.add.u32 [%0], 1;" ::"r"(shared_address(tally + load_l2_word(experts + i))) : "memory");
	barrier();
	// Two experts a thread.
	const u32 lane = thread() % 32, e = 2 * thread();
	const u32 a = e < MOST_EXPERTS ? tally[e] : 0, b = e < MOST_EXPERTS ? tally[e + 1] : 0;
	u32 sum = a + b;
#pragma unroll
	for (int m = 1; m < 32; m <<= 1) {
		const u32 other = shuffle(sum, (lane - m) & 31);
		if (lane >= m) sum += other;
	}
	if (lane == 31) warps[thread() / 32] = sum;
	barrier();
	for (u32 w = 0; w < thread() / 32; w++) sum += warps[w];
	if (e <= count) out[e] = sum - a - b;
	if (e + 1 <= count) out[e + 1] = sum - b;
}

// Experts of tokens × CHOSEN entries; LEAST threads at least. A block finds the
// eight places of one token, a warp each, and copies a part of its row there;
// the last block makes the offsets, experts + 1. place says where an entry's
// row went, source which token a row is of.
KERNEL __launch_bounds__(1024, 1) permute(const u32 *experts, const char *x, char *rows, u32 *offset, u32 *place, u32 *source,
                                           u32 tokens, u32 count, u32 cols, u32 order) {
	const u32 parts = cols / 8 / threads() + (cols / 8 % threads() != 0), token = block() / parts, part = block() % parts;
	const u32 entries = tokens * CHOSEN, lane = thread() % 32, warp = thread() / 32;
	begin(order);
	if (token == tokens) {
		if (part == 0) offsets(experts, entries, count, offset);
		finish(order);
		return;
	}
	const u32 vector = part * threads() + thread();
	uint4 v = {};
	if (vector < cols / 8) v = load_l2(x + ((u64)token * cols + 8 * vector) * 2);
	__shared__ u32 to[CHOSEN];
	if (warp < CHOSEN) {
		u32 all[PER_LANE];
#pragma unroll
		for (int k = 0; k < PER_LANE; k++) {
			const u32 i = k * 32 + lane;
			all[k] = i < entries ? load_l2_word(experts + i) : ~0u;
		}
		const u32 mine = token * CHOSEN + warp, expert = load_l2_word(experts + mine);
		u32 before = 0;
#pragma unroll
		for (int k = 0; k < PER_LANE; k++) before += all[k] < expert || all[k] == expert && k * 32 + lane < mine;
		before = warp_sum(before);
		if (lane == 0) {
			to[warp] = before;
			if (part == 0) {
				place[mine] = before;
				source[before] = token;
			}
		}
	}
	barrier();
	if (vector < cols / 8)
#pragma unroll
		for (int k = 0; k < CHOSEN; k++) store16(rows + ((u64)to[k] * cols + 8 * vector) * 2, v);
	finish(order);
}

// The sum of a token's CHOSEN rows by their weights, in the order of its
// choices, float32 and then bfloat16.
KERNEL __launch_bounds__(1024, 1) finalize(const char *rows, const u32 *place, const float *weights, char *y, u32 cols, u32 order) {
	const u32 parts = cols / 8 / threads() + (cols / 8 % threads() != 0), token = block() / parts;
	const u32 vector = block() % parts * threads() + thread();
	begin(order);
	if (vector < cols / 8) {
		u32 at[CHOSEN];
		float weight[CHOSEN], sum[8] = {};
#pragma unroll
		for (int k = 0; k < CHOSEN; k += 4) {
			const uint4 p = load_l2(place + token * CHOSEN + k), w = load_l2(weights + token * CHOSEN + k);
			at[k] = p.x, at[k + 1] = p.y, at[k + 2] = p.z, at[k + 3] = p.w;
			weight[k] = bits_float(w.x), weight[k + 1] = bits_float(w.y), weight[k + 2] = bits_float(w.z), weight[k + 3] = bits_float(w.w);
		}
		uint4 v[CHOSEN];
#pragma unroll
		for (int k = 0; k < CHOSEN; k++) v[k] = load_l2(rows + ((u64)at[k] * cols + 8 * vector) * 2);
#pragma unroll
		for (int k = 0; k < CHOSEN; k++) {
			float x[8];
			unpack8(v[k], x);
#pragma unroll
			for (int i = 0; i < 8; i++) sum[i] = fma(weight[k], x[i], sum[i]);
		}
		store16(y + ((u64)token * cols + 8 * vector) * 2, pack8(sum));
	}
	finish(order);
}
