// Decode attention over an MLA cache in bfloat16, by mma.sync: what every GPU
// since Ampere has.
//
// A block has 16·TILES query heads and goes over tiles of TOKENS tokens. Each
// tile lies in shared memory once for both products. Warps share scores by rows,
// tokens and columns, values by columns of 64. All 64 sums of a thread's part of
// 64 heads × 512 values would fill its registers: with 64 heads each thread has
// 128 of them, queries stay in shared memory and the columns of the scores are
// halved between warps. With 16 heads queries stay in registers.
#include "mla.h"

enum { WARPS = 8 };

template <int TILES, int TOKENS> struct Shape {
	static constexpr int HEADS = TILES * 16, STAGE = TOKENS * ROW;
	static constexpr int QUERIES = TILES > 1 ? HEADS * ROW : 0; // bytes in shared memory
	static constexpr int NT = TILES > 1 ? TOKENS / 16 : 1;      // of eight tokens, of a warp's scores
	static constexpr int WAYS = TILES > 1 ? 2 : WARPS;          // warps that share the tokens of a row
};

// Dynamic shared memory: queries, STAGES tiles, HEADS·128 for probabilities,
// (WAYS + 1)·HEADS floats.
template <int TILES, int TOKENS, int STAGES>
DEVICE void attend(const char *q, const char *cache, u32 *out, float *parts, const Piece *plan, const u32 *first, const u32 *table, float scale, u32 order) {
	typedef Shape<TILES, TOKENS> S;
	constexpr int HEADS = S::HEADS, NT = S::NT, WAYS = S::WAYS;
	static_assert(TILES > 1 || TOKENS == 8 * WARPS);
	alignas(128) extern __shared__ char memory[];
	const u32 queries = shared_address(memory), ring = queries + S::QUERIES, ps = ring + STAGES * S::STAGE;
	const u32 maxima = ps + HEADS * 128, factors = maxima + WAYS * HEADS * 4;
	const u32 lane = thread() % 32, warp = thread() / 32, g = lane / 4, t = lane % 4;
	const u32 low = lane % 16, high = lane / 16; // whose row and chunk a lane gives to load_matrices

	Walk<TOKENS, PAGE> ahead(plan, first, table), here(plan, first, table);
	auto issue = [&](u32 slot) INLINE {
		if (ahead.more()) {
			const u32 id = now(thread()), row = id / 8, chunk = id % 8, left = ahead.left();
			const char *from = cache + ahead.token() * ROW + chunk * 16;
#pragma unroll
			for (int r = 0; r < TOKENS; r += 32) {
				const bool there = row + r < left; // else zeros: what is multiplied by zero must be finite
				const char *p = from + (there ? row + r : 0) * ROW;
				const u32 to = ring + slot * S::STAGE + place<TOKENS>(row + r, chunk);
#pragma unroll
				for (int i = 0; i < GROUPS; i++) copy16_or_zero(to + i * TOKENS * 128, p + i * 128, there);
			}
			ahead.next();
		}
		copies_commit();
	};
	// Only the cache's newest rows depend on the kernels before, and those wrote
	// them earlier in a step; here the whole cache is there.
#pragma unroll
	for (u32 s = 0; s < STAGES - 1; s++) issue(s);
	if (order) {
		wait_predecessor();
		start_successor();
	}

	// Which scores are the warp's: rows 32·mi on (halved in two), tokens of ni,
	// columns of kh.
	const u32 kh = warp & 1, ni = warp >> 1 & 1, mi = warp >> 2;
	const u32 own = TILES > 1 ? mi * 32 + kh * 16 : 0, way = TILES > 1 ? ni : warp, token0 = way * NT * 8;

	float o[TILES][8][4], m[2], l[2];
	uint4 query[TILES > 1 ? 1 : KEY / 16];
	u32 slot = 0, free = STAGES - 1;
#pragma unroll 1
	while (here.more()) {
		if (here.tile == 0) {
#pragma unroll
			for (int i = 0; i < TILES; i++)
#pragma unroll
				for (int n = 0; n < 8; n++) o[i][n][0] = o[i][n][1] = o[i][n][2] = o[i][n][3] = 0;
			m[0] = m[1] = NONE;
			l[0] = l[1] = 0;
			const char *from = q + (u64)here.piece.row * HEADS * ROW;
			if constexpr (TILES > 1) {
				// No warp still reads the queries before: each has passed the barriers
				// of the piece's end.
#pragma unroll
				for (int r = 0; r < HEADS; r += 32) {
					const u32 row = r + thread() / 8, chunk = thread() % 8;
#pragma unroll
					for (int i = 0; i < GROUPS; i++) copy16(queries + place<HEADS>(row, chunk + i * 8), from + row * ROW + (chunk + i * 8) * 16);
				}
				copies_commit();
				copies_wait<0>();
			} else {
#pragma unroll
				for (int k = 0; k < KEY / 16; k++) {
					const char *p = from + g * ROW + k * 32 + t * 4;
					query[k] = {load_l2_word(p), load_l2_word(p + 8 * ROW), load_l2_word(p + 16), load_l2_word(p + 8 * ROW + 16)};
				}
			}
		}
		copies_wait<STAGES - 2>();
		barrier(); // what all copied is there, and nobody reads the tile before
		issue(free);
		if (++free == STAGES) free = 0;
		const u32 tile = ring + slot * S::STAGE;
		if (++slot == STAGES) slot = 0;

		float s[NT][4];
		if constexpr (TILES > 1) {
			float c[2][NT][4] = {};
			// Of each group's four steps of 16 columns a warp has every other one.
			const u32 as = queries + place<HEADS>(mi * 32 + low, kh * 2 + high);
			const u32 bs = tile + place<TOKENS>(token0 + high * 8 + lane % 8, kh * 2 + (lane >> 3 & 1));
#pragma unroll 1
			for (int group = 0; group < GROUPS; group++)
#pragma unroll
			for (int column = 0; column < 128; column += 64) {
				uint4 a[2];
#pragma unroll
				for (int i = 0; i < 2; i++) a[i] = load_matrices((as ^ column) + group * HEADS * 128 + i * 16 * 128);
#pragma unroll
				for (int n = 0; n < NT; n += 2) {
					const uint4 b = load_matrices((bs ^ column) + group * TOKENS * 128 + n * 8 * 128);
#pragma unroll
					for (int i = 0; i < 2; i++) {
						mma_bf16(c[i][n], a[i].x, a[i].y, a[i].z, a[i].w, b.x, b.y);
						mma_bf16(c[i][n + 1], a[i].x, a[i].y, a[i].z, a[i].w, b.z, b.w);
					}
				}
			}
			// The two warps of a pair have sums over half the columns each. One half
			// of the rows goes from the second to the first, then the other back
			// through the same place, which its reader overwrites.
			const u32 pair = ps + (mi * 2 + ni) * NT * 512 + lane * 16;
			auto give = [&](float(*c)[4]) INLINE {
#pragma unroll
				for (int n = 0; n < NT; n++)
					store_shared16(pair + n * 512, uint4{float_bits(c[n][0]), float_bits(c[n][1]), float_bits(c[n][2]), float_bits(c[n][3])});
			};
			auto take = [&](float(*c)[4]) INLINE {
#pragma unroll
				for (int n = 0; n < NT; n++) {
					const uint4 v = load_shared16(pair + n * 512);
					s[n][0] = c[n][0] + bits_float(v.x);
					s[n][1] = c[n][1] + bits_float(v.y);
					s[n][2] = c[n][2] + bits_float(v.z);
					s[n][3] = c[n][3] + bits_float(v.w);
				}
			};
			if (kh) give(c[0]);
			barrier();
			if (!kh) {
				take(c[0]);
				give(c[1]);
			}
			barrier();
			if (kh) take(c[1]);
		} else {
			float c[4][4] = {};
			const u32 bs = tile + place<TOKENS>(token0 + lane % 8, lane / 8);
#pragma unroll
			for (int k = 0; k < KEY / 32; k++) {
				const uint4 b = load_matrices((bs ^ k % 2 * 64) + k / 2 * TOKENS * 128);
				mma_bf16(c[k % 2 * 2], query[2 * k].x, query[2 * k].y, query[2 * k].z, query[2 * k].w, b.x, b.y);
				mma_bf16(c[k % 2 * 2 + 1], query[2 * k + 1].x, query[2 * k + 1].y, query[2 * k + 1].z, query[2 * k + 1].w, b.z, b.w);
			}
#pragma unroll
			for (int i = 0; i < 4; i++) s[0][i] = (c[0][i] + c[1][i]) + (c[2][i] + c[3][i]);
		}

		// Probabilities, of rows own + g and own + g + 8.
		const u32 left = here.left();
		float most[2] = {NONE, NONE};
#pragma unroll
		for (int n = 0; n < NT; n++)
#pragma unroll
			for (int i = 0; i < 4; i++) {
				s[n][i] = token0 + n * 8 + 2 * t + i % 2 < left ? s[n][i] * scale : NONE;
				most[i / 2] = maximum(most[i / 2], s[n][i]);
			}
#pragma unroll
		for (int h = 0; h < 2; h++) {
			most[h] = maximum(most[h], shuffle_xor(most[h], 1));
			most[h] = maximum(most[h], shuffle_xor(most[h], 2));
			if (t == 0) store_shared(maxima + (way * HEADS + own + g + 8 * h) * 4, most[h]);
		}
		barrier();
#pragma unroll
		for (int h = 0; h < 2; h++) {
			const u32 row = own + g + 8 * h;
#pragma unroll
			for (int w = 0; w < WAYS; w++) most[h] = maximum(most[h], load_shared(maxima + (w * HEADS + row) * 4));
			const bool grown = most[h] > m[h] + SLACK;
			const float f = grown ? exp2_approx(m[h] - most[h]) : 1;
			if (grown) m[h] = most[h];
			if (way == 0 && t == 0) store_shared(factors + row * 4, f);
			l[h] *= f;
#pragma unroll
			for (int n = 0; n < NT; n++) {
				const float p0 = exp2_approx(s[n][2 * h] - m[h]), p1 = exp2_approx(s[n][2 * h + 1] - m[h]);
				l[h] += p0 + p1;
				store_shared4((ps + row * 128 + t * 4) + (token0 / 8 + n ^ g) * 16, pack_bf16(p0, p1));
			}
		}
		barrier();

		// Values 64·warp on.
#pragma unroll
		for (int i = 0; i < TILES; i++) {
			const float f0 = load_shared(factors + (i * 16 + g) * 4), f1 = load_shared(factors + (i * 16 + g + 8) * 4);
			if (any(f0 != 1 || f1 != 1))
#pragma unroll
				for (int n = 0; n < 8; n++) {
					o[i][n][0] *= f0;
					o[i][n][1] *= f0;
					o[i][n][2] *= f1;
					o[i][n][3] *= f1;
				}
		}
		const u32 as = ps + place<HEADS>(low, high), bs = tile + place<TOKENS>(low, warp * 8 + high);
#pragma unroll
		for (int k = 0; k < TOKENS / 16; k++) {
			uint4 a[TILES];
#pragma unroll
			for (int i = 0; i < TILES; i++) a[i] = load_matrices((as ^ k * 32) + i * 16 * 128);
#pragma unroll
			for (int n = 0; n < 8; n += 2) {
				const uint4 b = load_matrices_transposed((bs ^ n * 16) + k * 16 * 128);
#pragma unroll
				for (int i = 0; i < TILES; i++) {
					mma_bf16(o[i][n], a[i].x, a[i].y, a[i].z, a[i].w, b.x, b.y);
					mma_bf16(o[i][n + 1], a[i].x, a[i].y, a[i].z, a[i].w, b.z, b.w);
				}
			}
		}

		if (here.last()) {
			const u32 g = now(lane) / 4, t = now(lane) % 4;
			barrier(); // factors and maxima are free
#pragma unroll
			for (int h = 0; h < 2; h++) {
				const u32 row = own + g + 8 * h;
				l[h] += shuffle_xor(l[h], 1);
				l[h] += shuffle_xor(l[h], 2);
				if (t == 0) store_shared(maxima + (way * HEADS + row) * 4, l[h]);
				if (t == 0 && way == 0) store_shared(factors + row * 4, m[h]);
			}
			barrier();
			const u32 to = here.piece.slot;
			float *f = slot_of<HEADS, VALUE>(parts, to);
#pragma unroll
			for (int i = 0; i < TILES; i++)
#pragma unroll
				for (int h = 0; h < 2; h++) {
					const u32 row = i * 16 + g + 8 * h;
					float sum = 0;
#pragma unroll
					for (int w = 0; w < WAYS; w++) sum += load_shared(maxima + (w * HEADS + row) * 4);
					const float x = to == DIRECT ? 1 / sum : 1;
					if (to != DIRECT && warp == 0 && t == 0) {
						f[row] = load_shared(factors + row * 4);
						f[HEADS + row] = sum;
					}
#pragma unroll
					for (int n = 0; n < 8; n++) {
						const float a = o[i][n][2 * h] * x, b = o[i][n][2 * h + 1] * x;
						const u32 e = row * VALUE + warp * 64 + n * 8 + 2 * t;
						if (to == DIRECT)
							out[((u64)here.piece.row * HEADS * VALUE + e) / 2] = pack_bf16(a, b);
						else
							*(uint2 *)(f + 2 * HEADS + e) = uint2{float_bits(a), float_bits(b)};
					}
				}
			barrier(); // before the next piece's queries and maxima
		}
		here.next();
	}
}

#define MLA(tiles, tokens, stages) \
	KERNEL __launch_bounds__(WARPS * 32, 1) bf16_mla_##tiles##_##tokens##x##stages(const char *q, const char *cache, u32 *out, float *parts, \
	    const Piece *plan, const u32 *first, const u32 *table, float scale, u32 order) { \
		attend<tiles, tokens, stages>(q, cache, out, parts, plan, first, table, scale, order); \
	}
MLA(1, 64, 2)
MLA(1, 64, 3)
MLA(4, 32, 2)
MLA(4, 64, 2)

#define JOIN(tiles) \
	KERNEL __launch_bounds__(VALUE, 1) bf16_mla_join_##tiles(u32 *out, const float *parts, const Join *joins, u32 order) { \
		join<tiles * 16, VALUE, 4>(out, parts, joins, order); \
	}
JOIN(1)
JOIN(4)
