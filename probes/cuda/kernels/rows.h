// Rows of bfloat16: eight values at a time in float32, and what the threads of
// a block agree on.
#pragma once
#include "device.h"

DEVICE void unpack8(uint4 v, float *x) {
	const u32 word[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
	for (int i = 0; i < 4; i++) {
		x[2 * i] = bf16_low(word[i]);
		x[2 * i + 1] = bf16_high(word[i]);
	}
}
DEVICE uint4 pack8(const float *x) {
	return {pack_bf16(x[0], x[1]), pack_bf16(x[2], x[3]), pack_bf16(x[4], x[5]), pack_bf16(x[6], x[7])};
}

DEVICE void store16(void *p, uint4 v) { *(uint4 *)p = v; }
DEVICE void store8(void *p, uint2 v) { *(uint2 *)p = v; }
DEVICE void store4(void *p, u32 v) { *(u32 *)p = v; }

DEVICE float reciprocal(float x) {
	float r;
	asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
	return r;
}
DEVICE float reciprocal_root(float x) {
	float r;
	asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
	return r;
}
DEVICE float magnitude(float x) { return __builtin_fabsf(x); }

template <bool SUM, bool MOST>
DEVICE void warp_reduce(float &sum, float &most) {
#pragma unroll
	for (int m = 16; m; m >>= 1) {
		if (SUM) sum += shuffle_xor(sum, m);
		if (MOST) most = maximum(most, shuffle_xor(most, m));
	}
}

// ---- clusters: blocks that read each other's shared memory

#if __CUDA_ARCH__ >= 900
DEVICE u32 cluster_blocks() {
	u32 n;
	asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(n));
	return n;
}
// Arriving releases what was written, waiting acquires it.
DEVICE void cluster_arrive() { asm volatile("barrier.cluster.arrive.aligned;" ::: "memory"); }
DEVICE void cluster_wait() { asm volatile("barrier.cluster.wait.aligned;" ::: "memory"); }
DEVICE float load_cluster(const float *p, u32 rank) {
	float r;
	asm volatile("{ .reg .u32 a; mapa.shared::cluster.u32 a, %1, %2; ld.shared::cluster.f32 %0, [a]; }" : "=f"(r) : "r"(shared_address(p)), "r"(rank) : "memory");
	return r;
}
#else
DEVICE u32 cluster_blocks() { return 1; }
DEVICE void cluster_arrive() {}
DEVICE void cluster_wait() {}
DEVICE float load_cluster(const float *p, u32) { return *p; }
#endif

// The sum of one number of each thread of a block, and the largest of another,
// which is not negative. One barrier: every warp adds up what all warps left.
// In a cluster it is of all its blocks, none of which may end before cluster_wait.
template <bool SUM, bool MOST, bool CLUSTER = false>
DEVICE void block_reduce(float &sum, float &most) {
	__shared__ float sums[32], largest[32];
	const u32 lane = thread() % 32, warp = thread() / 32;
	warp_reduce<SUM, MOST>(sum, most);
	if (lane == 0) {
		sums[warp] = sum;
		largest[warp] = most;
	}
	barrier();
	const bool there = lane < threads() / 32;
	sum = there ? sums[lane] : 0;
	most = there ? largest[lane] : 0;
	warp_reduce<SUM, MOST>(sum, most);
	if (CLUSTER) {
		__shared__ float mine[2];
		if (thread() == 0) {
			mine[0] = sum;
			mine[1] = most;
		}
		cluster_arrive();
		cluster_wait();
		const bool in = lane < cluster_blocks();
		if (SUM) sum = in ? load_cluster(mine, lane) : 0;
		if (MOST) most = in ? load_cluster(mine + 1, lane) : 0;
		warp_reduce<SUM, MOST>(sum, most);
		cluster_arrive();
	}
}

// When a dependent kernel starts its successor: at once, or with its last
// store under way.
DEVICE void begin(u32 order) {
	if (order == EARLY) start_successor();
	if (order) wait_predecessor();
}
DEVICE void finish(u32 order) {
	if (order == LATE) start_successor();
}
