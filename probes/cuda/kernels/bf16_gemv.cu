// y = W·x for one token: W of rows × cols bfloat16 in rows, x bfloat16, y and
// all sums float32.
//
// The rows of a block are one sequence of units of 1024 weights, split evenly
// between its warps: a warp goes through rows and parts of rows and adds to a
// sum of the block at each row's end. Weights come by a ring of copies to
// shared memory that a lane reads back only where it copied itself, so the loop
// has no barrier. x lies in shared memory.
#include "bf16.h"

enum { UNIT = 2048 }; // bytes: 1024 weights, 64 a lane

// units is cols/1024. Dynamic shared memory: WARPS·STAGES·UNIT for the rings,
// 2·cols for x, 4·(rows/blocks + 1) for the sums.
template <int WARPS, int STAGES>
DEVICE void gemv(const char *w, const char *x, float *y, u32 rows, u32 units, u32 order) {
	extern __shared__ char memory[];
	const u32 lane = thread() % 32, warp = thread() / 32;
	const u32 row0 = (u32)((u64)block() * rows / blocks()), mine = (u32)((u64)(block() + 1) * rows / blocks()) - row0;
	const u32 xs = shared_address(memory) + WARPS * STAGES * UNIT, sums = xs + units * UNIT;
	const u32 total = mine * units, first = warp * total / WARPS, count = (warp + 1) * total / WARPS - first;

	const u32 ring = shared_address(memory) + warp * STAGES * UNIT + lane * 16;
	const char *next = w + ((u64)row0 * units + first) * UNIT + lane * 16;
	u32 left = count;
	auto issue = [&](u32 slot) INLINE {
		if (left > 0) {
#pragma unroll
			for (int c = 0; c < 4; c++) copy16(ring + slot * UNIT + c * 512, next + c * 512);
			next += UNIT;
			if (--left == 0 && order == LATE) start_successor();
		}
		copies_commit();
	};
	for (u32 s = 0; s < STAGES - 1; s++) issue(s);
	for (u32 i = thread(); i < mine; i += WARPS * 32) store_shared(sums + i * 4, 0);
	// The weights are under way; x may come from the kernel before.
	if (order) wait_predecessor();
	if (order == EARLY || order == LATE && count == 0) start_successor();
	for (u32 i = thread(); i < units * 128; i += WARPS * 128) {
		uint4 v[4];
#pragma unroll
		for (int k = 0; k < 4; k++)
			if (i + k * WARPS * 32 < units * 128) v[k] = load_l2(x + (i + k * WARPS * 32) * 16);
#pragma unroll
		for (int k = 0; k < 4; k++)
			if (i + k * WARPS * 32 < units * 128) store_shared16(xs + (i + k * WARPS * 32) * 16, v[k]);
	}
	barrier();

	u32 row = first / units, unit = first - row * units, slot = 0, free = STAGES - 1;
	float sum[4] = {0, 0, 0, 0};
	auto finish_row = [&]() INLINE {
		float v = (sum[0] + sum[1]) + (sum[2] + sum[3]);
		for (int m = 16; m; m >>= 1) v += shuffle_xor(v, m);
		if (lane == 0) add_shared(sums + row * 4, v);
		sum[0] = sum[1] = sum[2] = sum[3] = 0;
	};
#pragma unroll 1
	for (u32 i = 0; i < count; i++) {
		copies_wait<STAGES - 2>();
		uint4 q[4];
#pragma unroll
		for (int c = 0; c < 4; c++) q[c] = load_shared16(ring + slot * UNIT + c * 512);
		issue(free);
		if (++free == STAGES) free = 0;
		if (++slot == STAGES) slot = 0;
#pragma unroll
		for (int c = 0; c < 4; c++) sum[c] = dot8(q[c], load_shared16(xs + unit * UNIT + c * 512 + lane * 16), sum[c]);
		if (++unit == units) {
			finish_row();
			unit = 0;
			row++;
		}
	}
	if (unit) finish_row();
	barrier();
	for (u32 i = thread(); i < mine; i += WARPS * 32) y[row0 + i] = load_shared(sums + i * 4);
}

#define GEMV(warps, stages, resident) \
	KERNEL __launch_bounds__(warps * 32, resident) bf16_gemv_##warps##x##stages( \
	    const char *w, const char *x, float *y, u32 rows, u32 units, u32 order) { \
		gemv<warps, stages>(w, x, y, rows, units, order); \
	}
GEMV(8, 4, 2)
GEMV(8, 5, 2)
GEMV(16, 4, 1)
GEMV(16, 5, 1)
