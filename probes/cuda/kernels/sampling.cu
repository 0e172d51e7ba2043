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
#include "order.h"
#include "rows.h"

enum { BUCKETS = 1024, VECTORS = 5, MOST_PARTS = 32 };
#define LOWEST (-1e30f)
#define PER_BUCKET (1.4426950408889634f / 32) // the exponent of 2 of one bucket
#define WEIGHT 0x1p18f                        // of a token at the low end of its bucket: 10240 still fit 32 bits

// What a thread block has of a row: vectors first to last.
DEVICE void share(u32 size, u32 part, u32 parts, u32 &first, u32 &last) {
	first = (u32)((u64)(size / 4) * part / parts);
	last = (u32)((u64)(size / 4) * (part + 1) / parts);
}

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

// ---- a draw: tokens into buckets

// A bucket of a part: where its tokens begin in the part's list, how many, and
// their weight.
struct alignas(8) Bucket { u16 begin, count; u32 weight; };
struct alignas(8) Token { float logit; u32 index; };

// A token's bucket as a number that is whole and may be of any size, and its
// weight against one at the low end of the bucket. Scale is buckets per logit.
DEVICE float bucket_of(float x, float scale, u32 &weight) {
	const float b = __builtin_floorf(x * scale);
	const float rest = __builtin_fminf(maximum(fma(x, scale, -b), 0), 1);
	asm("cvt.rni.u32.f32 %0, %1;" : "=r"(weight) : "f"(WEIGHT * exp2_approx(rest * PER_BUCKET)));
	return b;
}

DEVICE u32 add_shared(u32 *p, u32 v) {
	u32 r;
	asm volatile("atom.shared.add.u32 %0, [%1], %2;" : "=r"(r) : "r"(shared_address(p)), "r"(v) : "memory");
	return r;
}

// Each value becomes the sum of those of the threads up to this one; all is
// the sum of all. Shared has room for a value of each warp.
template <typename T>
DEVICE T running_sum(T v, T *shared, T &all) {
	const u32 lane = thread() % 32, warp = thread() / 32;
#pragma unroll
	for (int m = 1; m < 32; m <<= 1) {
		const T other = shuffle(v, (lane - m) & 31);
		if (lane >= m) v += other;
	}
	if (lane == 31) shared[warp] = v;
	barrier();
	T w = lane < threads() / 32 ? shared[lane] : 0;
#pragma unroll
	for (int m = 1; m < 32; m <<= 1) {
		const T other = shuffle(w, (lane - m) & 31);
		if (lane >= m) w += other;
	}
	all = shuffle(w, 31);
	const T before = shuffle(w, (warp - 1) & 31);
	return warp ? v + before : v;
}

// What a block says of its part: the bucket of its highest token, from which
// buckets are counted downwards, the deepest that has been looked at, and the
// weight below that, against the low end of the highest.
struct alignas(16) Part { float top, rest; u32 deepest, unused; };

// A block has a part of a row, VECTORS vectors a thread at most. It leaves the
// tokens of each bucket in which a bound may fall, bucket after bucket: of
// buckets before limit, and behind fewer than top_k tokens of the part.
template <int THREADS>
DEVICE void tally(const float *logits, Part *said, Bucket *buckets, Token *tokens, u32 size, u32 parts, u32 top_k, u32 limit, float scale, u32 order) {
	constexpr int EACH = BUCKETS / THREADS;
	__shared__ u32 count[BUCKETS], weight[BUCKETS], sums[32], deepest;
	for (int k = 0; k < EACH; k++) count[k * THREADS + thread()] = weight[k * THREADS + thread()] = 0;
	if (thread() == 0) deepest = limit - 1;
	const u32 row = block() / parts, part = block() % parts;
	u32 first, last;
	share(size, part, parts, first, last);
	begin(order);
	const float *from = logits + (u64)row * size;
	float x[4 * VECTORS], highest = -__builtin_inff();
#pragma unroll
	for (int k = 0; k < VECTORS; k++) {
		const u32 i = first + k * THREADS + thread();
		uint4 v = {};
		if (i < last) v = load_l2(from + 4 * i);
		x[4 * k] = bits_float(v.x), x[4 * k + 1] = bits_float(v.y), x[4 * k + 2] = bits_float(v.z), x[4 * k + 3] = bits_float(v.w);
	}
#pragma unroll
	for (int k = 0; k < 4 * VECTORS; k++) {
		x[k] = __builtin_fminf(maximum(x[k], LOWEST), -LOWEST) + 0.f;
		if (first + k / 4 * THREADS + thread() >= last) x[k] = -__builtin_inff(); // of no bucket
		highest = maximum(highest, x[k]);
	}
	const u32 most = warp_max(ordered(highest));
	if (thread() % 32 == 0) sums[thread() / 32] = most;
	barrier();
	u32 w, all;
	const float top = bucket_of(value(warp_max(thread() % 32 < THREADS / 32 ? sums[thread() % 32] : 0)), scale, w);
	barrier();
	u32 n[EACH], sum = 0;
	if (top_k <= THREADS) {
		// Where so many threads' highest tokens end, top-k does too.
		const float down = top - bucket_of(highest, scale, w);
		if (down < (float)BUCKETS) add_shared(count + (u32)down, 1);
		barrier();
#pragma unroll
		for (int k = 0; k < EACH; k++) sum += n[k] = count[thread() * EACH + k];
		u32 before = running_sum(sum, sums, all) - sum;
#pragma unroll
		for (int k = 0; k < EACH; k++) {
			const u32 b = thread() * EACH + k;
			if (before < top_k && before + n[k] >= top_k && b < limit) deepest = b;
			before += n[k];
			count[b] = 0;
		}
		barrier();
	}
	const float end = (float)deepest;
	float rest = 0;
	u32 where[4 * VECTORS]; // bucket and rank in it
#pragma unroll
	for (int k = 0; k < 4 * VECTORS; k++) {
		const float down = top - bucket_of(x[k], scale, w);
		where[k] = ~0u;
		if (down <= end) {
			const u32 b = (u32)down;
			where[k] = b << 16 | add_shared(count + b, 1);
			add_shared(weight + b, w);
		} else if (top_k >= size)
			rest += (float)w * exp2_approx(down * -PER_BUCKET);
	}
	float none = 0;
	if (top_k >= size) block_reduce<true, false>(rest, none);
	barrier();
	sum = 0;
#pragma unroll
	for (int k = 0; k < EACH; k++) sum += n[k] = count[thread() * EACH + k];
	u32 next = running_sum(sum, sums, all) - sum;
	Bucket *out = buckets + ((u64)row * parts + part) * BUCKETS;
#pragma unroll
	for (int k = 0; k < EACH; k++) {
		const u32 b = thread() * EACH + k;
		const bool listed = next < top_k;
		if (b <= deepest) out[b] = {(u16)next, (u16)(listed ? n[k] : 0), weight[b]};
		count[b] = listed ? next : ~0u;
		next += n[k];
	}
	if (thread() == 0) said[row * parts + part] = {top, rest, deepest, 0};
	barrier();
	Token *list = tokens + (u64)row * size + 4 * first;
#pragma unroll
	for (int k = 0; k < 4 * VECTORS; k++) {
		if (where[k] == ~0u) continue;
		const u32 begin = count[where[k] >> 16];
		if (begin != ~0u) list[begin + (where[k] & 0xffff)] = {x[k], 4 * (first + k / 4 * THREADS + thread()) + k % 4};
	}
	finish(order);
}
#define TALLY(warps, resident) \
	KERNEL __launch_bounds__(warps * 32, resident) tally_##warps(const float *logits, Part *said, Bucket *buckets, Token *tokens, u32 size, u32 parts, \
	                                                            u32 top_k, u32 limit, float scale, u32 order) { \
		tally<warps * 32>(logits, said, buckets, tokens, size, parts, top_k, limit, scale, order); \
	}
TALLY(8, 4)
TALLY(16, 2)

// ---- a draw: where the bounds fall

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
#define DRAW(parts) \
	KERNEL __launch_bounds__(BUCKETS, 1) draw_##parts(const Part *said, const Bucket *buckets, const Token *tokens, const float *random, u32 *ids, \
	                                                  u32 size, u32 top_k, float top_p, float scale, u32 order) { \
		draw<parts>(said, buckets, tokens, random, ids, size, top_k, top_p, scale, order); \
	}
DRAW(16)
DRAW(32)
