// All-reduce of bfloat16 over the memory of peers: each rank's out becomes the
// sum of every rank's in, added in float32 in the order of the ranks, so that
// all hold the same bits.
//
// packets: each thread writes its eight bytes to every peer, with the epoch
//   beside each word, and polls what the peers wrote to it: one crossing.
// one_shot: the ranks meet, and each reads everybody's input.
// two_shot: the ranks meet, each sums up its part and writes it to everybody,
//   and they meet again: 2·(n-1)/n of the bytes cross, not n-1 times them.
#include "peers.h"

DEVICE void add_pair(float *sum, u32 v) {
	sum[0] += bf16_low(v);
	sum[1] += bf16_high(v);
}

template <int RANKS> DEVICE u32 begin_epoch(u32 *state, u32 order) {
	if (order) wait_predecessor();
	if (order == EARLY) start_successor();
	return load_l2_word(state + EPOCHS + block()) + 1;
}

// After all threads have read it.
DEVICE void end_epoch(u32 *state, u32 epoch) {
	barrier();
	if (thread() == 0) state[EPOCHS + block()] = epoch;
}

// The address of a rank's own memory: no dynamic index, which would put all
// addresses into memory.
template <int RANKS> DEVICE char *own(const Peers &all, u32 rank) {
	char *mine = all.p[0];
#pragma unroll
	for (int r = 1; r < RANKS; r++)
		if (rank == r) mine = all.p[r];
	return mine;
}

// words are of eight bytes, at most one a thread. Two sets of packets take
// turns: a rank that is one epoch ahead does not overwrite what another reads,
// and none can be two ahead.
template <int RANKS>
DEVICE void packets(const Peers &in, const Peers &out, const Peers &scratch, u32 rank, u32 words, u32 *state, u64 limit, u32 order) {
	const u32 i = block() * threads() + thread();
	const char *from = own<RANKS>(in, rank);
	const char *mine = own<RANKS>(scratch, rank) + PACKETS;
	char *to = own<RANKS>(out, rank);
	const u32 epoch = begin_epoch<RANKS>(state, order);
	if (i < words) {
		const uint2 v = load_l2_pair(from + (u64)i * 8);
		const u64 set = (u64)(epoch & 1) * RANKS * words;
#pragma unroll
		for (int p = 0; p < RANKS; p++)
			if (p != rank) store_packet(scratch.p[p] + PACKETS + (set + rank * words + i) * 16, v, epoch);
		float sum[4] = {0, 0, 0, 0};
		Patience patience{state, limit, 0, 0};
		bool there = true;
#pragma unroll
		for (int p = 0; p < RANKS; p++) {
			uint2 w = v;
			if (p != rank) {
				uint4 packet;
				do {
					packet = load_packet(mine + (set + p * words + i) * 16);
					there = packet.y == epoch && packet.w == epoch;
				} while (!there && !patience.over(p));
				w = uint2{packet.x, packet.z};
			}
			if (!there) break;
			add_pair(sum, w.x);
			add_pair(sum + 2, w.y);
		}
		if (there) *(uint2 *)(to + (u64)i * 8) = uint2{pack_bf16(sum[0], sum[1]), pack_bf16(sum[2], sum[3])};
	}
	if (order == LATE) start_successor();
	end_epoch(state, epoch);
}

// The sum of 16 bytes of every rank.
template <int RANKS> DEVICE uint4 sum_of(const Peers &in, u64 at) {
	float sum[8] = {0, 0, 0, 0, 0, 0, 0, 0};
	uint4 v[RANKS];
#pragma unroll
	for (int p = 0; p < RANKS; p++) v[p] = load_peer(in.p[p] + at);
#pragma unroll
	for (int p = 0; p < RANKS; p++) {
		add_pair(sum, v[p].x);
		add_pair(sum + 2, v[p].y);
		add_pair(sum + 4, v[p].z);
		add_pair(sum + 6, v[p].w);
	}
	return uint4{pack_bf16(sum[0], sum[1]), pack_bf16(sum[2], sum[3]), pack_bf16(sum[4], sum[5]), pack_bf16(sum[6], sum[7])};
}

template <int RANKS>
DEVICE void one_shot(const Peers &in, const Peers &out, const Peers &scratch, u32 rank, u32 words, u32 *state, u64 limit, u32 order) {
	char *to = own<RANKS>(out, rank);
	const u32 epoch = begin_epoch<RANKS>(state, order);
	Patience patience{state, limit, 0, 0};
	meet<RANKS>(scratch, rank, epoch, 0, patience);
	for (u32 i = block() * threads() + thread(); i < words / 2; i += blocks() * threads()) store_global16(to + (u64)i * 16, sum_of<RANKS>(in, (u64)i * 16));
	meet<RANKS>(scratch, rank, epoch, 1, patience); // inputs may change
	if (order == LATE) start_successor();
	end_epoch(state, epoch);
}

template <int RANKS>
DEVICE void two_shot(const Peers &in, const Peers &out, const Peers &scratch, u32 rank, u32 words, u32 *state, u64 limit, u32 order) {
	const u32 epoch = begin_epoch<RANKS>(state, order);
	Patience patience{state, limit, 0, 0};
	meet<RANKS>(scratch, rank, epoch, 0, patience);
	const u32 lines = words / 2, first = (u64)lines * rank / RANKS, last = (u64)lines * (rank + 1) / RANKS;
	for (u32 i = first + block() * threads() + thread(); i < last; i += blocks() * threads()) {
		const uint4 v = sum_of<RANKS>(in, (u64)i * 16);
#pragma unroll
		for (int p = 0; p < RANKS; p++) store_global16(out.p[p] + (u64)i * 16, v);
	}
	meet<RANKS>(scratch, rank, epoch, 1, patience);
	if (order == LATE) start_successor();
	end_epoch(state, epoch);
}

#define ALL_REDUCE(name, ranks) \
	KERNEL __launch_bounds__(512, 1) allreduce_##name##_##ranks(Peers in, Peers out, Peers scratch, u32 rank, u32 words, u32 *state, u64 limit, u32 order) { \
		name<ranks>(in, out, scratch, rank, words, state, limit, order); \
	}
#define EACH(name) ALL_REDUCE(name, 2) ALL_REDUCE(name, 4) ALL_REDUCE(name, 8)
EACH(packets)
EACH(one_shot)
EACH(two_shot)

// All ranks meet once, before their clocks start.
#define RENDEZVOUS(ranks) \
	KERNEL __launch_bounds__(32, 1) rendezvous_##ranks(Peers scratch, u32 rank, u32 *state, u64 limit) { \
		Patience patience{state, limit, 0, 0}; \
		meet<ranks>(scratch, rank, 1, 2, patience); \
	}
RENDEZVOUS(2) RENDEZVOUS(4) RENDEZVOUS(8)

// A word to every rank's memory, the rank's own number where it is told to.
KERNEL greet(char *to, u32 word) { *(volatile u32 *)to = word; }
