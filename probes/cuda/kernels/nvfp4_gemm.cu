// y = factor·W·x for up to 64 tokens: W of rows × cols NVFP4 in the units of
// nvfp4.h, x binary16, tokens (to a multiple of eight) × cols, y float32,
// tokens × rows. Each weight is multiplied with its scale in binary16, which
// holds the product exactly, and then with every token.
#include "gemm.h"
#include "nvfp4.h"

template <int TILES, int EIGHTS, int GROUPS, int PARTS, int STAGES>
DEVICE void gemm(const char *w, const char *x, float *y, u32 rows, u32 units, u32 tokens, float factor, u32 order) {
	constexpr int WARPS = GROUPS * PARTS, MINE = TILES * UNIT, STEP = EIGHTS * 8 * 512; // of activations, of one part
	extern __shared__ char memory[];
	const u32 lane = thread() % 32, warp = thread() / 32, g = lane / 4, t = lane % 4, group = warp / PARTS, part = warp % PARTS;
	const u32 ring = shared_address(memory) + warp * STAGES * MINE, xs = shared_address(memory) + WARPS * STAGES * MINE;
	const u32 tiles = rows / 16, tile = (block() * GROUPS + group) * TILES, steps = (units + PARTS - 1) / PARTS;

	auto issue_w = [&](u32 step) INLINE {
		const u32 unit = step * PARTS + part, to = ring + step % STAGES * MINE;
		if (step >= steps || unit >= units) return;
#pragma unroll
		for (int i = 0; i < TILES; i++)
			if (tile + i < tiles) {
				const char *from = w + ((u64)(tile + i) * units + unit) * UNIT;
#pragma unroll
				for (int c = 0; c < 4; c++) copy16(to + i * UNIT + c * 512 + lane * 16, from + c * 512 + lane * 16);
				copy8(to + i * UNIT + SCALES + lane * 8, from + SCALES + lane * 8);
			}
	};
	// A token's part of a step is 32 chunks: one for each lane.
	auto issue_x = [&](u32 step) INLINE {
		if (step >= steps) return;
		const u32 to = xs + step % STAGES * PARTS * STEP;
		for (u32 i = warp; i < EIGHTS * 8 * PARTS; i += WARPS) {
			const u32 p = i / (EIGHTS * 8), token = i % (EIGHTS * 8), unit = step * PARTS + p;
			if (unit < units) copy16(to + p * STEP + token * 512 + wide_chunk(lane, token) * 16, x + ((u64)token * units + unit) * 512 + lane * 16);
		}
	};
	Sums<TILES, EIGHTS> sums;
	sums.clear();
	pipeline<STAGES, PARTS>(steps, units, part, order, issue_w, issue_x, [&](u32 step) INLINE {
		const u32 from = ring + step % STAGES * MINE, at = xs + (step % STAGES * PARTS + part) * STEP;
		uint2 scales[TILES];
#pragma unroll
		for (int i = 0; i < TILES; i++) scales[i] = load_shared8(from + i * UNIT + SCALES + lane * 8);
#pragma unroll
		for (int m = 0; m < 2; m++) {
			uint4 low[TILES], high[TILES];
#pragma unroll
			for (int i = 0; i < TILES; i++) {
				low[i] = load_shared16(from + i * UNIT + (2 * m) * 512 + lane * 16);
				high[i] = load_shared16(from + i * UNIT + (2 * m + 1) * 512 + lane * 16);
			}
#pragma unroll
			for (int q = 0; q < 4; q++) {
				u32 a[TILES][2][4];
#pragma unroll
				for (int i = 0; i < TILES; i++) {
					const Scales s(m ? scales[i].y : scales[i].x);
					weights_of(word(low[i], q), word(high[i], q), q < 2 ? s.first : s.second, a[i]);
				}
#pragma unroll
				for (int n = 0; n < EIGHTS; n++) {
					const u32 token = n * 8 + g;
					const uint4 b = load_shared16(at + token * 512 + wide_chunk(m * 16 + t * 4 + q, token) * 16);
#pragma unroll
					for (int i = 0; i < TILES; i++) {
						mma_f16(sums.c[i][n], a[i][0], b.x, b.y);
						mma_f16(sums.c[i][n], a[i][1], b.z, b.w);
					}
				}
			}
		}
	});
	sums.template join<GROUPS, PARTS>(shared_address(memory), group, part);
	if (part == 0) sums.write(y, rows, tokens, tile * 16, factor * 256);
}

#define GEMM(tiles, eights, groups, parts, stages) \
	KERNEL __launch_bounds__(groups * parts * 32, 1) nvfp4_gemm_##tiles##_##eights##_##groups##x##parts##x##stages( \
	    const char *w, const char *x, float *y, u32 rows, u32 units, u32 tokens, float factor, u32 order) { \
		gemm<tiles, eights, groups, parts, stages>(w, x, y, rows, units, tokens, factor, order); \
	}
// Two blocks of a multiprocessor, which do not wait for each other's barriers.
#define TWO(tiles, eights, groups, parts, stages) \
	KERNEL __launch_bounds__(groups * parts * 32, 2) nvfp4_gemm_two_##tiles##_##eights##_##groups##x##parts##x##stages( \
	    const char *w, const char *x, float *y, u32 rows, u32 units, u32 tokens, float factor, u32 order) { \
		gemm<tiles, eights, groups, parts, stages>(w, x, y, rows, units, tokens, factor, order); \
	}
#define SHAPES(eights) \
	TWO(1, eights, 7, 1, 4) \
	GEMM(2, eights, 7, 1, 4) \
	GEMM(1, eights, 14, 1, 4) \
	GEMM(1, eights, 7, 2, 4) \
	GEMM(1, eights, 3, 4, 3) \
	GEMM(1, eights, 3, 2, 4)
SHAPES(1)
SHAPES(2)
SHAPES(4)
GEMM(2, 8, 7, 1, 3)
GEMM(1, 8, 14, 1, 3)
GEMM(1, 8, 3, 2, 3)
