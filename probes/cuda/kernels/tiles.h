// Products of weights with one token on tensor cores, in every format whose
// weights are operand A, a tile of 16 rows at a time. A format is a struct:
//
//   COLUMNS     of a unit of 16 rows; BYTES of it in memory, SLOT of it in a ring
//   FACTOR      that makes its sums those of the weights
//   first, second  where a lane's x for operand B begins in a unit's columns, in
//               bytes, one for each of two pieces of the weights; NONE: zeros
//   load        a lane's part of a unit, from the ring
//   multiply    adds to the lane's sums of rows g and g + 8, of lane 4·g + t
//   Stream      units one after another: begin, copy to the ring, step
#pragma once
#include "device.h"

enum : u32 { NONE = ~0u };

// Where a lane's x for one piece of the weights lies, in shared memory.
struct Place {
	u32 at, step;

	DEVICE_MEMBER Place(u32 offset, u32 xs, u32 zeros, u32 unit, u32 bytes)
	    : at(offset == NONE ? zeros : xs + offset + unit * bytes), step(offset == NONE ? 0 : bytes) {}
};

// A warp's units from its ring, in STAGES, one after another: units of a tile
// make 16 rows, first begins at unit of tile. Adds each tile's rows to sums in
// shared memory. issue brings the next unit into a slot.
template <class Format, int STAGES, class Issue>
DEVICE void sum_units(u32 ring, u32 xs, u32 zeros, u32 sums, u32 count, u32 units, u32 tile, u32 unit, Issue issue) {
	const u32 lane = thread() % 32, g = lane / 4, t = lane % 4;
	u32 slot = 0, free = STAGES - 1;
	Place x0(Format::first(g, t), xs, zeros, unit, 2 * Format::COLUMNS), x1(Format::second(g, t), xs, zeros, unit, 2 * Format::COLUMNS);
	float y0 = 0, y1 = 0;
	auto finish_tile = [&]() INLINE {
		for (int m = 1; m < 4; m <<= 1) {
			y0 += shuffle_xor(y0, m);
			y1 += shuffle_xor(y1, m);
		}
		if (t == 0) {
			add_shared(sums + (tile * 16 + g) * 4, y0);
			add_shared(sums + (tile * 16 + g + 8) * 4, y1);
		}
		y0 = y1 = 0;
	};
#pragma unroll 1
	for (u32 i = 0; i < count; i++) {
		copies_wait<STAGES - 2>();
		Format part;
		part.load(ring + slot * Format::SLOT);
		issue(free);
		if (++free == STAGES) free = 0;
		if (++slot == STAGES) slot = 0;
		part.multiply(x0.at, x1.at, y0, y1);
		x0.at += x0.step;
		x1.at += x1.step;
		if (++unit == units) {
			finish_tile();
			unit = 0;
			tile++;
			x0.at -= units * x0.step;
			x1.at -= units * x1.step;
		}
	}
	if (unit) finish_tile();
}

// Units that hold their own scales, in the order in which they lie in memory.
template <class Format> struct InOrder {
	const char *next;

	DEVICE_MEMBER void begin(const char *w, const char *, u32 tile, u32 unit, u32 units) { next = w + ((u64)tile * units + unit) * Format::BYTES; }
	DEVICE_MEMBER void copy(u32 to) { Format::copy(to, next); }
	DEVICE_MEMBER void step() { next += Format::BYTES; }
};

// y = factor·W·x for one token: x binary16, y float32. As in bf16_gemv.cu, the
// units of a block are split evenly between its warps. scales is of a format
// whose units do not hold them. Dynamic shared memory: WARPS·STAGES·SLOT for
// the rings, 2·cols for x, 512 of zeros, 64·(rows/16/blocks + 1) for the sums.
template <class Format, int WARPS, int STAGES>
DEVICE void gemv(const char *w, const char *scales, const char *x, float *y, u32 tiles, u32 units, float factor, u32 order) {
	extern __shared__ char memory[];
	const u32 warp = thread() / 32;
	const u32 tile0 = block() * tiles / blocks(), mine = (block() + 1) * tiles / blocks() - tile0;
	const u32 xs = shared_address(memory) + WARPS * STAGES * Format::SLOT, zeros = xs + units * 2 * Format::COLUMNS, sums = zeros + 512;
	const u32 total = mine * units, first = warp * total / WARPS, count = (warp + 1) * total / WARPS - first;

	// At most four vectors of x a thread, all of them under way at once.
	uint4 part[4];
	const u32 vectors = units * Format::COLUMNS / 8;
	auto load_x = [&]() INLINE {
#pragma unroll
		for (int k = 0; k < 4; k++)
			if (thread() + k * WARPS * 32 < vectors) part[k] = load_l2(x + (thread() + k * WARPS * 32) * 16);
	};
	if (!order) load_x();

	const u32 ring = shared_address(memory) + warp * STAGES * Format::SLOT, tile = first / units, unit = first - tile * units;
	typename Format::Stream stream;
	stream.begin(w, scales, tile0 + tile, unit, units);
	u32 left = count;
	auto issue = [&](u32 slot) INLINE {
		if (left > 0) {
			stream.copy(ring + slot * Format::SLOT);
			stream.step();
			if (--left == 0 && order == LATE) start_successor();
		}
		copies_commit();
	};
#pragma unroll
	for (int s = 0; s < STAGES - 1; s++) issue(s);
	if (thread() < 32) store_shared16(zeros + thread() * 16, uint4{0, 0, 0, 0});
	for (u32 i = thread(); i < mine * 16; i += WARPS * 32) store_shared(sums + i * 4, 0);
	if (order) {
		wait_predecessor();
		load_x();
	}
	if (order == EARLY || order == LATE && count == 0) start_successor();
#pragma unroll
	for (int k = 0; k < 4; k++)
		if (thread() + k * WARPS * 32 < vectors) store_shared16(xs + (thread() + k * WARPS * 32) * 16, part[k]);
	barrier();

	sum_units<Format, STAGES>(ring, xs, zeros, sums, count, units, tile, unit, issue);
	barrier();
	factor *= Format::FACTOR;
	for (u32 i = thread(); i < mine * 16; i += WARPS * 32) y[tile0 * 16 + i] = load_shared(sums + i * 4) * factor;
}

// An entry, and the shapes of a block in which each format has one.
#define GEMV(format, name, warps, stages, resident) \
	KERNEL __launch_bounds__(warps * 32, resident) name##_gemv_##warps##x##stages( \
	    const char *w, const char *scales, const char *x, float *y, u32 tiles, u32 units, float factor, u32 order) { \
		gemv<format, warps, stages>(w, scales, x, y, tiles, units, factor, order); \
	}
#define GEMVS(format, name) \
	GEMV(format, name, 8, 4, 2) \
	GEMV(format, name, 8, 5, 2) \
	GEMV(format, name, 16, 4, 1) \
	GEMV(format, name, 16, 5, 1)
