// Reads memory and nothing else: the rate that everything else is held
// against. Each block leaves the exclusive or of the words it read.
#include "device.h"

enum { THREADS = 512, FLIGHT = 8 };

DEVICE void add(uint4 &sum, uint4 v) {
	sum.x ^= v.x;
	sum.y ^= v.y;
	sum.z ^= v.z;
	sum.w ^= v.w;
}

// One sum of 8 bytes for each block.
DEVICE void leave(uint4 sum, uint2 *out) {
	u32 low = sum.x ^ sum.z, high = sum.y ^ sum.w;
	for (int m = 16; m; m >>= 1) {
		low ^= shuffle_xor(low, m);
		high ^= shuffle_xor(high, m);
	}
	__shared__ uint2 part[THREADS / 32];
	if (thread() % 32 == 0) part[thread() / 32] = {low, high};
	barrier();
	if (thread() == 0) {
		uint2 all = {0, 0};
		for (u32 w = 0; w < THREADS / 32; w++) {
			all.x ^= part[w].x;
			all.y ^= part[w].y;
		}
		out[block()] = all;
	}
}

// n vectors of 16 bytes at p. Eight loads in flight a thread, each a whole
// grid's width from the one before.
KERNEL __launch_bounds__(THREADS, 2) read_words(const uint4 *p, u64 n, uint2 *out) {
	const u64 step = (u64)blocks() * THREADS;
	u64 i = (u64)block() * THREADS + thread();
	uint4 sum = {0, 0, 0, 0};
	for (; i + (FLIGHT - 1) * step < n; i += FLIGHT * step) {
		uint4 v[FLIGHT];
#pragma unroll
		for (int k = 0; k < FLIGHT; k++) v[k] = load_once(p + i + k * step);
#pragma unroll
		for (int k = 0; k < FLIGHT; k++) add(sum, v[k]);
	}
	for (; i < n; i += step) add(sum, load_once(p + i));
	leave(sum, out);
}

// The same with the loads of a warp side by side: 4 KiB at a time.
KERNEL __launch_bounds__(THREADS, 2) read_runs(const uint4 *p, u64 n, uint2 *out) {
	const u64 run = 32 * FLIGHT, step = (u64)blocks() * (THREADS / 32) * run;
	const u32 lane = thread() % 32;
	u64 i = ((u64)block() * (THREADS / 32) + thread() / 32) * run;
	uint4 sum = {0, 0, 0, 0};
	for (; i + run <= n; i += step) {
		uint4 v[FLIGHT];
#pragma unroll
		for (int k = 0; k < FLIGHT; k++) v[k] = load_once(p + i + k * 32 + lane);
#pragma unroll
		for (int k = 0; k < FLIGHT; k++) add(sum, v[k]);
	}
	for (u64 j = i + lane; j < n && j < i + run; j += 32) add(sum, load_once(p + j));
	leave(sum, out);
}

// The same through a ring of copies to shared memory, as the products of
// matrices read their weights: STAGES runs of 4 KiB a warp.
enum { STAGES = 3, RUN = 4096 };
KERNEL __launch_bounds__(THREADS, 1) read_ring(const uint4 *p, u64 n, uint2 *out) {
	extern __shared__ char memory[];
	const u32 lane = thread() % 32, warp = thread() / 32, all = blocks() * (THREADS / 32);
	const u64 runs = n / (RUN / 16);
	const u32 ring = shared_address(memory) + warp * STAGES * RUN + lane * 16;
	u64 next = block() * (THREADS / 32) + warp;
	auto issue = [&](u32 slot) INLINE {
		if (next < runs) {
			const char *from = (const char *)p + next * RUN + lane * 16;
#pragma unroll
			for (int c = 0; c < RUN / 512; c++) copy16(ring + slot * RUN + c * 512, from + c * 512);
			next += all;
		}
		copies_commit();
	};
	for (u32 s = 0; s < STAGES - 1; s++) issue(s);
	uint4 sum = {0, 0, 0, 0};
	u32 slot = 0, free = STAGES - 1;
#pragma unroll 1
	for (u64 i = block() * (THREADS / 32) + warp; i < runs; i += all) {
		copies_wait<STAGES - 2>();
		uint4 v[RUN / 512];
#pragma unroll
		for (int c = 0; c < RUN / 512; c++) v[c] = load_shared16(ring + slot * RUN + c * 512);
		issue(free);
		if (++free == STAGES) free = 0;
		if (++slot == STAGES) slot = 0;
#pragma unroll
		for (int c = 0; c < RUN / 512; c++) add(sum, v[c]);
	}
	for (u64 j = runs * (RUN / 16) + block() * THREADS + thread(); j < n; j += blocks() * THREADS) add(sum, load_once(p + j));
	leave(sum, out);
}
