// y = W·x for up to 64 tokens: W of rows × cols E4M3 in the units of fp8.h with
// their scales apart, x binary16, tokens (to a multiple of eight) × cols, y
// float32, tokens × rows. A unit's products are summed up in float32 and then
// multiplied with its scale, which is one for all of its 128 columns.
#include "fp8.h"
#include "gemm.h"

enum { COLUMNS = 2 * FP8::COLUMNS }; // bytes of a token's x in a unit

template <int TILES, int EIGHTS, int GROUPS, int PARTS, int STAGES>
DEVICE void gemm(const char *w, const char *scales, const char *x, float *y, u32 rows, u32 units, u32 tokens, u32 order) {
	constexpr int WARPS = GROUPS * PARTS, MINE = TILES * FP8::SLOT, STEP = EIGHTS * 8 * COLUMNS;
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
			if (tile + i < tiles)
				FP8::copy(to + i * FP8::SLOT, w + ((u64)(tile + i) * units + unit) * FP8::BYTES, scales + ((tile + i) / FP8::BLOCK * units + unit) * 4);
	};
	auto issue_x = [&](u32 step) INLINE {
		if (step >= steps) return;
		const u32 to = xs + step % STAGES * PARTS * STEP;
		for (u32 i = 2 * warp + half; i < EIGHTS * 8 * PARTS; i += 2 * WARPS) {
			const u32 p = i / (EIGHTS * 8), token = i % (EIGHTS * 8), unit = step * PARTS + p;
			if (unit < units) copy16(to + p * STEP + token * COLUMNS + pair_chunk(chunk, token) * 16, x + ((u64)token * units + unit) * COLUMNS + chunk * 16);
		}
	};
	Sums<TILES, EIGHTS> sums;
	sums.clear();
	pipeline<STAGES, PARTS>(steps, units, part, order, issue_w, issue_x, [&](u32 step) INLINE {
		const u32 from = ring + step % STAGES * MINE, at = xs + (step % STAGES * PARTS + part) * STEP;
		u32 a[TILES][8][4];
		float scale[TILES];
#pragma unroll
		for (int i = 0; i < TILES; i++) {
			FP8 weights;
			weights.load(from + i * FP8::SLOT);
			FP8::operand(weights.w[0], weights.w[1], a[i]);
			FP8::operand(weights.w[2], weights.w[3], a[i] + 4);
			scale[i] = weights.scale;
		}
#pragma unroll
		for (int n = 0; n < EIGHTS; n++) {
			float c[TILES][2][4];
#pragma unroll
			for (int k = 0; k < 4; k++) {
				const uint4 b = load_shared16(at + (n * 8 + g) * COLUMNS + pair_chunk(k / 2 * 8 + t * 2 + k % 2, g) * 16);
#pragma unroll
				for (int i = 0; i < TILES; i++) {
					float *s = c[i][k % 2];
					if (k < 2) s[0] = s[1] = s[2] = s[3] = 0;
					mma_f16(s, a[i][2 * k][0], a[i][2 * k][1], a[i][2 * k][2], a[i][2 * k][3], b.x, b.y);
					mma_f16(s, a[i][2 * k + 1][0], a[i][2 * k + 1][1], a[i][2 * k + 1][2], a[i][2 * k + 1][3], b.z, b.w);
				}
			}
#pragma unroll
			for (int i = 0; i < TILES; i++)
#pragma unroll
				for (int k = 0; k < 4; k++) sums.c[i][n][k] = fma(c[i][0][k] + c[i][1][k], scale[i], sums.c[i][n][k]);
		}
	});
	sums.template join<GROUPS, PARTS>(shared_address(memory), group, part);
	if (part == 0) sums.write(y, rows, tokens, tile * 16, FP8::FACTOR);
}

#define GEMM(tiles, eights, groups, parts, stages) \
	KERNEL __launch_bounds__(groups * parts * 32, 1) fp8_gemm_##tiles##_##eights##_##groups##x##parts##x##stages( \
	    const char *w, const char *scales, const char *x, float *y, u32 rows, u32 units, u32 tokens, u32 order) { \
		gemm<tiles, eights, groups, parts, stages>(w, scales, x, y, rows, units, tokens, order); \
	}
// Two blocks of a multiprocessor, which do not wait for each other's barriers.
#define TWO(tiles, eights, groups, parts, stages) \
	KERNEL __launch_bounds__(groups * parts * 32, 2) fp8_gemm_two_##tiles##_##eights##_##groups##x##parts##x##stages( \
	    const char *w, const char *scales, const char *x, float *y, u32 rows, u32 units, u32 tokens, u32 order) { \
		gemm<tiles, eights, groups, parts, stages>(w, scales, x, y, rows, units, tokens, order); \
	}
#define SHAPES(eights, deep) \
	TWO(1, eights, 7, 1, 4) \
	GEMM(1, eights, 14, 1, deep) \
	GEMM(2, eights, 7, 1, 4) \
	GEMM(1, eights, 7, 2, 4) \
	GEMM(1, eights, 3, 4, 4)
SHAPES(1, 6)
SHAPES(2, 6)
SHAPES(4, 5)
GEMM(1, 8, 14, 1, 4)
GEMM(2, 8, 7, 1, 3)
GEMM(1, 8, 7, 2, 3)
