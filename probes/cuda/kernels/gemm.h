// What products of a matrix with a few tokens have in common, in every format
// of weights: weights are operand A of the tensor cores, 16 rows at a time, and
// tokens are the columns of B, eight at a time.
//
// A block has GROUPS·TILES·16 rows. In each step it goes on by PARTS units of
// columns: warp (g, p) multiplies the tiles of group g with unit p. Activations
// of a step come by the same ring of copies as weights, for all warps; a barrier
// a step keeps it. Sums stay in registers to the end, and there the parts are
// added up in shared memory.
#pragma once
#include "device.h"

// Where 16 bytes of activations lie in a row of a step, so that a quarter warp
// finds its eight in different banks.
DEVICE u32 wide_chunk(u32 c, u32 token) { return c ^ (c >> 3 & 1) ^ (token & 1) << 1; } // read 64 bytes apart
DEVICE u32 pair_chunk(u32 c, u32 row) { return c ^ (row & 1); }                         // read 32 bytes apart
DEVICE u32 near_chunk(u32 c, u32 row) { return c ^ (row & 1) << 2; }                    // read side by side

// The sums of a warp: of tile i and tokens 8·n on, as the tensor cores leave
// them: rows g and g + 8, tokens 2·t and 2·t + 1.
template <int TILES, int EIGHTS> struct Sums {
	float c[TILES][EIGHTS][4];

	DEVICE_MEMBER void clear() {
#pragma unroll
		for (int i = 0; i < TILES; i++)
#pragma unroll
			for (int n = 0; n < EIGHTS; n++) c[i][n][0] = c[i][n][1] = c[i][n][2] = c[i][n][3] = 0;
	}
	// Adds the sums of the parts up; shared memory of (PARTS-1)·GROUPS·TILES·EIGHTS·512.
	template <int GROUPS, int PARTS> DEVICE_MEMBER void join(u32 memory, u32 group, u32 part) {
		if (PARTS == 1) return;
		const u32 lane = thread() % 32;
		barrier(); // the ring is over
#pragma unroll
		for (int i = 0; i < TILES; i++)
#pragma unroll
			for (int n = 0; n < EIGHTS; n++) {
				const u32 at = memory + ((group * TILES + i) * EIGHTS + n) * 512 + lane * 16;
				if (part > 0)
					store_shared16(at + (part - 1) * GROUPS * TILES * EIGHTS * 512,
					    uint4{float_bits(c[i][n][0]), float_bits(c[i][n][1]), float_bits(c[i][n][2]), float_bits(c[i][n][3])});
			}
		barrier();
		if (part > 0) return;
#pragma unroll
		for (int p = 1; p < PARTS; p++)
#pragma unroll
			for (int i = 0; i < TILES; i++)
#pragma unroll
				for (int n = 0; n < EIGHTS; n++) {
					const uint4 v = load_shared16(memory + (((p - 1) * GROUPS + group) * TILES + i) * EIGHTS * 512 + n * 512 + lane * 16);
					c[i][n][0] += bits_float(v.x);
					c[i][n][1] += bits_float(v.y);
					c[i][n][2] += bits_float(v.z);
					c[i][n][3] += bits_float(v.w);
				}
	}
	// The same where a block's shape is known when it runs, for one tile of a warp.
	DEVICE_MEMBER void gather(u32 memory, u32 groups, u32 parts, u32 group, u32 part) {
		const u32 at = memory + thread() % 32 * 16, many = groups * parts * 32;
		barrier(many);
		if (part > 0)
#pragma unroll
			for (int n = 0; n < EIGHTS; n++)
				store_shared16(at + (((part - 1) * groups + group) * EIGHTS + n) * 512,
				    uint4{float_bits(c[0][n][0]), float_bits(c[0][n][1]), float_bits(c[0][n][2]), float_bits(c[0][n][3])});
		barrier(many);
		if (part > 0) return;
#pragma unroll 1
		for (u32 p = 1; p < parts; p++)
#pragma unroll
			for (int n = 0; n < EIGHTS; n++) {
				const uint4 v = load_shared16(at + (((p - 1) * groups + group) * EIGHTS + n) * 512);
				c[0][n][0] += bits_float(v.x);
				c[0][n][1] += bits_float(v.y);
				c[0][n][2] += bits_float(v.z);
				c[0][n][3] += bits_float(v.w);
			}
	}
	// y is tokens × rows.
	DEVICE_MEMBER void write(float *y, u32 rows, u32 tokens, u32 row, float factor) {
		const u32 g = thread() % 32 / 4, t = thread() % 4;
#pragma unroll
		for (int i = 0; i < TILES; i++)
#pragma unroll
			for (int n = 0; n < EIGHTS; n++)
#pragma unroll
				for (int k = 0; k < 4; k++) {
					const u32 token = n * 8 + 2 * t + k % 2, r = row + i * 16 + g + k / 2 * 8;
					if (token < tokens && r < rows) y[(u64)token * rows + r] = c[i][n][k] * factor;
				}
	}
};

// The steps of a block, each read while others are under way: weights may come
// before the launch before has ended, activations not. multiply is told the
// step; a warp whose unit lies behind the last waits for the others.
template <int STAGES, int PARTS, class Weights, class Activations, class Multiply>
DEVICE void pipeline(u32 steps, u32 units, u32 part, u32 order, Weights issue_w, Activations issue_x, Multiply multiply) {
#pragma unroll
	for (u32 s = 0; s < STAGES - 1; s++) issue_w(s);
	if (order) wait_predecessor();
	if (order == EARLY) start_successor();
#pragma unroll
	for (u32 s = 0; s < STAGES - 1; s++) {
		issue_x(s);
		copies_commit();
	}
#pragma unroll 1
	for (u32 step = 0; step < steps; step++) {
		copies_wait<STAGES - 2>();
		barrier(); // what all copied is there, and what the step before read is free
		issue_w(step + STAGES - 1);
		issue_x(step + STAGES - 1);
		copies_commit();
		if (order == LATE && step + STAGES == steps) start_successor();
		if (step * PARTS + part >= units) continue;
		multiply(step);
	}
}
