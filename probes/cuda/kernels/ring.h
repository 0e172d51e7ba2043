// Products with a few tokens whose operands come by barriers in shared memory
// (sm_90): some warps bring them, weights as whole pieces of memory, a step of
// 256 columns at a time, and the others multiply. No barrier of the block is in
// the loop. A set of one warp for each of the block's tiles of 16 rows takes a
// step; sets take steps in turn, so that there are warps enough to wait for
// shared memory and for the tensor cores.
//
// Products says how: it is a struct with
//
//   TOKENS    bytes of a step's tokens in shared memory
//   BRINGING  warps that bring
//   QUAD      whether a set is whole groups of four warps
//   LAG       whether operands are in use until the warp's next step: then there
//             are two stages for each set, or more
//   begin_bringing, begin  of both kinds of warps
//   bring     copies eight tokens of a step by copy4 or copy16
//   arrived   follows where a step's operands are there
//   multiply  adds a unit of weights to its sums; calls back where a step before
//             has ended
//   finish    at the end
//   sums
#pragma once
#include "gemm.h"
#include "mbarrier.h"
#include "nvfp4.h"

enum { MOST_STAGES = 16 };

// Dynamic shared memory: 256 for barriers, then stages of tokens and of weights,
// a unit of each tile, as many as there is room for.
template <class Products, int EIGHTS> struct Ring {
	static constexpr u32 TOKENS = Products::TOKENS, BRINGING = Products::BRINGING;
	u32 per, first, here, seats, sets, stages; // tiles of a block, and this one's; warps of a set
	u32 steps, bars, ring, bytes;              // of a step

	DEVICE_MEMBER Ring(u32 memory, u32 rows, u32 units) : steps(units) {
		const u32 tiles = rows / 16;
		per = (tiles + blocks() - 1) / blocks();
		first = block() * per;
		here = first < tiles ? (tiles - first < per ? tiles - first : per) : 0;
		seats = Products::QUAD ? (per + 3) / 4 * 4 : per;
		sets = (threads() / 32 - BRINGING) / seats;
		bars = memory;
		ring = memory + 256;
		bytes = TOKENS + per * UNIT;
		stages = (dynamic_shared() - 256) / bytes;
		if (stages > MOST_STAGES) stages = MOST_STAGES;
		// So that a stage is always of the same set, which sees each of its phases.
		stages -= stages % sets;
		if (thread() < stages) {
			mbarrier_init(full(thread()), 1 + BRINGING * 32);
			mbarrier_init(empty(thread()), seats);
			mbarrier_publish();
		}
		barrier();
	}
	DEVICE_MEMBER u32 full(u32 slot) const { return bars + slot * 16; }
	DEVICE_MEMBER u32 empty(u32 slot) const { return bars + slot * 16 + 8; }

	DEVICE_MEMBER void bring_weights(const char *w, u32 step, u32 slot) const {
		const u32 lane = thread() % 32;
		if (lane == 0) mbarrier_arrive_expecting(full(slot), here * UNIT);
		warp_barrier();
		if (lane < here) copy_bulk(ring + slot * bytes + TOKENS + lane * UNIT, w + ((u64)(first + lane) * steps + step) * UNIT, UNIT, full(slot));
	}
	DEVICE_MEMBER void bring(const char *w, const char *x, u32 order, u32 mine) const {
		for (u32 s = 0; s < stages && s < steps && mine == 0; s++) bring_weights(w, s, s);
		if (order) wait_predecessor();
		if (order == EARLY) start_successor();
		const u64 token = (u64)steps * 512;
		u32 slot = 0, parity = 1;
#pragma unroll 1
		for (u32 step = 0; step < steps; step++) {
			if (step >= stages) {
				mbarrier_wait(empty(slot), parity);
				if (mine == 0) bring_weights(w, step, slot);
			}
			if (order == LATE && step + 1 == steps) start_successor();
#pragma unroll 1
			for (u32 n = mine; n < EIGHTS; n += BRINGING) Products::bring(ring + slot * bytes, x + n * 8 * token + step * 512, token, n);
			mbarrier_arrive_copied(full(slot));
			if (++slot == stages) {
				slot = 0;
				parity ^= 1;
			}
		}
	}
	DEVICE_MEMBER void multiply(Products &products, u32 seat, u32 set) const {
		const bool mine = seat < here, leads = thread() % 32 == 0;
		const u32 weights = ring + TOKENS + (mine ? seat : 0) * UNIT;
		u32 slot = set, before = 0, parity = 0;
#pragma unroll 1
		for (u32 step = set; step < steps; step += sets) {
			mbarrier_wait(full(slot), parity);
			Products::arrived();
			products.multiply(ring + slot * bytes, weights + slot * bytes, mine, [&]() INLINE {
				if (step != set && leads) mbarrier_arrive(empty(before));
			});
			if (!Products::LAG) {
				warp_barrier();
				if (leads) mbarrier_arrive(empty(slot));
			}
			before = slot;
			slot += sets;
			if (slot >= stages) {
				slot -= stages;
				parity ^= 1;
			}
		}
		products.finish();
	}
	DEVICE_MEMBER static void run(const char *w, const char *x, float *y, u32 rows, u32 units, u32 tokens, float factor, u32 order) {
		extern __shared__ char memory[];
		const Ring all(shared_address(memory), rows, units);
		const u32 warp = shuffle(thread() / 32, 0), many = all.sets * all.seats;
		if (warp >= many) {
			Products::begin_bringing();
			all.bring(w, x, order, warp - many);
			return;
		}
		const u32 seat = warp % all.seats, set = warp / all.seats;
		Products::begin();
		Products products;
		products.sums.clear();
		if (order) wait_predecessor(); // y may be its
		all.multiply(products, seat, set);
		products.sums.gather(shared_address(memory), all.seats, all.sets, seat, set);
		if (set == 0 && seat < all.here) products.sums.write(y, rows, tokens, (all.first + seat) * 16, factor * 256);
	}
};

#define RING(source, eights, threads) \
	KERNEL __launch_bounds__(threads, 1) source##_##eights( \
	    const char *w, const char *x, float *y, u32 rows, u32 units, u32 tokens, float factor, u32 order) { \
		Ring<Products<eights>, eights>::run(w, x, y, rows, units, tokens, factor, order); \
	}
