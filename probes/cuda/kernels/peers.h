// What kernels that talk to other GPUs have in common: addresses of every rank's
// memory, flags and packets in it, and waits that end.
//
// Of each rank, scratch begins with flags: a word for each stage, block and rank
// that may set it. Packets follow. What the host clears before each timing is
// never an epoch.
#pragma once
#include "device.h"

enum { MOST_RANKS = 8, MOST_BLOCKS = 256, STAGES = 3, PACKETS = STAGES * MOST_BLOCKS * MOST_RANKS * 4 };

// One address for each rank; those past the last are not used.
struct Peers { char *p[MOST_RANKS]; };

// The state of a rank: whether a wait was in vain, and each block's epoch. Every
// rank runs the same launches, so their epochs agree.
enum { LATE_RANK, EPOCHS };

DEVICE void store_packet(char *to, uint2 v, u32 epoch) {
	asm volatile("st.volatile.global.v4.u32 [%0], {%1,%2,%3,%4};" ::"l"(to), "r"(v.x), "r"(epoch), "r"(v.y), "r"(epoch) : "memory");
}
DEVICE uint4 load_packet(const char *from) {
	uint4 r;
	asm volatile("ld.volatile.global.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(r.x), "=r"(r.y), "=r"(r.z), "=r"(r.w) : "l"(from) : "memory");
	return r;
}
DEVICE void store_release(char *to, u32 v) { asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(to), "r"(v) : "memory"); }
DEVICE u32 load_acquire(const char *from) {
	u32 r;
	asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(r) : "l"(from) : "memory");
	return r;
}
// What another GPU may have written: never from a cache that does not see it.
DEVICE uint4 load_peer(const char *from) {
	uint4 r;
	asm volatile("ld.relaxed.sys.global.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(r.x), "=r"(r.y), "=r"(r.z), "=r"(r.w) : "l"(from) : "memory");
	return r;
}
DEVICE void store_global16(char *to, uint4 v) {
	asm volatile("st.global.v4.u32 [%0], {%1,%2,%3,%4};" ::"l"(to), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
}

// A wait for another rank. After some polls it looks at the clock now and then:
// past the limit it leaves the rank's number, and every later wait ends at once.
struct Patience {
	u32 *state;
	u64 limit, begin;
	u32 polls;

	DEVICE_MEMBER bool over(u32 rank) {
		if (++polls % 4096) return false;
		u64 now;
		asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
		if (!begin) begin = now;
		if (now - begin > limit) *(volatile u32 *)(state + LATE_RANK) = rank + 1;
		return *(volatile u32 *)(state + LATE_RANK) != 0;
	}
};

// All ranks' blocks of one number meet. What a block wrote before, others see
// after.
template <int RANKS> DEVICE void meet(const Peers &scratch, u32 rank, u32 epoch, u32 stage, Patience &patience) {
	barrier();
	const u32 slot = (stage * MOST_BLOCKS + block()) * MOST_RANKS;
#pragma unroll
	for (int p = 0; p < RANKS; p++)
		if (thread() == p) {
			store_release(scratch.p[p] + (slot + rank) * 4, epoch);
			const char *mine = scratch.p[0];
#pragma unroll
			for (int r = 1; r < RANKS; r++)
				if (rank == r) mine = scratch.p[r];
			while (load_acquire(mine + (slot + p) * 4) != epoch && !patience.over(p)) {}
		}
	barrier();
}
