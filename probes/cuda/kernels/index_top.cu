// The tokens that sparse attention reads: of each sequence the 2048 with the
// largest scores, in any order, of equal ones any. A block has a sequence.
//
// From every so many scores a guess is made of a bound that some more than 2048
// reach; one pass over all collects those that do. Too few or too many, and the
// bound is moved: in the end it is exact whatever the scores are. The largest
// 2048 of those collected, four a thread, are found by search too.
//
// A search is over numbers of 32 bits in the scores' order; a pass compares the
// scores themselves. No bound is that of a number which is none.
#include "device.h"

enum : u32 { CHOSEN = 2048, THREADS = 1024, WARPS = THREADS / 32, EACH = 4, MOST = THREADS * EACH, AIM = 3000 };
enum : u32 { LEAST = 0x007fffff, ABOVE = 0xff800001 }; // minus infinity; what no score reaches

DEVICE u32 ordered(float score) {
	const u32 bits = float_bits(score + 0.f); // one zero
	return bits >> 31 ? ~bits : bits | 0x80000000u;
}
DEVICE float score_of(u32 key) { return bits_float(key >> 31 ? key & 0x7fffffffu : ~key); }
DEVICE u32 ballot(bool p) { return __nvvm_vote_ballot_sync(~0u, p); }
DEVICE u32 ones(u32 v) { return __builtin_popcount(v); }
DEVICE u32 warp_sum(u32 v) {
	u32 r;
	asm volatile("redux.sync.add.u32 %0, %1, 0xffffffff;" : "=r"(r) : "r"(v));
	return r;
}
DEVICE u32 take(u32 counter, u32 n) { // from a counter in shared memory
	u32 r;
	asm volatile("atom.shared.add.u32 %0, [%1], %2;" : "=r"(r) : "r"(counter), "r"(n) : "memory");
	return r;
}

// Search of a bound among the block's numbers, EACH a thread. Every step tries
// four and leaves a fifth of what is between; counts are pairs of 16 bits, in
// two places in turn, so that one barrier a step is enough.
struct Search {
	u32 counts, turn; // 2·WARPS·8 bytes of shared memory

	// One that `wanted` reach or, where there is one, at most `enough`; low is
	// one that at least `wanted` do, high one that fewer do.
	DEVICE_MEMBER u32 bound(const u32 (&mine)[EACH], u32 wanted, u32 enough, u32 low, u32 high) {
		const u32 lane = thread() % 32;
#pragma unroll 1
		while (high - low > 1) {
			const u32 step = (high - low) / 5 ? (high - low) / 5 : 1;
			u32 n01 = 0, n23 = 0;
#pragma unroll
			for (u32 i = 0; i < EACH; i++) {
				n01 += (mine[i] >= low + step) + ((mine[i] >= low + 2 * step) << 16);
				n23 += (mine[i] >= low + 3 * step) + ((mine[i] >= low + 4 * step) << 16);
			}
			const u32 at = counts + turn * WARPS * 8;
			turn ^= 1;
			n01 = warp_sum(n01);
			n23 = warp_sum(n23);
			if (lane == 0) store_shared8(at + thread() / 32 * 8, uint2{n01, n23});
			barrier();
			const uint2 all = load_shared8(at + lane * 8);
			n01 = warp_sum(all.x);
			n23 = warp_sum(all.y);
			const u32 n[4] = {n01 & 0xffff, n01 >> 16, n23 & 0xffff, n23 >> 16};
			u32 reach = 0, first = low;
#pragma unroll
			for (u32 i = 0; i < 4; i++) {
				const u32 tried = first + (i + 1) * step;
				if (tried >= high) continue; // between so few
				if (n[i] >= wanted) {
					low = tried;
					reach = n[i];
				} else {
					high = tried;
					break;
				}
			}
			if (reach && reach <= enough) break;
		}
		return low;
	}
};

// scores is sequences × tokens, tokens a multiple of four and 2048 or more;
// out is sequences × 2048.
KERNEL __launch_bounds__(THREADS, 1) index_top_2048(const float *scores, u32 *out, u32 tokens, u32 order) {
	__shared__ u32 keys[MOST], tokens_of[MOST], found, written;
	__shared__ uint2 counts[2 * WARPS];
	const u32 lane = thread() % 32, vectors = tokens / 4;
	const float *mine = scores + (u64)block() * tokens;
	u32 *to = out + block() * CHOSEN;
	if (thread() == 0) written = 0;
	if (order) {
		start_successor();
		wait_predecessor();
	}
	Search search{shared_address(counts), 0};
	u32 part[EACH];
#pragma unroll
	for (u32 i = 0; i < EACH; i++)
		part[i] = ordered(load_l2_float(mine + (u32)((u64)(i * THREADS + thread()) * tokens / MOST)));
	u32 rank = (u32)((u64)MOST * AIM / tokens) + 1;
	auto guess = [&]() INLINE { return rank < MOST ? search.bound(part, rank, rank + rank / 16, LEAST, ABOVE) : LEAST; };
	// Between what enough scores reach and what too few do.
	u32 low = LEAST, high = ABOVE, bound = guess();

	// Collects tokens whose scores lie between two, as many as there is room for.
	auto collect = [&](u32 least, u32 most) INLINE {
		const float from = score_of(least), until = score_of(most);
		barrier();
		if (thread() == 0) found = 0;
		barrier();
		uint4 v[4];
		auto load = [&](u32 first) INLINE {
#pragma unroll
			for (u32 k = 0; k < 4; k++)
				if (first + k * THREADS + thread() < vectors) v[k] = load_l2(mine + (first + k * THREADS + thread()) * 4);
		};
		load(0);
#pragma unroll 1
		for (u32 first = 0; first < vectors; first += 4 * THREADS) {
			u32 hits = 0;
			float score[16];
#pragma unroll
			for (u32 k = 0; k < 4; k++) {
				const bool there = first + k * THREADS + thread() < vectors;
				const u32 four[4] = {v[k].x, v[k].y, v[k].z, v[k].w};
#pragma unroll
				for (u32 e = 0; e < 4; e++) {
					score[k * 4 + e] = bits_float(four[e]);
					if (there && score[k * 4 + e] >= from && score[k * 4 + e] <= until) hits |= 1u << k * 4 + e;
				}
			}
			load(first + 4 * THREADS);
			if (!any(hits)) continue;
			u32 slot = ones(hits);
#pragma unroll
			for (u32 m = 1; m < 32; m <<= 1) {
				const u32 below = shuffle(slot, lane - m & 31);
				if (lane >= m) slot += below;
			}
			u32 start = 0;
			if (lane == 31) start = take(shared_address(&found), slot);
			slot += shuffle(start, 31) - ones(hits);
#pragma unroll
			for (u32 k = 0; k < 16; k++)
				if (hits >> k & 1) {
					if (slot < MOST) {
						keys[slot] = ordered(score[k]);
						tokens_of[slot] = (first + k / 4 * THREADS + thread()) * 4 + k % 4;
					}
					slot++;
				}
		}
		barrier();
		return found;
	};
	// Writes those collected between two bounds, until all places are taken.
	auto write = [&](u32 n, u32 least, u32 most) INLINE {
#pragma unroll
		for (u32 i = 0; i < EACH; i++) {
			const u32 at = i * THREADS + thread();
			const bool hit = at < n && keys[at] >= least && keys[at] <= most;
			const u32 all = ballot(hit);
			if (!all) continue;
			u32 slot = 0;
			if (lane == 0) slot = take(shared_address(&written), ones(all));
			slot = shuffle(slot, 0) + ones(all & (1u << lane) - 1);
			if (hit && slot < CHOSEN) to[slot] = tokens_of[at];
		}
		barrier();
	};
	u32 n;
#pragma unroll 1
	for (u32 guesses = 0;; guesses++) {
		n = collect(bound, ABOVE - 1);
		if (n >= CHOSEN && n <= MOST) break;
		if (n < CHOSEN) high = bound;
		else low = bound;
		if (high - low <= 1) {
			// More than are kept have the same score: those above it, then of it.
			if (high < ABOVE) {
				n = collect(high, ABOVE - 1);
				write(n, high, ABOVE);
			}
			n = collect(low, low);
			write(n < MOST ? n : MOST, low, low);
			return;
		}
		bound = low + (high - low) / 2;
		if (guesses < 3) {
			rank = n < CHOSEN ? rank * 3 / 2 : rank * 2 / 3;
			const u32 next = rank ? guess() : LEAST;
			if (next > low && next < high) bound = next;
		}
	}
#pragma unroll
	for (u32 i = 0; i < EACH; i++) part[i] = i * THREADS + thread() < n ? keys[i * THREADS + thread()] : 0;
	const u32 least = search.bound(part, CHOSEN, CHOSEN, bound, ABOVE);
	write(n, least + 1, ABOVE);
	write(n, least, least);
}
