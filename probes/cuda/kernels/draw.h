// A draw's second half: where top-k, top-p and the number drawn fall among the
// buckets, and which token that is.
#pragma once
#include "tally.h"

enum { INDEX = 18, KEY = 32 + INDEX, FEW = 128, DIGIT = 10 }; // bits of an index and a key; tokens compared each with each; bits of a digit, as BUCKETS

// The order of tokens as a number, and the token of one.
DEVICE u64 key(Token t) { return (u64)~ordered(t.logit) << INDEX | t.index; }
DEVICE u32 index(u64 key) { return (u32)key % (1 << INDEX); }

// A place in the order: the tokens of a bucket up to a key, and of all earlier
// ones; their weight against the low end of the highest bucket, in WEIGHTs.
struct Bound { u32 bucket; u64 key; float weight; };

// What the threads of a drawing block share.
struct Draw {
	u32 warps[32], begin[MOST_PARTS], count[MOST_PARTS];
	float weights[32];
	u32 bucket, before, n, slots, winner;
	float mass;
	u64 low, high;
	u32 tally[BUCKETS], extra[BUCKETS];
	u64 keys[FEW], order[FEW];
	float few[FEW], sorted[FEW];
};

// A row as a block draws from it, and the bucket that its thread has.
struct Row {
	const Token *tokens;
	u32 size;
	float scale, top; // the highest bucket
	u32 count;
	float weight;
};

// The first bin, one a thread, at whose end `tokens` tokens or `bound` are
// reached, counting on from before and mass, else the last that has any.
DEVICE void first_bin(Draw &d, u32 count, float weight, u32 before, float mass, u32 tokens, float bound) {
	u32 all;
	float heavy;
	if (thread() == 0) d.winner = ~0u;
	const u32 to = running_sum(count, d.warps, all);
	const float sum = running_sum(weight, d.weights, heavy);
	const bool here = count && (before + to >= tokens || mass + sum >= bound || to == all);
	const u32 least = warp_min(here ? thread() : ~0u);
	if (thread() % 32 == 0 && least != ~0u) asm volatile("red.shared.min.u32 [%0], %1;" ::"r"(shared_address(&d.winner)), "r"(least) : "memory");
	barrier();
	if (thread() == d.winner) {
		d.bucket = thread();
		d.before = before + to - count;
		d.mass = mass + (sum - weight);
		d.n = count;
	}
}

// Each token of the bucket at hand, and of all before it if so said: a warp a
// part.
template <int PARTS, bool BEFORE, typename F>
DEVICE void each_token(const Draw &d, const Row &r, F f) {
	const u32 p = thread() / 32;
	if (p >= PARTS) return;
	u32 first, last;
	share(r.size, p, PARTS, first, last);
	const Token *from = r.tokens + 4 * first + (BEFORE ? 0 : d.begin[p]);
	for (u32 i = thread() % 32, n = d.count[p] + (BEFORE ? d.begin[p] : 0); i < n; i += 32) {
		const uint2 t = load_l2_pair(from + i);
		f(Token{bits_float(t.x), t.y});
	}
}

// Puts up to FEW tokens in order: of those that each_token has, the ones whose
// key is taken. Their weights are against the low end of the highest bucket.
template <int PARTS, bool BEFORE, typename F>
DEVICE u32 sort_few(Draw &d, const Row &r, F taken) {
	if (thread() == 0) d.slots = 0;
	barrier();
	each_token<PARTS, BEFORE>(d, r, [&](Token t) INLINE {
		const u64 k = key(t);
		if (!taken(k)) return;
		u32 w;
		const float down = r.top - bucket_of(t.logit, r.scale, w);
		const u32 slot = add_shared(&d.slots, 1);
		d.keys[slot] = k;
		d.few[slot] = (float)w * exp2_approx(down * -PER_BUCKET);
	});
	barrier();
	// Each with each, eight threads a token.
	const u32 n = d.slots, i = thread() / 8;
	u32 rank = 0;
	if (i < n)
		for (u32 j = thread() % 8; j < n; j += 8) rank += d.keys[j] < d.keys[i];
#pragma unroll
	for (int m = 4; m; m >>= 1) rank += shuffle_xor(rank, m);
	if (i < n && thread() % 8 == 0) {
		d.sorted[rank] = d.few[i];
		d.order[rank] = d.keys[i];
	}
	barrier();
	return n;
}

// The weight up to each sorted token, four a lane, in every warp.
struct Few {
	u32 n;
	float to[FEW / 32];
};
DEVICE Few sum_few(const Draw &d, u32 n, float before) {
	const u32 lane = thread() % 32;
	Few f = {n};
	float sum = 0;
#pragma unroll
	for (u32 q = 0; q < FEW / 32; q++) f.to[q] = sum += lane * (FEW / 32) + q < n ? d.sorted[lane * (FEW / 32) + q] : 0;
	float up = sum;
#pragma unroll
	for (int m = 1; m < 32; m <<= 1) {
		const float other = shuffle(up, (lane - m) & 31);
		if (lane >= m) up += other;
	}
#pragma unroll
	for (u32 q = 0; q < FEW / 32; q++) f.to[q] += before + (up - sum);
	return f;
}
// The first of the most first tokens at which a weight is reached, else the
// last of them.
DEVICE u32 first_few(const Few &f, u32 most, float bound) {
	u32 first = ~0u;
#pragma unroll
	for (int q = FEW / 32 - 1; q >= 0; q--)
		if (f.to[q] >= bound) first = thread() % 32 * (FEW / 32) + q;
	first = warp_min(first);
	if (most > f.n) most = f.n;
	return first < most ? first : most - 1;
}
DEVICE float weight_of(const Few &f, u32 i) {
	float v = 0;
#pragma unroll
	for (u32 q = 0; q < FEW / 32; q++) v = i % (FEW / 32) == q ? f.to[q] : v;
	return shuffle(v, i / (FEW / 32));
}

// The bucket in which `tokens` tokens or `weight` are first reached, and the
// tokens of all parts in it. mine are the entries of the thread's bucket.
template <int PARTS>
DEVICE void find_bucket(Draw &d, const Row &r, const uint2 *mine, u32 limit, u32 tokens, float weight) {
	const bool in = thread() <= limit;
	first_bin(d, in ? r.count : 0, in ? r.weight : 0, 0, 0, tokens, weight);
	if (thread() == d.winner) {
#pragma unroll
		for (int p = 0; p < PARTS; p++) {
			d.begin[p] = mine[p].x & 0xffff;
			d.count[p] = mine[p].x >> 16;
		}
	}
	barrier();
}

// Where in that bucket: never past limit.
template <int PARTS>
DEVICE Bound find_token(Draw &d, const Row &r, Bound limit, u32 tokens, float weight) {
	const u32 bucket = d.bucket;
	const u64 end = bucket == limit.bucket ? limit.key : ~0ull;
	int shift = KEY; // keys that have the prefix above it
	u64 prefix = 0;
	if (d.n > FEW) {
		// The bits that all share need no counting.
		if (thread() == 0) d.low = ~0ull, d.high = 0;
		barrier();
		u64 low = ~0ull, high = 0;
		each_token<PARTS, false>(d, r, [&](Token t) INLINE {
			const u64 k = key(t);
			if (k > end) return;
			low = k < low ? k : low;
			high = k > high ? k : high;
		});
		const u32 least = warp_min((u32)(low >> 32)), most = warp_max((u32)(high >> 32));
		low = (u64)least << 32 | warp_min(low >> 32 == least ? (u32)low : ~0u);
		high = (u64)most << 32 | warp_max(high >> 32 == most ? (u32)high : 0);
		if (thread() % 32 == 0) {
			asm volatile("red.shared.min.u64 [%0], %1;" ::"r"(shared_address(&d.low)), "l"(low) : "memory");
			asm volatile("red.shared.max.u64 [%0], %1;" ::"r"(shared_address(&d.high)), "l"(high) : "memory");
		}
		barrier();
		shift = 64 - __builtin_clzll(d.low ^ d.high | 1);
		prefix = d.low >> shift;
	}
	// Many tokens: digit by digit, until few are left.
	while (d.n > FEW && shift > 0) {
		const int next = shift > DIGIT ? shift - DIGIT : 0;
		const u32 before = d.before;
		const float mass = d.mass, unit = exp2_approx(bucket * -PER_BUCKET);
		d.tally[thread()] = d.extra[thread()] = 0;
		barrier();
		each_token<PARTS, false>(d, r, [&](Token t) INLINE {
			const u64 k = key(t);
			if (k >> shift != prefix || k > end) return;
			u32 w;
			bucket_of(t.logit, r.scale, w);
			const u32 digit = (u32)(k >> next) & ((1u << (shift - next)) - 1);
			add_shared(d.tally + digit, 1);
			// What is above WEIGHT is 1/31 of it at most: 32 bits hold it for every token.
			add_shared(d.extra + digit, w - (u32)WEIGHT);
		});
		barrier();
		const u32 n = d.tally[thread()];
		first_bin(d, n, ((float)n * WEIGHT + (float)d.extra[thread()]) * unit, before, mass, tokens, weight);
		barrier();
		prefix = prefix << (shift - next) | d.bucket;
		shift = next;
	}
	const u32 before = d.before;
	const float mass = d.mass;
	const u32 n = sort_few<PARTS, false>(d, r, [&](u64 k) INLINE { return k >> shift == prefix && k <= end; });
	const Few f = sum_few(d, n, mass);
	const u32 i = first_few(f, tokens - before, weight);
	return {bucket, d.order[i], weight_of(f, i)};
}

// One block of a thread for each bucket has a row. top_k 0 and top_p 1 are no
// bounds.
template <int PARTS>
DEVICE void draw(const Part *said, const Bucket *buckets, const Token *tokens, const float *random, u32 *ids, u32 size, u32 top_k, float top_p, float scale, u32 order) {
	__shared__ Draw d;
	const u32 row = block(), lane = thread() % 32;
	begin(order);
	const float u = load_l2_float(random + row);
	uint4 part = {};
	if (lane < PARTS) part = load_l2(said + row * PARTS + lane);
	const float part_top = lane < PARTS ? bits_float(part.x) : -__builtin_inff();
	Row r = {tokens + (u64)row * size, size, scale, value(warp_max(ordered(part_top)))};
	uint2 mine[PARTS];
#pragma unroll
	for (int p = 0; p < PARTS; p++) {
		const float at = (float)thread() - (r.top - shuffle(part_top, p)), deepest = (float)shuffle(part.z, p);
		mine[p] = {};
		if (at >= 0 && at <= deepest) mine[p] = load_l2_pair(buckets + ((u64)row * PARTS + p) * BUCKETS + (u32)at);
	}
	u64 weight = 0;
#pragma unroll
	for (int p = 0; p < PARTS; p++) {
		r.count += mine[p].x >> 16;
		weight += mine[p].y;
	}
	r.weight = (float)weight * exp2_approx(thread() * -PER_BUCKET);
	float all = r.weight, unused = 0;
	if (thread() < PARTS) all += bits_float(part.y) * exp2_approx((r.top - part_top) * -PER_BUCKET);
	block_reduce<true, false>(all, unused);
	// Top-k, top-p of what is left, u of the rest.
	Bound end = {BUCKETS - 1, ~0ull, all};
	const int first = top_k ? 0 : top_p < 1 ? 1 : 2;
#pragma unroll 1
	for (int step = first; step < 3; step++) {
		if (step == 1 && top_p >= 1) continue;
		const u32 most = step ? ~0u : top_k;
		const float bound = step == 2 ? u * end.weight : step ? top_p * end.weight : __builtin_inff();
		find_bucket<PARTS>(d, r, mine, end.bucket, most, bound);
		if (step == first && d.before + d.n <= FEW) {
			// All that can be drawn at once.
			const Few f = sum_few(d, sort_few<PARTS, true>(d, r, [](u64) INLINE { return true; }), 0);
			u32 kept = top_k ? first_few(f, top_k, __builtin_inff()) + 1 : f.n;
			if (top_k) all = weight_of(f, kept - 1);
			if (top_p < 1) {
				kept = first_few(f, kept, top_p * all) + 1;
				all = weight_of(f, kept - 1);
			}
			end.key = d.order[first_few(f, kept, u * all)];
			break;
		}
		end = find_token<PARTS>(d, r, end, most, bound);
	}
	if (thread() == 0) ids[row] = index(end.key);
	finish(order);
}
