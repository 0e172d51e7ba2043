// y = factor·W·x for one token: W of rows × cols NVFP4 in the units of nvfp4.h,
// x binary16, y float32.
//
// As in bf16_gemv.cu, the units of a block are split evenly between its warps,
// here with 16 rows at a time.
#include "nvfp4.h"

// units is cols/256. Dynamic shared memory: WARPS·STAGES·UNIT for the rings,
// 2·cols for x, 512 of zeros, 64·(rows/16/blocks + 1) for the sums.
template <int WARPS, int STAGES>
DEVICE void gemv(const char *w, const char *x, float *y, u32 tiles, u32 units, float factor, u32 order) {
	extern __shared__ char memory[];
	const u32 lane = thread() % 32, warp = thread() / 32;
	const u32 tile0 = block() * tiles / blocks(), mine = (block() + 1) * tiles / blocks() - tile0;
	const u32 xs = shared_address(memory) + WARPS * STAGES * UNIT, zeros = xs + units * 512, sums = zeros + 512;
	const u32 total = mine * units, first = warp * total / WARPS, count = (warp + 1) * total / WARPS - first;

	// At most four vectors of x a thread, all of them under way at once.
	uint4 part[4];
	const u32 vectors = units * 32;
	auto load_x = [&]() INLINE {
#pragma unroll
		for (int k = 0; k < 4; k++)
			if (thread() + k * WARPS * 32 < vectors) part[k] = load_l2(x + (thread() + k * WARPS * 32) * 16);
	};
	if (!order) load_x();

	const u32 ring = shared_address(memory) + warp * STAGES * UNIT;
	const char *next = w + ((u64)tile0 * units + first) * UNIT;
	u32 left = count;
	auto issue = [&](u32 slot) INLINE {
		if (left > 0) {
			const u32 to = ring + slot * UNIT;
#pragma unroll
			for (int c = 0; c < 4; c++) copy16(to + c * 512 + lane * 16, next + c * 512 + lane * 16);
			copy8(to + SCALES + lane * 8, next + SCALES + lane * 8);
			next += UNIT;
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

	const u32 tile = first / units;
	sum_units<STAGES>(ring, xs, zeros, sums, count, units, tile, first - tile * units, issue);
	barrier();
	factor *= NVFP4_FACTOR;
	for (u32 i = thread(); i < mine * 16; i += WARPS * 32) y[tile0 * 16 + i] = load_shared(sums + i * 4) * factor;
}

#define GEMV(warps, stages, resident) \
	KERNEL __launch_bounds__(warps * 32, resident) nvfp4_gemv_##warps##x##stages( \
	    const char *w, const char *x, float *y, u32 tiles, u32 units, float factor, u32 order) { \
		gemv<warps, stages>(w, x, y, tiles, units, factor, order); \
	}
GEMV(8, 4, 2)
GEMV(8, 5, 2)
GEMV(16, 4, 1)
GEMV(16, 5, 1)
