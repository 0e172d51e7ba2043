// Decode attention with groups of query heads: each group of four shares a key
// and value head of 128. What kernels have in common, whatever the cache's
// format and wherever its rows lie.
//
// Work is tiles of 16 tokens, and a block has those of two sets of query heads
// at most: the end of one and the beginning of the next. Within a block, warps
// take tiles in turn. Queries are operand A of the tensor cores (four of sixteen
// rows), keys operand B as they lie in memory; the scores come out as operand B
// of the product with the values, so that nothing is moved between lanes. Rows
// are copied whole and spread over the banks by an exclusive or of their
// vectors' places.
#pragma once
#include "pieces.h"

enum { GROUP = 4, DIM = 128, TILE = 16, SLOT = 2 * GROUP + GROUP * DIM, SEGMENTS = 2 };

// Where row r has its c-th vector of 16 bytes, in a tile whose rows have so many
// bytes.
template <int ROW> DEVICE u32 place(u32 r, u32 c) { return r * ROW + (c ^ ((r >> 1 & 3) * 2 ^ (r & 1) * 4)) * 16; }

// Bfloat16: a lane has eight values of a vector, words of two.
struct Bf16 {
	static constexpr int ROW = DIM * 2;
	static constexpr float SCORES = 1, VALUES = 1; // what products come out times
	uint4 query[4];

	DEVICE_MEMBER void load(const char *q, u32 g, u32 t) {
#pragma unroll
		for (int c = 0; c < 4; c++) query[c] = g < GROUP ? load_l2(q + (g * DIM + c * 32 + t * 8) * 2) : uint4{0, 0, 0, 0};
	}
	// Of row g, queries of rows 0 and 1 of the lane's scores.
	DEVICE_MEMBER void scores(float *s, u32 keys, u32 row, u32 t) const {
		float a[4] = {0, 0, 0, 0}, b[4] = {0, 0, 0, 0};
#pragma unroll
		for (int c = 0; c < 4; c++) {
			const uint4 key = load_shared16(keys + place<ROW>(row, c * 4 + t));
			mma_bf16(a, query[c].x, 0, query[c].y, 0, key.x, key.y);
			mma_bf16(b, query[c].z, 0, query[c].w, 0, key.z, key.w);
		}
		s[0] = a[0] + b[0];
		s[1] = a[1] + b[1];
	}
	struct Values { uint4 v[8]; };
	DEVICE_MEMBER static void load(Values &v, u32 values, u32 g, u32 t) {
#pragma unroll
		for (int i = 0; i < 8; i++) v.v[i] = load_shared16(values + place<ROW>((i >> 2) * 8 + 2 * t + (i >> 1 & 1), (i & 1) * 8 + g));
	}
	DEVICE_MEMBER static u32 pack(float low, float high) { return pack_bf16(low, high); }
	DEVICE_MEMBER static void add(float (*o)[4], const Values &v, u32 b0, u32 b1) {
#pragma unroll
		for (int h = 0; h < 2; h++) {
			const u32 *v0 = (const u32 *)&v.v[h], *v1 = (const u32 *)&v.v[2 + h], *v2 = (const u32 *)&v.v[4 + h], *v3 = (const u32 *)&v.v[6 + h];
#pragma unroll
			for (int i = 0; i < 4; i++)
				mma_bf16(o[h * 4 + i], permute(v0[i], v1[i], 0x5410), permute(v0[i], v1[i], 0x7632), permute(v2[i], v3[i], 0x5410),
				         permute(v2[i], v3[i], 0x7632), b0, b1);
		}
	}
	// The first of two neighbouring values in tile i of the sums.
	DEVICE_MEMBER static u32 value(int i, u32 g) { return (i >> 2) * 64 + 8 * g + 2 * (i & 3); }
};

// E4M3: a lane has sixteen values of a vector. They become binary16, exactly and
// times 2⁻⁸: a byte's exponent and mantissa fit where binary16 has its own.
struct E4m3 {
	static constexpr int ROW = DIM;
	static constexpr float SCORES = 256, VALUES = 256;
	u32 query[16];

	// Of two bytes at the tops of halves.
	DEVICE_MEMBER static u32 halves(u32 v) { return v & 0x80008000u | v >> 1 & 0x3f803f80u; }
	DEVICE_MEMBER void load(const char *q, u32 g, u32 t) {
#pragma unroll
		for (int c = 0; c < 2; c++) {
			const char *p = q + (g * DIM + c * 64 + t * 16) * 2;
			const uint4 low = g < GROUP ? load_l2(p) : uint4{0, 0, 0, 0}, high = g < GROUP ? load_l2(p + 16) : uint4{0, 0, 0, 0};
			const u32 words[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
			for (int i = 0; i < 8; i++) query[c * 8 + i] = pack_f16(bf16_low(words[i]), bf16_high(words[i]));
		}
	}
	DEVICE_MEMBER void scores(float *s, u32 keys, u32 row, u32 t) const {
		float a[4] = {0, 0, 0, 0}, b[4] = {0, 0, 0, 0};
#pragma unroll
		for (int c = 0; c < 2; c++) {
			const uint4 key = load_shared16(keys + place<ROW>(row, c * 4 + t));
			const u32 words[4] = {key.x, key.y, key.z, key.w};
#pragma unroll
			for (int i = 0; i < 4; i++)
				mma_f16(i % 2 ? b : a, query[c * 8 + 2 * i], 0, query[c * 8 + 2 * i + 1], 0,
				        halves(permute(words[i], 0, 0x1404)), halves(permute(words[i], 0, 0x3424)));
		}
		s[0] = a[0] + b[0];
		s[1] = a[1] + b[1];
	}
	struct Values { uint4 v[4]; };
	DEVICE_MEMBER static void load(Values &v, u32 values, u32 g, u32 t) {
#pragma unroll
		for (int i = 0; i < 4; i++) v.v[i] = load_shared16(values + place<ROW>((i >> 1) * 8 + 2 * t + (i & 1), g));
	}
	DEVICE_MEMBER static u32 pack(float low, float high) { return pack_f16(low, high); }
	DEVICE_MEMBER static void add(float (*o)[4], const Values &v, u32 b0, u32 b1) {
		const u32 *v0 = (const u32 *)&v.v[0], *v1 = (const u32 *)&v.v[1], *v2 = (const u32 *)&v.v[2], *v3 = (const u32 *)&v.v[3];
#pragma unroll
		for (int i = 0; i < 4; i++) {
			mma_f16(o[2 * i], halves(permute(v0[i], v1[i], 0x4400)), halves(permute(v0[i], v1[i], 0x5511)), halves(permute(v2[i], v3[i], 0x4400)),
			        halves(permute(v2[i], v3[i], 0x5511)), b0, b1);
			mma_f16(o[2 * i + 1], halves(permute(v0[i], v1[i], 0x6622)), halves(permute(v0[i], v1[i], 0x7733)), halves(permute(v2[i], v3[i], 0x6622)),
			        halves(permute(v2[i], v3[i], 0x7733)), b0, b1);
		}
	}
	DEVICE_MEMBER static u32 value(int i, u32 g) { return 16 * g + 2 * i; }
};

// Dynamic shared memory: WARPS·STAGES·2·TILE·ROW for the rings,
// SEGMENTS·WARPS·SLOT floats for what the warps found. A source says which tiles
// the block has, numbers begin to end-1, and where they lie; scale is of scores,
// in powers of two.
template <class Format, int WARPS, int STAGES, class Source>
DEVICE void attend(Source source, const char *q, const char *k, const char *v, u32 *out, float *parts, float scale, float value_scale, u32 order) {
	constexpr int ROW = Format::ROW, HALF = TILE * ROW, STAGE = 2 * HALF, CHUNKS = ROW / 16;
	extern __shared__ char memory[];
	float *found = (float *)(memory + WARPS * STAGES * STAGE);
	const u32 lane = thread() % 32, warp = thread() / 32, g = lane / 4, t = lane % 4;
	const u32 ring = shared_address(memory) + warp * STAGES * STAGE;

	u32 next = source.begin + warp;
	u64 from = next < source.end ? source.at(next) : 0;
	auto issue = [&](u32 slot) INLINE {
		if (next < source.end) {
			// What lies outside is read as zeros: it must be finite.
			const u32 skip = source.skip(next), rows = source.rows(next), c = lane % CHUNKS;
#pragma unroll
			for (int i = 0; i < TILE * CHUNKS / 32; i++) {
				const u32 r = i * (32 / CHUNKS) + lane / CHUNKS, to = ring + slot * STAGE + place<ROW>(r, c);
				if (r >= skip && r < rows) {
					const u64 at = from + (u64)r * source.stride + c * 16;
					copy16(to, k + at);
					copy16(to + HALF, v + at);
				} else {
					store_shared16(to, uint4{0, 0, 0, 0});
					store_shared16(to + HALF, uint4{0, 0, 0, 0});
				}
			}
			next += WARPS;
			if (next < source.end) from = source.at(next);
		}
		copies_commit();
	};
	// Only the cache's newest row depends on the kernels before, and those wrote
	// it earlier in a step; here the whole cache is there.
	for (u32 s = 0; s < STAGES - 1; s++) issue(s);
	for (u32 i = thread(); i < SEGMENTS * WARPS * GROUP; i += WARPS * 32) {
		found[i / GROUP * SLOT + i % GROUP] = NONE;
		found[i / GROUP * SLOT + GROUP + i % GROUP] = 0;
	}
	if (order) {
		wait_predecessor();
		start_successor();
	}
	barrier();

	Format format;
	float o[8][4], m = NONE, l = 0;
	scale *= Format::SCORES;
	auto begin_segment = [&](u32 row) INLINE {
		format.load(q + (u64)row * GROUP * DIM * 2, g, t);
		m = NONE;
		l = 0;
#pragma unroll
		for (int i = 0; i < 8; i++) o[i][0] = o[i][1] = o[i][2] = o[i][3] = 0;
	};
	auto end_segment = [&](u32 segment) INLINE {
		l += shuffle_xor(l, 1);
		l += shuffle_xor(l, 2);
		float *f = found + (segment * WARPS + warp) * SLOT;
		if (g < GROUP && t == 0) {
			f[g] = m;
			f[GROUP + g] = l;
		}
		if (t < 2)
#pragma unroll
			for (int i = 0; i < 8; i++) {
				float *p = f + 2 * GROUP + 2 * t * DIM + Format::value(i, g);
				p[0] = o[i][0];
				p[DIM] = o[i][1];
				p[1] = o[i][2];
				p[DIM + 1] = o[i][3];
			}
	};
	u32 slot = 0, free = STAGES - 1, current = ~0u;
#pragma unroll 1
	for (u32 c = source.begin + warp; c < source.end; c += WARPS) {
		const u32 segment = source.segment(c);
		if (segment != current) {
			if (current != ~0u) end_segment(current);
			begin_segment(source.row(segment));
			current = segment;
		}
		copies_wait<STAGES - 2>();
		warp_barrier();
		const u32 tile = ring + slot * STAGE;
		float s[2][4];
#pragma unroll
		for (int i = 0; i < 2; i++) {
			format.scores(s[i], tile, i * 8 + g, t);
			s[i][0] *= scale;
			s[i][1] *= scale;
		}
		typename Format::Values values;
		Format::load(values, tile + HALF, g, t);
		warp_barrier(); // all lanes have read before the slot is overwritten
		issue(free);
		if (++free == STAGES) free = 0;
		if (++slot == STAGES) slot = 0;
		const u32 skip = source.skip(c), rows = source.rows(c);
		if (rows < TILE || skip > 0)
#pragma unroll
			for (int i = 0; i < 4; i++) {
				const u32 token = i / 2 * 8 + 2 * t + i % 2;
				if (token < skip || token >= rows) s[i / 2][i % 2] = NONE;
			}
		float most = maximum(maximum(s[0][0], s[0][1]), maximum(s[1][0], s[1][1]));
		most = maximum(most, shuffle_xor(most, 1));
		most = maximum(most, shuffle_xor(most, 2));
		most = maximum(most, m);
		if (any(most > m)) {
			const float f = exp2_approx(m - most);
			l *= f;
			m = most;
			const float f0 = shuffle(f, 2 * t * 4), f1 = shuffle(f, (2 * t + 1) * 4);
#pragma unroll
			for (int i = 0; i < 8; i++) {
				o[i][0] *= f0;
				o[i][1] *= f1;
				o[i][2] *= f0;
				o[i][3] *= f1;
			}
		}
		const float p0 = exp2_approx(s[0][0] - m), p1 = exp2_approx(s[0][1] - m), p2 = exp2_approx(s[1][0] - m), p3 = exp2_approx(s[1][1] - m);
		l += (p0 + p1) + (p2 + p3);
		Format::add(o, values, Format::pack(p0, p1), Format::pack(p2, p3));
	}
	if (current != ~0u) end_segment(current);
	barrier();
	if (source.begin == source.end) return;

	// The block's own result for each set that it has tiles of.
	const u32 segments = source.segment(source.end - 1) + 1;
	__shared__ float weight[SEGMENTS][GROUP][WARPS], sums[SEGMENTS][GROUP];
	if (thread() < segments * GROUP) {
		const u32 s = thread() / GROUP, h = thread() % GROUP;
		float most = NONE, sum = 0;
		for (int w = 0; w < WARPS; w++) most = maximum(most, found[(s * WARPS + w) * SLOT + h]);
		for (int w = 0; w < WARPS; w++) {
			const float *f = found + (s * WARPS + w) * SLOT;
			const float x = f[GROUP + h] > 0 ? exp2_approx(f[h] - most) : 0;
			weight[s][h][w] = x;
			sum += x * f[GROUP + h];
		}
		sums[s][h] = sum;
		const u32 to = source.slot(s);
		if (to != DIRECT) {
			float *p = slot_of<GROUP, DIM>(parts, to);
			p[h] = most;
			p[GROUP + h] = sum;
		}
	}
	barrier();
	for (u32 i = thread(); i < segments * GROUP * DIM / 4; i += WARPS * 32) {
		const u32 s = i / (GROUP * DIM / 4), e = i % (GROUP * DIM / 4) * 4, h = e / DIM, to = source.slot(s);
		float a0 = 0, a1 = 0, a2 = 0, a3 = 0;
		for (int w = 0; w < WARPS; w++) {
			const float x = weight[s][h][w];
			if (x == 0) continue;
			const float *f = found + (s * WARPS + w) * SLOT + 2 * GROUP + e;
			a0 = fma(x, f[0], a0);
			a1 = fma(x, f[1], a1);
			a2 = fma(x, f[2], a2);
			a3 = fma(x, f[3], a3);
		}
		const float x = (to == DIRECT ? 1 / sums[s][h] : 1) * (Format::VALUES * value_scale);
		if (to == DIRECT) {
			u32 *p = out + ((u64)source.row(s) * GROUP * DIM + e) / 2;
			p[0] = pack_bf16(a0 * x, a1 * x);
			p[1] = pack_bf16(a2 * x, a3 * x);
		} else {
			*(uint4 *)(slot_of<GROUP, DIM>(parts, to) + 2 * GROUP + e) =
			    uint4{float_bits(a0 * x), float_bits(a1 * x), float_bits(a2 * x), float_bits(a3 * x)};
		}
	}
}
