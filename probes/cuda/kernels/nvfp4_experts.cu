// The chosen experts of one token in NVFP4, in two launches as in
// bf16_experts.cu, with tiles of 16 rows as in nvfp4_gemv.cu. A tile of up has
// eight gate rows and below them the eight up rows beside them.
#include "experts.h"
#include "nvfp4.h"

// Up: rows are tiles of an expert, units those of the token's columns; y is
// binary16, chosen × 8 for each tile. Down: units are of an expert's piece of
// the columns, y is float32, 16 for each tile. Dynamic shared memory:
// WARPS·STAGES·UNIT for the rings, all columns in binary16, 512 of zeros, 64
// for each tile of a block.
template <bool DOWN, int WARPS, int STAGES>
DEVICE void multiply(const Experts e, const float *shares, const char *x, void *y, float factor, u32 order) {
	extern __shared__ char memory[];
	const u32 warp = thread() / 32;
	const u32 tiles = DOWN ? e.rows : e.rows * e.chosen, units = DOWN ? e.units * e.chosen : e.units;
	const u32 tile0 = block() * tiles / blocks(), mine = (block() + 1) * tiles / blocks() - tile0;
	const u32 xs = shared_address(memory) + WARPS * STAGES * UNIT, zeros = xs + units * 512, sums = zeros + 512;
	const u32 total = mine * units, first = warp * total / WARPS, count = (warp + 1) * total / WARPS - first;

	uint4 part[4];
	const u32 vectors = units * 32;
	auto load_x = [&]() INLINE {
#pragma unroll
		for (int k = 0; k < 4; k++)
			if (thread() + k * WARPS * 32 < vectors) part[k] = load_l2(x + (thread() + k * WARPS * 32) * 16);
	};
	// Which experts were chosen is known once the router has ended: before up,
	// and so before down is let begin.
	if (!DOWN && order) wait_predecessor();
	Walk<DOWN, UNIT> walk;
	const u32 tile = first / units, unit = first - tile * units;
	u32 left = count;
	if (!DOWN || !order) load_x();
	if (count) walk.begin(e, tile0 + tile, unit);
	const u32 ring = shared_address(memory) + warp * STAGES * UNIT;
	auto issue = [&](u32 slot) INLINE {
		if (left > 0) {
			NVFP4::copy(ring + slot * UNIT, walk.next);
			if (--left > 0) walk.step(e);
			else if (order == LATE) start_successor();
		}
		copies_commit();
	};
#pragma unroll
	for (int s = 0; s < STAGES - 1; s++) issue(s);
	if (thread() < 32) store_shared16(zeros + thread() * 16, uint4{0, 0, 0, 0});
	for (u32 i = thread(); i < mine * 16; i += WARPS * 32) store_shared(sums + i * 4, 0);
	if (DOWN && order) {
		wait_predecessor();
		load_x();
	}
	if (order == EARLY || order == LATE && count == 0) start_successor();
#pragma unroll
	for (int k = 0; k < 4; k++)
		if (thread() + k * WARPS * 32 < vectors) store_shared16(xs + (thread() + k * WARPS * 32) * 16, part[k]);
	barrier();

	sum_units<NVFP4, STAGES>(ring, xs, zeros, sums, count, units, tile, unit, issue);
	barrier();
	factor *= NVFP4::FACTOR;
	if (DOWN) {
		for (u32 i = thread(); i < mine * 16; i += WARPS * 32) ((float *)y)[tile0 * 16 + i] = load_shared(sums + i * 4) * factor;
		return;
	}
	for (u32 i = thread(); i < mine * 8; i += WARPS * 32) {
		const u32 at = sums + (i / 8 * 16 + i % 8) * 4;
		const float share = load_l2_float(shares + (tile0 + i / 8) / e.rows);
		const float v = share * swiglu(factor * load_shared(at), factor * load_shared(at + 32));
		((u16 *)y)[tile0 * 8 + i] = (u16)pack_f16(v, 0);
	}
}

#define EXPERTS(warps, stages, resident) \
	KERNEL __launch_bounds__(warps * 32, resident) nvfp4_experts_up_##warps##x##stages( \
	    const char *w, const u32 *ids, u64 size, u32 chosen, u32 rows, u32 units, const float *shares, const char *x, void *y, float factor, u32 order) { \
		multiply<false, warps, stages>({w, ids, size, chosen, rows, units}, shares, x, y, factor, order); \
	} \
	KERNEL __launch_bounds__(warps * 32, resident) nvfp4_experts_down_##warps##x##stages( \
	    const char *w, const u32 *ids, u64 size, u32 chosen, u32 rows, u32 units, const float *shares, const char *x, void *y, float factor, u32 order) { \
		multiply<true, warps, stages>({w, ids, size, chosen, rows, units}, shares, x, y, factor, order); \
	}
EXPERTS(8, 4, 2)
EXPERTS(8, 5, 1)
EXPERTS(16, 4, 1)
