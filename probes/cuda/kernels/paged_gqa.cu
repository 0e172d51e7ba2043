// Decode attention with groups of query heads, over a cache in pages: of each
// page, token after token the rows of all key and value heads. A table says where
// a sequence's pages lie, a plan which tokens a block has. Tokens before a
// sliding window are skipped.
#include "gqa.h"

template <int ROW, int PAGE> struct Pages {
	static constexpr u32 begin = 0;
	const u32 *table;
	u32 stride, middle, end; // bytes of a token; tiles of the first piece, of both
	Piece one, two;

	DEVICE_MEMBER static u32 first(const Piece &p) { return p.skip / TILE; }
	DEVICE_MEMBER static u32 tiles(const Piece &p) { return (p.tokens + TILE - 1) / TILE - first(p); }
	DEVICE_MEMBER Pages(const Piece *plan, const u32 *first_piece, const u32 *table, u32 heads) : table(table), stride(heads * ROW) {
		const u32 at = first_piece[block()], last = first_piece[block() + 1] - 1;
		one = plan[at];
		two = plan[last];
		middle = tiles(one);
		end = at < last ? middle + tiles(two) : middle;
	}
	DEVICE_MEMBER const Piece &piece(u32 c) const { return c < middle ? one : two; }
	DEVICE_MEMBER u32 tile(u32 c) const { return c - (c < middle ? 0 : middle) + first(piece(c)); }
	DEVICE_MEMBER u64 at(u32 c) const {
		const u32 token = tile(c) * TILE;
		return ((u64)table[piece(c).page + token / PAGE] * PAGE + token % PAGE) * stride + piece(c).row * ROW % stride;
	}
	DEVICE_MEMBER u32 skip(u32 c) const {
		const u32 skip = piece(c).skip, from = tile(c) * TILE;
		return skip > from ? skip - from : 0;
	}
	DEVICE_MEMBER u32 rows(u32 c) const { return piece(c).tokens - tile(c) * TILE; }
	DEVICE_MEMBER u32 segment(u32 c) const { return c < middle ? 0 : 1; }
	DEVICE_MEMBER u32 row(u32 segment) const { return segment == 0 ? one.row : two.row; }
	DEVICE_MEMBER u32 slot(u32 segment) const { return segment == 0 ? one.slot : two.slot; }
};

#define GQA(name, Format, page, warps, stages) \
	KERNEL __launch_bounds__(warps * 32, 1) name##_gqa_##page##_##warps##x##stages(const char *q, const char *k, const char *v, u32 *out, float *parts, \
	    const Piece *plan, const u32 *first, const u32 *table, u32 heads, float scale, float value_scale, u32 order) { \
		attend<Format, warps, stages>(Pages<Format::ROW, page>(plan, first, table, heads), q, k, v, out, parts, scale, value_scale, order); \
	}
GQA(bf16, Bf16, 16, 8, 2)
GQA(bf16, Bf16, 16, 8, 3)
GQA(bf16, Bf16, 64, 8, 2)
GQA(bf16, Bf16, 64, 8, 3)
GQA(e4m3, E4m3, 16, 8, 4)
GQA(e4m3, E4m3, 16, 8, 6)
GQA(e4m3, E4m3, 64, 8, 4)
GQA(e4m3, E4m3, 64, 8, 6)

KERNEL __launch_bounds__(DIM / 4, 1) paged_gqa_join(u32 *out, const float *parts, const Join *joins, u32 order) { join<GROUP, DIM, 1>(out, parts, joins, order); }
