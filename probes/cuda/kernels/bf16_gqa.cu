// Decode attention with groups of query heads, over a cache in one stretch. Keys
// and values are bfloat16, sequence after sequence and head after head, `tokens`
// rows of 128 each. All rows are tiles of 16 tokens in one sequence that the
// blocks divide evenly.
//
// A second kernel joins the parts of heads that several blocks share.
#include "gqa.h"

// The first and the last block of the grid that have tiles of a head.
struct Range { u32 first, last; };
DEVICE Range of_head(u32 head, u32 tiles, u32 heads, u32 grid) {
	const u64 all = (u64)heads * tiles;
	return {(u32)((((u64)head * tiles + 1) * grid - 1) / all), (u32)(((u64)(head + 1) * tiles * grid - 1) / all)};
}
DEVICE u32 first_tile(u32 b, u32 tiles, u32 heads, u32 grid) { return (u32)((u64)b * heads * tiles / grid); }

// A block's tiles are numbers of that sequence.
struct Stretch {
	u32 heads, tokens, tiles, begin, end;
	static constexpr u32 stride = Bf16::ROW;

	DEVICE_MEMBER Stretch(u32 heads, u32 tokens, u32 tiles)
	    : heads(heads), tokens(tokens), tiles(tiles), begin(first_tile(block(), tiles, heads, blocks())), end(first_tile(block() + 1, tiles, heads, blocks())) {}
	DEVICE_MEMBER u64 at(u32 c) const { return ((u64)(c / tiles) * tokens + c % tiles * TILE) * stride; }
	DEVICE_MEMBER u32 skip(u32) const { return 0; }
	DEVICE_MEMBER u32 rows(u32 c) const { return tokens - c % tiles * TILE; }
	DEVICE_MEMBER u32 segment(u32 c) const { return c / tiles - begin / tiles; }
	DEVICE_MEMBER u32 row(u32 segment) const { return begin / tiles + segment; }
	DEVICE_MEMBER u32 slot(u32 segment) const {
		const Range r = of_head(row(segment), tiles, heads, blocks());
		return r.first == r.last ? DIRECT : block() * SEGMENTS + segment;
	}
};

#define GQA(warps, stages) \
	KERNEL __launch_bounds__(warps * 32, 1) bf16_gqa_##warps##x##stages(const char *q, const char *k, const char *v, u32 *out, float *parts, \
	                                                                  u32 heads, u32 tokens, u32 tiles, float scale, u32 order) { \
		attend<Bf16, warps, stages>(Stretch(heads, tokens, tiles), q, k, v, out, parts, scale, 1, order); \
	}
GQA(8, 2)
GQA(8, 3)
GQA(10, 2)

// Joins the parts of each head that `grid` blocks of the kernel above have.
// Two values a thread, a block for each query head.
KERNEL __launch_bounds__(DIM / 2, 1) bf16_gqa_join(u32 *out, const float *parts, u32 heads, u32 tiles, u32 grid, u32 order) {
	if (order) {
		start_successor();
		wait_predecessor();
	}
	const u32 head = block() / GROUP, h = block() % GROUP, e = h * DIM + thread() * 2;
	const Range r = of_head(head, tiles, heads, grid);
	if (r.first == r.last) return;
	auto part = [&](u32 b) INLINE {
		const u32 segment = b == r.first ? head - first_tile(b, tiles, heads, grid) / tiles : 0;
		return parts + ((u64)b * SEGMENTS + segment) * SLOT;
	};
	float most = NONE, sum = 0, a0 = 0, a1 = 0;
	// Sixteen parts at a time, all of their loads under way at once.
	for (u32 b = r.first; b <= r.last; b += 16) {
		float m[16], l[16], v0[16], v1[16];
#pragma unroll
		for (u32 i = 0; i < 16; i++) {
			m[i] = NONE;
			l[i] = v0[i] = v1[i] = 0;
			if (b + i <= r.last) {
				const float *p = part(b + i);
				m[i] = load_l2_float(p + h);
				l[i] = load_l2_float(p + GROUP + h);
				const uint2 pair = load_l2_pair(p + 2 * GROUP + e);
				v0[i] = bits_float(pair.x);
				v1[i] = bits_float(pair.y);
			}
		}
		float now = most;
#pragma unroll
		for (int i = 0; i < 16; i++) now = maximum(now, m[i]);
		const float f = exp2_approx(most - now);
		sum *= f;
		a0 *= f;
		a1 *= f;
		most = now;
#pragma unroll
		for (int i = 0; i < 16; i++) {
			const float x = exp2_approx(m[i] - most);
			sum = fma(x, l[i], sum);
			a0 = fma(x, v0[i], a0);
			a1 = fma(x, v1[i], a1);
		}
	}
	out[(head * GROUP * DIM + e) / 2] = pack_bf16(a0 / sum, a1 / sum);
}
