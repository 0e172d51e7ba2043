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

// Four values of one row, joined from slots.
struct Joined {
	float most = NONE, sum = 0, a[4] = {0, 0, 0, 0};

	DEVICE_MEMBER void scale_to(float now) {
		const float f = exp2_approx(most - now);
		most = now;
		sum *= f;
#pragma unroll
		for (int k = 0; k < 4; k++) a[k] *= f;
	}
	DEVICE_MEMBER void add(float m, float l, const float *v) {
		const float x = exp2_approx(m - most);
		sum = fma(x, l, sum);
#pragma unroll
		for (int k = 0; k < 4; k++) a[k] = fma(x, v[k], a[k]);
	}
	// Values e on of a row, from every step-th of so many slots: slot(i) is the
	// i-th. Eight at a time, all of their loads under way at once.
	template <int ROWS, int DIM, class Slot> DEVICE_MEMBER void read(const float *parts, u32 count, u32 first, u32 step, u32 row, u32 e, Slot slot) {
		for (u32 b = first; b < count; b += 8 * step) {
			float m[8], l[8], v[8][4];
#pragma unroll
			for (u32 i = 0; i < 8; i++) {
				m[i] = NONE;
				l[i] = v[i][0] = v[i][1] = v[i][2] = v[i][3] = 0;
				if (b + i * step < count) {
					const float *p = parts + (u64)slot(b + i * step) * ROWS * (DIM + 2);
					m[i] = load_l2_float(p + row);
					l[i] = load_l2_float(p + ROWS + row);
					const uint4 four = load_l2(p + 2 * ROWS + row * DIM + e);
					v[i][0] = bits_float(four.x);
					v[i][1] = bits_float(four.y);
					v[i][2] = bits_float(four.z);
					v[i][3] = bits_float(four.w);
				}
			}
			float now = most;
#pragma unroll
			for (int i = 0; i < 8; i++) now = maximum(now, m[i]);
			scale_to(now);
#pragma unroll
			for (int i = 0; i < 8; i++) add(m[i], l[i], v[i]);
		}
	}
	// Adds what threads of the same lane have up, for those of way 0; all of the
	// block take part. Shared memory of (WAYS - 1)·LANES·6 floats.
	template <int WAYS, int LANES> DEVICE_MEMBER void combine(float *shared, u32 lane, u32 way) {
		if (way > 0 && way < WAYS) {
			float *p = shared + ((way - 1) * LANES + lane) * 6;
			p[0] = most;
			p[1] = sum;
#pragma unroll
			for (int k = 0; k < 4; k++) p[2 + k] = a[k];
		}
		barrier();
		if (way > 0) return;
		float now = most;
#pragma unroll
		for (int w = 0; w < WAYS - 1; w++) now = maximum(now, shared[(w * LANES + lane) * 6]);
		scale_to(now);
#pragma unroll
		for (int w = 0; w < WAYS - 1; w++) {
			const float *p = shared + (w * LANES + lane) * 6;
			add(p[0], p[1], p + 2);
		}
	}
	DEVICE_MEMBER void write(u32 *to) const {
		const float x = 1 / sum;
		to[0] = pack_bf16(a[0] * x, a[1] * x);
		to[1] = pack_bf16(a[2] * x, a[3] * x);
	}
};

// Joins the slots of sets of rows: a block for each row, WAYS threads for the
// same values.
template <int ROWS, int DIM, int WAYS> DEVICE void join(u32 *out, const float *parts, const Join *joins, u32 order) {
	__shared__ float shared[(WAYS > 1 ? WAYS - 1 : 1) * DIM / 4 * 6];
	if (order) {
		start_successor();
		wait_predecessor();
	}
	const Join j = joins[block() / ROWS];
	const u32 row = block() % ROWS, lane = thread() % (DIM / 4), way = thread() / (DIM / 4);
	Joined mine;
	mine.read<ROWS, DIM>(parts, j.count, way, WAYS, row, lane * 4, [&](u32 i) INLINE { return j.slot + i; });
	if (WAYS > 1) mine.combine<WAYS, DIM / 4>(shared, lane, way);
	if (way == 0) mine.write(out + ((u64)(j.row * ROWS + row) * DIM + lane * 4) / 2);
}
