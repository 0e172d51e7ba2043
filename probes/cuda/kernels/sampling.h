// What the highest token of a row and a draw from it have in common: sizes, and
// how a row is shared among blocks.
#pragma once
#include "order.h"
#include "rows.h"

enum { BUCKETS = 1024, VECTORS = 5, MOST_PARTS = 32 };
#define LOWEST (-1e30f)
#define PER_BUCKET (1.4426950408889634f / 32) // the exponent of 2 of one bucket
#define WEIGHT 0x1p18f                        // of a token at the low end of its bucket: 10240 still fit 32 bits

// What a thread block has of a row: vectors first to last.
DEVICE void share(u32 size, u32 part, u32 parts, u32 &first, u32 &last) {
	first = (u32)((u64)(size / 4) * part / parts);
	last = (u32)((u64)(size / 4) * (part + 1) / parts);
}
