// The tokens that sparse attention reads: of each sequence the 2048 with the
// largest scores, in any order, of equal ones any. A block has a sequence.
//
// A score is a number of 32 bits in the same order. From every so many a guess
// is made of a bound that some more than 2048 reach; one pass over the scores
// collects those that do. Too few or too many, and the bound is halved in: in
// the end it is exact whatever the scores are. The largest 2048 of those
// collected, four a thread, are found by halving too.
#include "device.h"

enum { CHOSEN = 2048, THREADS = 1024, EACH = 4, MOST = THREADS * EACH, AIM = 3000 };

DEVICE u32 ordered(u32 bits) { return bits >> 31 ? ~bits : bits | 0x80000000u; }
DEVICE u32 ballot(bool p) { return __nvvm_vote_ballot_sync(~0u, p); }
DEVICE u32 ones(u32 v) { return __builtin_popcount(v); }

// How many of the block's numbers reach a bound: three counters in turn, so
// that one barrier a call is enough.
struct Counter {
	u32 counters, turn;

	DEVICE_MEMBER u32 reach(const u32 (&mine)[EACH], u32 bound) {
		u32 n = 0;
#pragma unroll
		for (int i = 0; i < EACH; i++) n += mine[i] >= bound;
		asm volatile("redux.sync.add.u32 %0, %1, 0xffffffff;" : "=r"(n) : "r"(n));
		const u32 at = counters + turn * 4, next = counters + (turn + 1) % 3 * 4;
		if (thread() % 32 == 0) asm volatile("red.shared.add.u32 [%0], %1;" ::"r"(at), "r"(n) : "memory");
		if (thread() == 0) asm volatile("st.shared.u32 [%0], 0;" ::"r"(next) : "memory");
		turn = (turn + 1) % 3;
		barrier();
		asm volatile("ld.shared.u32 %0, [%1];" : "=r"(n) : "r"(at) : "memory");
		return n;
	}
	// The largest bound that at least `wanted` reach; low is one that they do.
	DEVICE_MEMBER u32 bound(const u32 (&mine)[EACH], u32 wanted, u32 low) {
		u32 high = ~0u; // no number reaches it
		while (high - low > 1) {
			const u32 middle = low + (high - low) / 2;
			if (reach(mine, middle) >= wanted) low = middle;
			else high = middle;
		}
		return low;
	}
};

// scores is sequences × tokens, tokens a multiple of four and 2048 or more;
// out is sequences × 2048.
KERNEL __launch_bounds__(THREADS, 1) index_top_2048(const float *scores, u32 *out, u32 tokens, u32 order) {
	__shared__ u32 keys[MOST], tokens_of[MOST], counters[3], found, written;
	const u32 lane = thread() % 32, before = (1u << lane) - 1;
	const float *mine = scores + (u64)block() * tokens;
	u32 *to = out + block() * CHOSEN;
	if (thread() < 3) counters[thread()] = 0;
	if (thread() == 0) written = 0;
	if (order) {
		start_successor();
		wait_predecessor();
	}
	barrier();

	Counter count{shared_address(counters), 0};
	u32 part[EACH];
#pragma unroll
	for (u32 i = 0; i < EACH; i++)
		part[i] = ordered(load_l2_word(mine + (u32)((u64)(i * THREADS + thread()) * tokens / MOST)));
	u32 rank = (u32)((u64)MOST * AIM / tokens) + 1;
	// Between what enough scores reach and what too few do.
	u32 low = 0, high = ~0u, bound = rank < MOST ? count.bound(part, rank, 0) : 0;

	// Takes tokens whose scores reach a bound, the first `room` in whatever order.
	auto collect = [&](u32 least, u32 most) INLINE {
		barrier();
		if (thread() == 0) found = 0;
		barrier();
		for (u32 first = 0; first < tokens / 4; first += 4 * THREADS) {
			uint4 v[4];
#pragma unroll
			for (u32 k = 0; k < 4; k++) {
				const u32 i = first + k * THREADS + thread();
				if (i < tokens / 4) v[k] = load_l2(mine + i * 4);
			}
#pragma unroll
			for (u32 k = 0; k < 4; k++) {
				const u32 i = first + k * THREADS + thread(), four[4] = {v[k].x, v[k].y, v[k].z, v[k].w};
#pragma unroll
				for (u32 e = 0; e < 4; e++) {
					const u32 key = ordered(four[e]);
					const bool hit = i < tokens / 4 && key >= least && key <= most;
					const u32 all = ballot(hit);
					if (!all) continue;
					u32 slot = 0;
					if (lane == 0) asm volatile("atom.shared.add.u32 %0, [%1], %2;" : "=r"(slot) : "r"(shared_address(&found)), "r"(ones(all)) : "memory");
					slot = shuffle(slot, 0) + ones(all & before);
					if (hit && slot < MOST) {
						keys[slot] = key;
						tokens_of[slot] = i * 4 + e;
					}
				}
			}
		}
		barrier();
		return found;
	};
	// Writes those collected whose scores reach a bound, until all are there.
	auto write = [&](u32 n, u32 least, u32 most) INLINE {
#pragma unroll
		for (u32 i = 0; i < EACH; i++) {
			const u32 at = i * THREADS + thread();
			const bool hit = at < n && keys[at] >= least && keys[at] <= most;
			const u32 all = ballot(hit);
			u32 slot = 0;
			if (lane == 0 && all) asm volatile("atom.shared.add.u32 %0, [%1], %2;" : "=r"(slot) : "r"(shared_address(&written)), "r"(ones(all)) : "memory");
			slot = shuffle(slot, 0) + ones(all & before);
			if (hit && slot < CHOSEN) to[slot] = tokens_of[at];
		}
		barrier();
	};
	u32 n;
#pragma unroll 1
	for (u32 guesses = 0;; guesses++) {
		n = collect(bound, ~0u);
		if (n >= CHOSEN && n <= MOST) break;
		if (n < CHOSEN) high = bound;
		else low = bound;
		if (high - low <= 1) {
			// More than are kept have the same score: those above it, then of it.
			n = collect(high, ~0u);
			write(n, high, ~0u);
			n = collect(low, low);
			write(n < MOST ? n : MOST, low, low);
			return;
		}
		bound = low + (high - low) / 2;
		if (guesses < 3) {
			rank = n < CHOSEN ? rank * 3 / 2 : rank * 2 / 3;
			const u32 guess = rank > 0 && rank < MOST ? count.bound(part, rank, 0) : 0;
			if (guess > low && guess < high) bound = guess;
		}
	}
#pragma unroll
	for (u32 i = 0; i < EACH; i++) part[i] = i * THREADS + thread() < n ? keys[i * THREADS + thread()] : 0;
	const u32 least = count.bound(part, CHOSEN, bound);
	write(n, least + 1, ~0u);
	write(n, least, least);
}
