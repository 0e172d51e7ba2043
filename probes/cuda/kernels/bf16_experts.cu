// The chosen experts of one token in bfloat16, in two launches: up multiplies
// with gate and up rows and leaves shares·silu(gate)·up, down multiplies with
// that and so adds the experts up. As in bf16_gemv.cu, the rows of a block are
// one sequence of units split evenly between its warps.
#include "bf16.h"
#include "experts.h"

// Up: rows are 2·width of an expert, gate and up of each in turn, units those
// of the token's columns; y is bfloat16, chosen × width. Down: units are of
// width columns, y is float32, one for each row. Dynamic shared memory:
// WARPS·STAGES·UNIT for the rings, all columns in bfloat16, 4·(rows of a block).
template <bool DOWN, int PIECES, int WARPS, int STAGES>
DEVICE void multiply(const Experts e, const float *shares, const char *x, void *y, u32 order) {
	constexpr int UNIT = PIECES * 512;
	extern __shared__ char memory[];
	const u32 lane = thread() % 32, warp = thread() / 32;
	const u32 pairs = (DOWN ? e.rows : e.rows * e.chosen) / 2, units = DOWN ? e.units * e.chosen : e.units;
	const u32 row0 = 2 * (block() * pairs / blocks()), mine = 2 * ((block() + 1) * pairs / blocks()) - row0;
	const u32 xs = shared_address(memory) + WARPS * STAGES * UNIT, sums = xs + units * UNIT;
	const u32 total = mine * units, first = warp * total / WARPS, count = (warp + 1) * total / WARPS - first;

	// Which experts were chosen is known once the router has ended: before up,
	// and so before down is let begin.
	if (!DOWN && order) wait_predecessor();
	Walk<DOWN, UNIT> walk;
	u32 row = first / units, unit = first - row * units, left = count;
	if (count) walk.begin(e, row0 + row, unit);
	const u32 ring = shared_address(memory) + warp * STAGES * UNIT + lane * 16;
	auto issue = [&](u32 slot) INLINE {
		if (left > 0) {
#pragma unroll
			for (int c = 0; c < PIECES; c++) copy16(ring + slot * UNIT + c * 512, walk.next + c * 512 + lane * 16);
			if (--left > 0) walk.step(e);
			else if (order == LATE) start_successor();
		}
		copies_commit();
	};
#pragma unroll
	for (int s = 0; s < STAGES - 1; s++) issue(s);
	for (u32 i = thread(); i < mine; i += WARPS * 32) store_shared(sums + i * 4, 0);
	if (DOWN && order) wait_predecessor();
	if (order == EARLY || order == LATE && count == 0) start_successor();
	const u32 vectors = units * PIECES * 32;
	for (u32 i = thread(); i < vectors; i += WARPS * 128) {
		uint4 v[4];
#pragma unroll
		for (int k = 0; k < 4; k++)
			if (i + k * WARPS * 32 < vectors) v[k] = load_l2(x + (i + k * WARPS * 32) * 16);
#pragma unroll
		for (int k = 0; k < 4; k++)
			if (i + k * WARPS * 32 < vectors) store_shared16(xs + (i + k * WARPS * 32) * 16, v[k]);
	}
	barrier();

	u32 slot = 0, free = STAGES - 1;
	float sum[PIECES];
#pragma unroll
	for (int c = 0; c < PIECES; c++) sum[c] = 0;
	auto finish_row = [&]() INLINE {
		float v = 0;
#pragma unroll
		for (int c = 0; c < PIECES; c++) {
			v += sum[c];
			sum[c] = 0;
		}
		for (int m = 16; m; m >>= 1) v += shuffle_xor(v, m);
		if (lane == 0) add_shared(sums + row * 4, v);
	};
#pragma unroll 1
	for (u32 i = 0; i < count; i++) {
		copies_wait<STAGES - 2>();
		uint4 q[PIECES];
#pragma unroll
		for (int c = 0; c < PIECES; c++) q[c] = load_shared16(ring + slot * UNIT + c * 512);
		issue(free);
		if (++free == STAGES) free = 0;
		if (++slot == STAGES) slot = 0;
#pragma unroll
		for (int c = 0; c < PIECES; c++) sum[c] = dot8(q[c], load_shared16(xs + unit * UNIT + c * 512 + lane * 16), sum[c]);
		if (++unit == units) {
			finish_row();
			unit = 0;
			row++;
		}
	}
	if (unit) finish_row();
	barrier();
	if (DOWN) {
		for (u32 i = thread(); i < mine; i += WARPS * 32) ((float *)y)[row0 + i] = load_shared(sums + i * 4);
		return;
	}
	for (u32 i = thread(); i < mine / 2; i += WARPS * 32) {
		const float share = load_l2_float(shares + (row0 + 2 * i) / e.rows);
		const float v = share * swiglu(load_shared(sums + i * 8), load_shared(sums + i * 8 + 4));
		((u16 *)y)[row0 / 2 + i] = (u16)pack_bf16(v, 0);
	}
}

#define EXPERTS(name, down, pieces, warps, stages, resident) \
	KERNEL __launch_bounds__(warps * 32, resident) bf16_experts_##name##_##pieces##_##warps##x##stages( \
	    const char *w, const u32 *ids, u64 size, u32 chosen, u32 rows, u32 units, const float *shares, const char *x, void *y, u32 order) { \
		multiply<down, pieces, warps, stages>({w, ids, size, chosen, rows, units}, shares, x, y, order); \
	}
EXPERTS(up, false, 4, 16, 4, 1)
EXPERTS(up, false, 4, 8, 4, 2)
EXPERTS(down, true, 3, 16, 5, 1)
EXPERTS(down, true, 3, 8, 5, 2)
