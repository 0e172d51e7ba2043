// Attention whose cache lies in pages, shared among blocks by a plan that the
// host has made: each block has some pieces, a piece is a run of tokens of one
// sequence for one set of rows (query heads that read the same cache). A set
// that one piece covers is written at once, others are joined from slots.
#pragma once
#include "device.h"

struct alignas(16) Piece {
	u32 page;   // where in the table its pages begin; pieces begin with a page
	u32 tokens; // from the page's first on
	u32 row;    // which set of rows
	u32 slot;   // of the parts, or DIRECT
	u32 skip;   // tokens at the beginning, before the window
	u32 unused[3];
};
static_assert(sizeof(Piece) == 32);
#define DIRECT ~0u
#define NONE -1e30f // below every score

// A walk over the tiles of a block's pieces.
template <int TILE, int PAGE> struct Walk {
	const Piece *plan;
	const u32 *table;
	u32 at, end, tile;
	Piece piece;
	u32 page; // the tile's, loaded when the walk gets there and not when it is needed

	DEVICE_MEMBER Walk(const Piece *plan, const u32 *first, const u32 *table) : plan(plan), table(table), at(first[block()]), end(first[block() + 1]), tile(0) { arrive(); }
	DEVICE_MEMBER bool more() const { return at < end; }
	DEVICE_MEMBER u32 left() const { return piece.tokens - tile * TILE; } // tokens from this tile on
	DEVICE_MEMBER bool last() const { return left() <= TILE; }
	DEVICE_MEMBER u64 token() const { return (u64)page * PAGE + tile * TILE % PAGE; } // in the cache
	DEVICE_MEMBER void next() {
		if (!last()) {
			tile++;
			page = table[piece.page + tile * TILE / PAGE];
			return;
		}
		at++;
		tile = 0;
		arrive();
	}

private:
	DEVICE_MEMBER void arrive() {
		if (at >= end) return;
		piece = plan[at];
		page = table[piece.page];
	}
};

// A slot: ROWS maxima (of scores in powers of two), ROWS sums, ROWS × DIM
// values not yet divided by the sums.
template <int ROWS, int DIM> DEVICE float *slot_of(float *parts, u32 slot) { return parts + (u64)slot * ROWS * (DIM + 2); }

struct Join {
	u32 row, slot, count, unused; // slots one after another
};

// Joins the slots of a set of rows: a block for each row, four values a thread.
template <int ROWS, int DIM> DEVICE void join(u32 *out, const float *parts, const Join *joins, u32 order) {
	if (order) {
		start_successor();
		wait_predecessor();
	}
	const Join j = joins[block() / ROWS];
	const u32 row = block() % ROWS, e = thread() * 4;
	float most = NONE, sum = 0, a[4] = {0, 0, 0, 0};
	// Eight slots at a time, all of their loads under way at once.
	for (u32 b = 0; b < j.count; b += 8) {
		float m[8], l[8];
		uint4 v[8];
#pragma unroll
		for (u32 i = 0; i < 8; i++) {
			m[i] = NONE;
			l[i] = 0;
			v[i] = uint4{0, 0, 0, 0};
			if (b + i < j.count) {
				const float *p = parts + (u64)(j.slot + b + i) * ROWS * (DIM + 2);
				m[i] = load_l2_float(p + row);
				l[i] = load_l2_float(p + ROWS + row);
				v[i] = load_l2(p + 2 * ROWS + row * DIM + e);
			}
		}
		float now = most;
#pragma unroll
		for (int i = 0; i < 8; i++) now = maximum(now, m[i]);
		const float f = exp2_approx(most - now);
		most = now;
		sum *= f;
#pragma unroll
		for (int k = 0; k < 4; k++) a[k] *= f;
#pragma unroll
		for (int i = 0; i < 8; i++) {
			const float x = exp2_approx(m[i] - most);
			sum = fma(x, l[i], sum);
			a[0] = fma(x, bits_float(v[i].x), a[0]);
			a[1] = fma(x, bits_float(v[i].y), a[1]);
			a[2] = fma(x, bits_float(v[i].z), a[2]);
			a[3] = fma(x, bits_float(v[i].w), a[3]);
		}
	}
	const float x = 1 / sum;
	u32 *to = out + ((u64)(j.row * ROWS + row) * DIM + e) / 2;
	to[0] = pack_bf16(a[0] * x, a[1] * x);
	to[1] = pack_bf16(a[2] * x, a[3] * x);
}
