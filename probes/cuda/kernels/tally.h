// A draw's first half: a row's tokens into buckets, each block a part of the row.
#pragma once
#include "sampling.h"

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
