// Decode attention with groups of query heads: each group of four shares a key
// and value head of 128. Keys and values are bfloat16, sequence after sequence
// and head after head, `tokens` rows of 128 each.
//
// All rows are tiles of 16 tokens in one sequence that the blocks divide
// evenly, so that a block has the end of one head and the beginning of the
// next at most. Within a block, warps take tiles in turn. Queries are operand A
// of the tensor cores (four of sixteen rows), keys operand B as they lie in
// memory; the scores come out as operand B of the product with the values, so
// that nothing is moved between lanes. Rows are copied whole and spread over
// the banks by an exclusive or of their vectors' places.
//
// A second kernel joins the parts of heads that several blocks share.
#include "device.h"

enum { GROUP = 4, DIM = 128, TILE = 16, ROW = DIM * 2, STAGE = 2 * TILE * ROW, SLOT = 2 * GROUP + GROUP * DIM, SEGMENTS = 2 };

// The first and the last block of the grid that have tiles of a head.
struct Range { u32 first, last; };
DEVICE Range of_head(u32 head, u32 tiles, u32 heads, u32 grid) {
	const u64 all = (u64)heads * tiles;
	return {(u32)((((u64)head * tiles + 1) * grid - 1) / all), (u32)(((u64)(head + 1) * tiles * grid - 1) / all)};
}
DEVICE u32 first_tile(u32 b, u32 tiles, u32 heads, u32 grid) { return (u32)((u64)b * heads * tiles / grid); }

// Where row r has its c-th vector of 16 bytes.
DEVICE u32 place(u32 r, u32 c) { return r * ROW + (c ^ ((r >> 1 & 3) * 2 ^ (r & 1) * 4)) * 16; }

#define NONE -1e30f

// Dynamic shared memory: WARPS·STAGES·STAGE for the rings, SEGMENTS·WARPS·SLOT
// floats for what the warps found.
template <int WARPS, int STAGES>
DEVICE void attend(const char *q, const char *k, const char *v, u32 *out, float *parts, u32 heads, u32 tokens, u32 tiles, u32 order) {
	extern __shared__ char memory[];
	float *found = (float *)(memory + WARPS * STAGES * STAGE);
	const u32 lane = thread() % 32, warp = thread() / 32, g = lane / 4, t = lane % 4;
	const u32 c0 = first_tile(block(), tiles, heads, blocks()), c1 = first_tile(block() + 1, tiles, heads, blocks());
	const u32 head0 = c0 / tiles;

	const u32 ring = shared_address(memory) + warp * STAGES * STAGE;
	u32 next = c0 + warp;
	auto issue = [&](u32 slot) INLINE {
		if (next < c1) {
			const u32 head = next / tiles, tile = next - head * tiles;
			const u64 at = ((u64)head * tokens + tile * TILE) * ROW;
			// What lies behind the last token is read as zeros: it must be finite.
			const u32 rows = tokens - tile * TILE;
#pragma unroll
			for (int i = 0; i < 8; i++) {
				const u32 r = 2 * i + lane / 16, c = lane % 16, to = ring + slot * STAGE + place(r, c);
				if (r < rows) {
					copy16(to, k + at + r * ROW + c * 16);
					copy16(to + TILE * ROW, v + at + r * ROW + c * 16);
				} else {
					store_shared16(to, uint4{0, 0, 0, 0});
					store_shared16(to + TILE * ROW, uint4{0, 0, 0, 0});
				}
			}
			next += WARPS;
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

	uint4 query[4];
	float o[8][4], m = NONE, l = 0;
	const float scale = 0.08838834764831845f * 1.4426950408889634f; // 1/√128, in powers of two
	auto begin_head = [&](u32 head) INLINE {
#pragma unroll
		for (int c = 0; c < 4; c++) query[c] = g < GROUP ? load_l2(q + ((head * GROUP + g) * DIM + c * 32 + t * 8) * 2) : uint4{0, 0, 0, 0};
		m = NONE;
		l = 0;
#pragma unroll
		for (int i = 0; i < 8; i++) o[i][0] = o[i][1] = o[i][2] = o[i][3] = 0;
	};
	auto end_head = [&](u32 segment) INLINE {
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
				float *p = f + 2 * GROUP + 2 * t * DIM + (i >> 2) * 64 + 8 * g + 2 * (i & 3);
				p[0] = o[i][0];
				p[DIM] = o[i][1];
				p[1] = o[i][2];
				p[DIM + 1] = o[i][3];
			}
	};
	u32 slot = 0, free = STAGES - 1, current = ~0u;
#pragma unroll 1
	for (u32 c = c0 + warp; c < c1; c += WARPS) {
		const u32 head = c / tiles, tile = c - head * tiles;
		if (head != current) {
			if (current != ~0u) end_head(current - head0);
			begin_head(head);
			current = head;
		}
		copies_wait<STAGES - 2>();
		warp_barrier();
		const u32 from = ring + slot * STAGE;
		float s[2][4];
#pragma unroll
		for (int i = 0; i < 2; i++) {
			float a[4] = {0, 0, 0, 0}, b[4] = {0, 0, 0, 0};
#pragma unroll
			for (int c = 0; c < 4; c++) {
				uint4 key = load_shared16(from + place(i * 8 + g, c * 4 + t));
				mma_bf16(a, query[c].x, 0, query[c].y, 0, key.x, key.y);
				mma_bf16(b, query[c].z, 0, query[c].w, 0, key.z, key.w);
			}
			s[i][0] = (a[0] + b[0]) * scale;
			s[i][1] = (a[1] + b[1]) * scale;
		}
		uint4 value[8];
#pragma unroll
		for (int i = 0; i < 8; i++)
			value[i] = load_shared16(from + TILE * ROW + place((i >> 2) * 8 + 2 * t + (i >> 1 & 1), (i & 1) * 8 + g));
		warp_barrier(); // all lanes have read before the slot is overwritten
		issue(free);
		if (++free == STAGES) free = 0;
		if (++slot == STAGES) slot = 0;
		const u32 left = tokens - tile * TILE;
		if (left < TILE)
#pragma unroll
			for (int i = 0; i < 2; i++) {
				if (i * 8 + 2 * t >= left) s[i][0] = NONE;
				if (i * 8 + 2 * t + 1 >= left) s[i][1] = NONE;
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
		const u32 b0 = pack_bf16(p0, p1), b1 = pack_bf16(p2, p3);
#pragma unroll
		for (int h = 0; h < 2; h++) {
			const u32 *v0 = (const u32 *)&value[h], *v1 = (const u32 *)&value[2 + h], *v2 = (const u32 *)&value[4 + h], *v3 = (const u32 *)&value[6 + h];
#pragma unroll
			for (int i = 0; i < 4; i++)
				mma_bf16(o[h * 4 + i], permute(v0[i], v1[i], 0x5410), permute(v0[i], v1[i], 0x7632), permute(v2[i], v3[i], 0x5410),
				         permute(v2[i], v3[i], 0x7632), b0, b1);
		}
	}
	if (current != ~0u) end_head(current - head0);
	barrier();
	if (c0 == c1) return;

	// The block's own result for each head it has tiles of.
	const u32 segments = (c1 - 1) / tiles - head0 + 1;
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
		float *p = parts + ((u64)block() * SEGMENTS + s) * SLOT;
		p[h] = most;
		p[GROUP + h] = sum;
	}
	barrier();
	for (u32 i = thread(); i < segments * GROUP * DIM / 4; i += WARPS * 32) {
		const u32 s = i / (GROUP * DIM / 4), e = i % (GROUP * DIM / 4) * 4, h = e / DIM;
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
		const Range r = of_head(head0 + s, tiles, heads, blocks());
		if (r.first == r.last) {
			const float x = 1 / sums[s][h];
			u32 *to = out + ((head0 + s) * GROUP * DIM + e) / 2;
			to[0] = pack_bf16(a0 * x, a1 * x);
			to[1] = pack_bf16(a2 * x, a3 * x);
		} else {
			*(uint4 *)(parts + ((u64)block() * SEGMENTS + s) * SLOT + 2 * GROUP + e) =
			    uint4{float_bits(a0), float_bits(a1), float_bits(a2), float_bits(a3)};
		}
	}
}

#define GQA(warps, stages) \
	KERNEL __launch_bounds__(warps * 32, 1) bf16_gqa_##warps##x##stages(const char *q, const char *k, const char *v, u32 *out, float *parts, \
	                                                                  u32 heads, u32 tokens, u32 tiles, u32 order) { \
		attend<warps, stages>(q, k, v, out, parts, heads, tokens, tiles, order); \
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
