// The walk of a warp over the weights of the experts that a router chose for
// one token: through rows of several experts one after another (up), or along
// a row that is made of one piece of each expert (down).
#pragma once
#include "device.h"

// What a token's experts multiply with. Weights of an expert are `size` bytes
// at w + id·size.
struct Experts {
	const char *w;
	const u32 *ids; // chosen, at most 32
	u64 size;
	u32 chosen;
	u32 rows;  // up: of one expert, in rows or tiles; down: of the output
	u32 units; // of a row; down: of one expert's piece of it
};

template <bool DOWN, int UNIT> struct Walk {
	u32 id; // lane l: of the l-th expert
	u32 expert, row, unit;
	const char *next;

	// Begins at a unit of a row, both counted over all experts. Whole warps only.
	DEVICE_MEMBER void begin(const Experts &e, u32 at_row, u32 at_unit) {
		id = thread() % 32 < e.chosen ? load_l2_word(e.ids + thread() % 32) : 0;
		if (DOWN) {
			expert = at_unit / e.units;
			row = at_row;
			unit = at_unit - expert * e.units;
		} else {
			expert = at_row / e.rows;
			row = at_row - expert * e.rows;
			unit = at_unit;
		}
		seek(e);
	}
	DEVICE_MEMBER void seek(const Experts &e) {
		next = e.w + (u64)shuffle(id, expert) * e.size + ((u64)row * e.units + unit) * UNIT;
	}
	// Goes on to the next unit.
	DEVICE_MEMBER void step(const Experts &e) {
		next += UNIT;
		if (++unit < e.units) return;
		unit = 0;
		if (DOWN) {
			if (++expert == e.chosen) {
				expert = 0;
				row++;
			}
			seek(e);
		} else if (++row == e.rows) {
			row = 0;
			if (++expert < e.chosen) seek(e);
		}
	}
};

// silu(gate)·up
DEVICE float swiglu(float gate, float up) { return gate / (1.f + exp2_approx(-1.4426950408889634f * gate)) * up; }
