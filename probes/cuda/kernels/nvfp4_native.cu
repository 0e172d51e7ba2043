// y = W·x for up to 64 tokens, both in NVFP4, on tensor cores that multiply
// four-bit numbers with their scales themselves (compute capability 12). Not
// yet run on such a GPU.
//
// A unit is 16 rows × 256 columns in 2304 bytes: four steps of 64 columns. Of
// step s lane 4·g + t has 16 bytes of 512: of row g and of row g + 8 the columns
// 64·s + 8·t on, then of both those 32 further, the lowest column in the lowest
// nibble. Then for each row 16 bytes of scales: of each step the four.
//
// Activations of eight tokens and 256 columns are a unit of 1152 bytes: of each
// two steps a lane has 16 bytes, of token g the columns 64·s + 8·t on and those
// 32 further, of one step and of the next; then 16 bytes of scales for each
// token, as for a row.
#include "gemm.h"

enum { UNIT = 2304, SCALES = 2048, EIGHT = 1152, TOKEN_SCALES = 1024 };

// C[16×8] += A[16×64]·B[64×8] of E2M1, each 16 columns of a row times an E4M3
// scale. Scales of rows g and g + 8 come from lanes 4·g and 4·g + 1, those of
// token g from lane 4·g.
DEVICE void mma_nvfp4(float *c, uint4 a, u32 b0, u32 b1, u32 scale_a, u32 scale_b) {
	asm("mma.sync.aligned.kind::mxf4nvf4.block_scale.scale_vec::4X.m16n8k64.row.col.f32.e2m1.e2m1.f32.ue4m3 "
	    "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3}, {%10}, {0,0}, {%11}, {0,0};"
	    : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
	    : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b0), "r"(b1), "r"(scale_a), "r"(scale_b));
}

template <int TILES, int EIGHTS, int GROUPS, int PARTS, int STAGES>
DEVICE void gemm(const char *w, const char *x, float *y, u32 rows, u32 units, u32 tokens, u32 order) {
	constexpr int WARPS = GROUPS * PARTS, MINE = TILES * UNIT, STEP = EIGHTS * EIGHT;
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
	auto issue_x = [&](u32 step) INLINE {
		if (step >= steps) return;
		const u32 to = xs + step % STAGES * PARTS * STEP;
		for (u32 i = thread(); i < PARTS * STEP / 16; i += WARPS * 32) {
			const u32 p = i / (STEP / 16), n = i % (STEP / 16) / (EIGHT / 16), c = i % (EIGHT / 16), unit = step * PARTS + p;
			if (unit < units) copy16(to + i * 16, x + ((u64)n * units + unit) * EIGHT + c * 16);
		}
	};
	Sums<TILES, EIGHTS> sums;
	sums.clear();
	pipeline<STAGES, PARTS>(steps, units, part, order, issue_w, issue_x, [&](u32 step) INLINE {
		const u32 from = ring + step % STAGES * MINE, at = xs + (step % STAGES * PARTS + part) * STEP;
		uint4 scale_a[TILES], scale_b[EIGHTS];
#pragma unroll
		for (int i = 0; i < TILES; i++) scale_a[i] = load_shared16(from + i * UNIT + SCALES + (g + 8 * (t & 1)) * 16);
#pragma unroll
		for (int n = 0; n < EIGHTS; n++) scale_b[n] = load_shared16(at + n * EIGHT + TOKEN_SCALES + g * 16);
#pragma unroll
		for (int s = 0; s < 4; s += 2) {
			uint4 first[TILES], second[TILES];
#pragma unroll
			for (int i = 0; i < TILES; i++) {
				first[i] = load_shared16(from + i * UNIT + s * 512 + lane * 16);
				second[i] = load_shared16(from + i * UNIT + (s + 1) * 512 + lane * 16);
			}
#pragma unroll
			for (int n = 0; n < EIGHTS; n++) {
				const uint4 b = load_shared16(at + n * EIGHT + s / 2 * 512 + lane * 16);
#pragma unroll
				for (int i = 0; i < TILES; i++) {
					mma_nvfp4(sums.c[i][n], first[i], b.x, b.y, s ? scale_a[i].z : scale_a[i].x, s ? scale_b[n].z : scale_b[n].x);
					mma_nvfp4(sums.c[i][n], second[i], b.z, b.w, s ? scale_a[i].w : scale_a[i].y, s ? scale_b[n].w : scale_b[n].y);
				}
			}
		}
	});
	sums.template join<GROUPS, PARTS>(shared_address(memory), group, part);
	if (part == 0) sums.write(y, rows, tokens, tile * 16, 1);
}

#define GEMM(tiles, eights, groups, parts, stages) \
	KERNEL __launch_bounds__(groups * parts * 32, 1) nvfp4_native_##tiles##_##eights##_##groups##x##parts##x##stages( \
	    const char *w, const char *x, float *y, u32 rows, u32 units, u32 tokens, u32 order) { \
		gemm<tiles, eights, groups, parts, stages>(w, x, y, rows, units, tokens, order); \
	}
// For 99 KiB of shared memory a block.
#define SHAPES(eights) \
	GEMM(1, eights, 8, 1, 4) \
	GEMM(1, eights, 4, 2, 4) \
	GEMM(2, eights, 4, 1, 4) \
	GEMM(1, eights, 2, 4, 3)
SHAPES(1)
SHAPES(2)
SHAPES(4)
GEMM(1, 8, 8, 1, 3)
GEMM(2, 8, 4, 1, 3)
GEMM(1, 8, 4, 2, 2)
