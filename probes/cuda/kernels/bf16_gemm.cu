// y = W·x for up to 64 tokens: W of rows × cols bfloat16 in rows, x bfloat16,
// tokens (to a multiple of eight) × cols, y float32, tokens × rows.
#include "gemm.h"

// A unit is 16 rows × 128 columns: 256 bytes of each row.
enum { UNIT = 4096, COLUMNS = 256 };

template <int TILES, int EIGHTS, int GROUPS, int PARTS, int STAGES>
DEVICE void gemm(const char *w, const char *x, float *y, u32 rows, u32 units, u32 tokens, u32 order) {
	constexpr int WARPS = GROUPS * PARTS, MINE = TILES * UNIT, STEP = EIGHTS * 8 * COLUMNS;
	extern __shared__ char memory[];
	const u32 lane = thread() % 32, warp = thread() / 32, g = lane / 4, t = lane % 4, group = warp / PARTS, part = warp % PARTS;
	const u32 ring = shared_address(memory) + warp * STAGES * MINE, xs = shared_address(memory) + WARPS * STAGES * MINE;
	const u32 tiles = rows / 16, tile = (block() * GROUPS + group) * TILES, steps = (units + PARTS - 1) / PARTS;
	const u32 half = lane / 16, chunk = lane % 16;

	auto issue_w = [&](u32 step) INLINE {
		const u32 unit = step * PARTS + part, to = ring + step % STAGES * MINE;
		if (step >= steps || unit >= units) return;
#pragma unroll
		for (int i = 0; i < TILES; i++)
			if (tile + i < tiles) {
				const char *from = w + ((u64)(tile + i) * 16 * units + unit) * COLUMNS + chunk * 16;
#pragma unroll
				for (int c = 0; c < 8; c++) {
					const u32 row = 2 * c + half;
					copy16(to + i * UNIT + row * COLUMNS + near_chunk(chunk, row) * 16, from + (u64)row * units * COLUMNS);
				}
			}
	};
	auto issue_x = [&](u32 step) INLINE {
		if (step >= steps) return;
		const u32 to = xs + step % STAGES * PARTS * STEP;
		for (u32 i = 2 * warp + half; i < EIGHTS * 8 * PARTS; i += 2 * WARPS) {
			const u32 p = i / (EIGHTS * 8), token = i % (EIGHTS * 8), unit = step * PARTS + p;
			if (unit < units) copy16(to + p * STEP + token * COLUMNS + near_chunk(chunk, token) * 16, x + ((u64)token * units + unit) * COLUMNS + chunk * 16);
		}
	};
	Sums<TILES, EIGHTS> sums;
	sums.clear();
	pipeline<STAGES, PARTS>(steps, units, part, order, issue_w, issue_x, [&](u32 step) INLINE {
		const u32 from = ring + step % STAGES * MINE, at = xs + (step % STAGES * PARTS + part) * STEP;
		// Of 32 columns lane t has eight in a row: two steps of the tensor cores,
		// whose columns are taken in that order from weights and activations.
#pragma unroll
		for (int k = 0; k < 4; k++) {
			uint4 low[TILES], high[TILES];
#pragma unroll
			for (int i = 0; i < TILES; i++) {
				low[i] = load_shared16(from + i * UNIT + g * COLUMNS + near_chunk(k * 4 + t, g) * 16);
				high[i] = load_shared16(from + i * UNIT + (g + 8) * COLUMNS + near_chunk(k * 4 + t, g) * 16);
			}
#pragma unroll
			for (int n = 0; n < EIGHTS; n++) {
				const uint4 b = load_shared16(at + (n * 8 + g) * COLUMNS + near_chunk(k * 4 + t, g) * 16);
#pragma unroll
				for (int i = 0; i < TILES; i++) {
					mma_bf16(sums.c[i][n], low[i].x, high[i].x, low[i].y, high[i].y, b.x, b.y);
					mma_bf16(sums.c[i][n], low[i].z, high[i].z, low[i].w, high[i].w, b.z, b.w);
				}
			}
		}
	});
	sums.template join<GROUPS, PARTS>(shared_address(memory), group, part);
	if (part == 0) sums.write(y, rows, tokens, tile * 16, 1);
}

#define GEMM(tiles, eights, groups, parts, stages) \
	KERNEL __launch_bounds__(groups * parts * 32, 1) bf16_gemm_##tiles##_##eights##_##groups##x##parts##x##stages( \
	    const char *w, const char *x, float *y, u32 rows, u32 units, u32 tokens, u32 order) { \
		gemm<tiles, eights, groups, parts, stages>(w, x, y, rows, units, tokens, order); \
	}
#define SHAPES(eights) \
	GEMM(2, eights, 7, 1, 3) \
	GEMM(1, eights, 14, 1, 3) \
	GEMM(1, eights, 7, 2, 3) \
	GEMM(1, eights, 2, 4, 4) \
	GEMM(1, eights, 3, 4, 3)
SHAPES(1)
SHAPES(2)
SHAPES(4)
GEMM(2, 8, 7, 1, 3)
GEMM(1, 8, 7, 1, 4)
GEMM(1, 8, 3, 2, 3)
