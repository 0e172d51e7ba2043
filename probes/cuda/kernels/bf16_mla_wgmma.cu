// Decode attention over an MLA cache in bfloat16 for 64 heads a block, by the
// matrix instructions of Hopper.
//
// Three groups of four warps. The first has the queries in registers (but for
// their last 80 columns, for which there are not enough), computes the scores of a tile and leaves probabilities
// where the tile's last 64 columns were, which only scores need. The two others
// multiply them with 256 values each and copy the cache. The scores of a tile are
// computed while the values of the tile before are multiplied.
#include "mla.h"
#include "wgmma_spread.h"

enum { HEADS = 64, TOKENS = 64, STAGES = 3, STAGE = TOKENS * ROW, GROUP = 64 * 128, KEPT = VALUE / 16 - 1 };

// Named barriers. A tile is there: from the values' groups to the scores'; its
// probabilities are; its factors were read. The scores' own, the values' own.
enum { ARRIVED = 1, READY = ARRIVED + STAGES, TAKEN, SCORES, VALUES, ALL = 384 };

// What lies behind the tiles in shared memory: the queries' columns 512 on and
// the sixteen before, factors, sums twice for pieces in turn.
struct Behind {
	u32 queries, narrow, factors, sums;
	DEVICE_MEMBER Behind(u32 memory) : queries(memory + STAGES * STAGE), narrow(queries + GROUP), factors(narrow + HEADS * 32), sums(factors + HEADS * 4) {}
};

DEVICE void scores(u32 memory, const char *q, float *parts, const Piece *plan, const u32 *first, float scale) {
	const Behind behind(memory);
	u32 slot = 0;
#pragma unroll 1
	for (u32 at = first[block()]; at < load_l2_word(first + block() + 1); at++) {
		const u32 lane = now(thread()) % 32, row = now(thread()) / 32 * 16 + lane / 4, t = lane % 4;
		const char *set = q + (u64)plan[at].row * HEADS * ROW, *from = set + row * ROW + t * 4;
		uint4 query[KEPT];
#pragma unroll
		for (int k = 0; k < KEPT; k++)
			query[k] = {load_l2_word(from + k * 32), load_l2_word(from + k * 32 + 8 * ROW), load_l2_word(from + k * 32 + 16), load_l2_word(from + k * 32 + 8 * ROW + 16)};
		meet(SCORES, 128); // the products with the queries before have ended
#pragma unroll
		for (int i = 0; i < 4; i++) {
			const u32 r = i * 16 + now(thread()) / 8, chunk = now(thread()) % 8;
			store_shared16(behind.queries + place<HEADS>(r, chunk), load_l2(set + r * ROW + VALUE * 2 + chunk * 16));
		}
		store_shared16(behind.narrow + now(thread()) / 16 * 256 + now(thread()) % 2 * 128 + now(thread()) / 2 % 8 * 16,
		    load_l2(set + now(thread()) / 2 * ROW + KEPT * 32 + now(thread()) % 2 * 16));
		wgmma_visible();
		meet(SCORES, 128);
		float m[2] = {NONE, NONE}, l[2] = {0, 0};
#pragma unroll 1
		for (int tokens = plan[at].tokens; tokens > 0; tokens -= TOKENS) {
			meet(ARRIVED + slot, ALL);
			float s[32];
			const u32 tile = memory + slot * STAGE;
			const u64 keys = rows_of(tile);
			if (++slot == STAGES) slot = 0;
			wgmma_fence();
			wgmma_64<false>(s, query[0], keys);
#pragma unroll
			for (int k = 1; k < KEPT; k++) wgmma_64<true>(s, query[k], keys + (k / 4 * GROUP + k % 4 * 32) / 16);
			wgmma_64(s, narrow_rows_of(behind.narrow), keys + (KEPT / 4 * GROUP + KEPT % 4 * 32) / 16);
#pragma unroll
			for (int k = 0; k < 4; k++) wgmma_64(s, rows_of(behind.queries) + k * 2, keys + (8 * GROUP + k * 32) / 16);
			wgmma_commit();
			wgmma_wait(s);

			const u32 lane = now(thread()) % 32, row = now(thread()) / 32 * 16 + lane / 4, t = lane % 4;
			float most[2] = {NONE, NONE};
			if (tokens < TOKENS)
#pragma unroll
				for (int i = 0; i < 32; i++)
					if (i / 4 * 8 + 2 * (int)t + i % 2 >= tokens) s[i] = NONE;
#pragma unroll
			for (int i = 0; i < 32; i++) most[i / 2 % 2] = maximum(most[i / 2 % 2], s[i]);
			meet(TAKEN, ALL);
#pragma unroll
			for (int h = 0; h < 2; h++) {
				most[h] = maximum(most[h], shuffle_xor(most[h], 1));
				most[h] = maximum(most[h], shuffle_xor(most[h], 2)) * scale;
				const bool grown = most[h] > m[h] + SLACK;
				const float f = grown ? exp2_approx(m[h] - most[h]) : 1;
				if (grown) m[h] = most[h];
				l[h] *= f;
				if (t == 0) store_shared(behind.factors + (row + 8 * h) * 4, f);
			}
			meet(SCORES, 128); // all warps' products have read the keys
			const u32 to = tile + 8 * GROUP + row * 128 + t * 4;
#pragma unroll
			for (int i = 0; i < 16; i++) {
				const float p0 = exp2_approx(fma(s[2 * i], scale, -m[i % 2])), p1 = exp2_approx(fma(s[2 * i + 1], scale, -m[i % 2]));
				l[i % 2] += p0 + p1;
				store_shared4(to + (i / 2 ^ row % 8) * 16 + i % 2 * 8 * 128, pack_bf16(p0, p1));
			}
			if (tokens <= TOKENS)
#pragma unroll
				for (int h = 0; h < 2; h++) {
					l[h] += shuffle_xor(l[h], 1);
					l[h] += shuffle_xor(l[h], 2);
					if (t == 0) {
						store_shared(behind.sums + at % 2 * HEADS * 4 + (row + 8 * h) * 4, l[h]);
						if (plan[at].slot != DIRECT) slot_of<HEADS, VALUE>(parts, plan[at].slot)[row + 8 * h] = m[h];
					}
				}
			wgmma_visible();
			announce(READY, ALL);
		}
	}
}

// half: which 256 values.
DEVICE void values(u32 memory, u32 half, const char *cache, u32 *out, float *parts, const Piece *plan, u32 at, u32 end, const u32 *table, u32 order) {
	const Behind behind(memory);
	const u32 lane = thread() % 32, g = lane / 4, t = lane % 4, row = thread() % 128 / 32 * 16 + g;

	// The tile that is copied next.
	u32 next = at, ahead = 0;
	u32 page = table[plan[next].page];
	auto issue = [&](u32 slot) INLINE {
		if (next < end) {
			const Piece &p = plan[next];
			const u32 r = thread() % 128 / 8, chunk = thread() % 8, rows = p.tokens - ahead;
			const char *from = cache + ((u64)page * PAGE + r) * ROW + chunk * 16 + half * 4 * 128;
			const u32 to = memory + slot * STAGE + place<TOKENS>(r, chunk) + half * 4 * GROUP;
#pragma unroll
			for (int j = 0; j < 4; j++) {
				// Zeros behind the last token: what is multiplied by zero must be finite.
				const bool there = r + j * 16 < rows;
#pragma unroll
				for (int i = 0; i < 4; i++) copy16_or_zero(to + i * GROUP + j * 16 * 128, from + i * 128 + j * 16 * ROW, there);
				// Columns 512 on, half of the rows each.
				if (j / 2 == half) copy16_or_zero(to + (8 - half * 4) * GROUP + j * 16 * 128, from + (8 - half * 4) * 128 + j * 16 * ROW, there);
			}
			if (rows <= TOKENS) {
				ahead = 0;
				next++;
			} else {
				ahead += TOKENS;
			}
			if (next < end) page = table[plan[next].page + ahead / TOKENS];
		}
		copies_commit();
	};
	issue(0);
	issue(1);
	if (order) {
		wait_predecessor();
		start_successor();
	}
	u32 here = 0; // slot of the tile whose values are multiplied
	auto arrived = [&](u32 slot) INLINE {
		copies_wait<0>();
		wgmma_visible();
		announce(ARRIVED + slot, ALL);
	};
	copies_wait<1>();
	wgmma_visible();
	announce(ARRIVED, ALL);
	announce(TAKEN, ALL); // there were none before the first

#pragma unroll 1
	for (; at < end; at++) {
		float o[128];
#pragma unroll
		for (int i = 0; i < 128; i++) o[i] = 0;
#pragma unroll 1
		for (int tokens = plan[at].tokens; tokens > 0; tokens -= TOKENS) {
			const bool more = tokens > TOKENS || at + 1 < end;
			if (more) arrived(here == STAGES - 1 ? 0 : here + 1);
			meet(READY, ALL);
			const float f0 = load_shared(behind.factors + row * 4), f1 = load_shared(behind.factors + row * 4 + 32);
			if (more) announce(TAKEN, ALL);
			if (any(f0 != 1 || f1 != 1))
#pragma unroll
				for (int i = 0; i < 128; i++) o[i] *= i / 2 % 2 ? f1 : f0;
			const u32 tile = memory + here * STAGE;
			const u64 p = rows_of(tile + 8 * GROUP), v = columns_of(tile + half * 4 * GROUP, GROUP);
			wgmma_fence();
#pragma unroll
			for (int k = 0; k < TOKENS / 16; k++) wgmma_256(o, p + k * 32 / 16, v + k * 16 * 128 / 16);
			wgmma_commit();
			// Meanwhile the tile two ahead, to where the one before was.
			issue(here == 0 ? STAGES - 1 : here - 1);
			wgmma_wait(o);
			here = here == STAGES - 1 ? 0 : here + 1;
			meet(VALUES, 256); // all products have read the tile
		}
		const u32 slot = plan[at].slot, set = plan[at].row, odd = at % 2 * HEADS * 4;
		float *f = slot_of<HEADS, VALUE>(parts, slot);
#pragma unroll
		for (int h = 0; h < 2; h++) {
			const u32 head = row + 8 * h;
			const float sum = load_shared(behind.sums + odd + head * 4), x = slot == DIRECT ? 1 / sum : 1;
			if (slot != DIRECT && half == 0 && t == 0) f[HEADS + head] = sum;
			const u32 e = head * VALUE + half * 256 + 2 * t;
#pragma unroll
			for (int n = 0; n < 32; n++) {
				const float a = o[4 * n + 2 * h] * x, b = o[4 * n + 2 * h + 1] * x;
				if (slot == DIRECT)
					out[((u64)set * HEADS * VALUE + e + n * 8) / 2] = pack_bf16(a, b);
				else
					*(uint2 *)(f + 2 * HEADS + e + n * 8) = uint2{float_bits(a), float_bits(b)};
			}
		}
	}
}

// Dynamic shared memory: STAGES·STAGE, GROUP, HEADS·32, 3·HEADS floats.
KERNEL __launch_bounds__(ALL, 1) bf16_mla_wgmma(const char *q, const char *cache, u32 *out, float *parts, const Piece *plan, const u32 *first,
    const u32 *table, float scale, u32 order) {
	alignas(1024) extern __shared__ char memory[];
	if (thread() < 128) {
		registers_up<184>();
		if (order) {
			wait_predecessor();
			start_successor();
		}
		scores(shared_address(memory), q, parts, plan, first, scale);
	} else {
		registers_down<160>();
		values(shared_address(memory), thread() / 128 - 1, cache, out, parts, plan, first[block()], first[block() + 1], table, order);
	}
}
