// The scan of a sparse attention's index (DSA): for one query token of each
// sequence, the score of every cached token is the sum over heads of
// weight·relu(query·key), times the key's scale. Queries and keys are E4M3 of
// 128; 64 keys and then their 64 float32 scales are a page, and a table says
// which pages are a sequence's.
//
// Half pages of 32 tokens are one sequence of units over all sequences that the
// blocks divide evenly; within a block warps take them in turn. Keys are operand
// A of the tensor cores, two tiles of 16 rows, in whole rows by a ring of
// copies; heads are the columns of B, eight at a time, kept in shared memory in
// the order in which lanes read them. Of a row of 128, lane t has the 16 bytes
// t and t + 4; both operands take columns in that order.
//
// Tensor cores with E4M3 take the bytes as they are. For others a byte becomes
// binary16 times 2^-8: sign and magnitude shifted.
#include "device.h"

enum { DIM = 128, PAGE = 64 * DIM + 64 * 4, TOKENS = 32, KEYS = TOKENS * DIM, SLOT = KEYS + TOKENS * 4 };

// Where a row of a ring has its c-th 16 bytes, so that a quarter warp finds its
// eight, of two rows, in different banks.
DEVICE u32 place(u32 row, u32 c) { return row * DIM + (c ^ (row & 1) << 2) * 16; }

// Bytes 0 and 2, and bytes 1 and 3, as binary16 times 2^-8.
DEVICE u32 even(u32 w) { return w << 8 & 0x80008000u | w << 7 & 0x3f803f80u; }
DEVICE u32 odd(u32 w) { return w & 0x80008000u | w >> 1 & 0x3f803f80u; }

DEVICE void mma_e4m3(float *c, u32 a0, u32 a1, u32 a2, u32 a3, u32 b0, u32 b1) {
#if __CUDA_ARCH__ >= 890
	asm("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
	    : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
#endif
}

// Dynamic shared memory: WARPS·STAGES·SLOT for the rings, HEADS·DIM of queries
// (twice that in binary16), 4·HEADS of weights.
template <bool NATIVE, int HEADS, int WARPS, int STAGES>
DEVICE void scan(const char *q, const char *weights, const char *cache, const char *table, float *scores, u32 sequences, u32 pages, u32 order) {
	constexpr int EIGHTS = HEADS / 8, LANE = NATIVE ? 8 : 16; // LANE: bytes of a lane of operand B, of two words
	extern __shared__ char memory[];
	const u32 lane = thread() % 32, warp = thread() / 32, g = lane / 4, t = lane % 4;
	const u32 each = 2 * pages, total = sequences * each;
	const u32 c0 = (u32)((u64)block() * total / blocks()), c1 = (u32)((u64)(block() + 1) * total / blocks());
	const u32 ring = shared_address(memory) + warp * STAGES * SLOT;
	const u32 queries = shared_address(memory) + WARPS * STAGES * SLOT, shares = queries + HEADS * DIM * LANE / 8;

	// The page of the next unit is read while units before it are under way.
	u32 next = c0 + warp;
	auto page_of = [&](u32 c) INLINE { return c < c1 ? load_l2_word(table + c / 2 * 4) : 0; };
	u32 page = page_of(next);
	auto issue = [&](u32 slot) INLINE {
		if (next < c1) {
			const u32 to = ring + slot * SLOT, half = next & 1;
			const char *from = cache + (u64)page * PAGE + half * KEYS + lane * 16;
#pragma unroll
			for (int i = 0; i < 8; i++) copy16(to + place(i * 4 + lane / 8, lane % 8), from + i * 512);
			copy4(to + KEYS + lane * 4, cache + (u64)page * PAGE + 2 * KEYS + half * TOKENS * 4 + lane * 4);
			next += WARPS;
			page = page_of(next);
		}
		copies_commit();
	};
	// Only the cache's newest token depends on the kernels before.
	for (u32 s = 0; s < STAGES - 1; s++) issue(s);
	if (order) {
		wait_predecessor();
		start_successor();
	}

	u32 slot = 0, free = STAGES - 1, c = c0 + warp;
	for (u32 sequence = c0 / each; sequence * each < c1; sequence++) {
		const u32 end = (sequence + 1) * each < c1 ? (sequence + 1) * each : c1;
		barrier();
		for (u32 i = thread(); i < EIGHTS * 4 * 32; i += WARPS * 32) {
			const u32 pair = i / 32 / EIGHTS, head = i / 32 % EIGHTS * 8 + lane / 4;
			const uint2 w = load_l2_pair(q + ((sequence * HEADS + head) * DIM + (t + pair / 2 * 4) * 16 + pair % 2 * 8));
			if (NATIVE) store_shared8(queries + i * LANE, w);
			else store_shared16(queries + i * LANE, uint4{even(w.x), odd(w.x), even(w.y), odd(w.y)});
		}
		if (thread() < HEADS) store_shared(shares + thread() * 4, load_l2_float(weights + (sequence * HEADS + thread()) * 4));
		barrier();
#pragma unroll 1
		for (; c < end; c += WARPS) {
			copies_wait<STAGES - 2>();
			warp_barrier();
			const u32 from = ring + slot * SLOT;
			issue(free); // into what all lanes have read before the barrier
			if (++free == STAGES) free = 0;
			if (++slot == STAGES) slot = 0;

			uint4 key[2][2]; // of a tile, and rows g and g + 8
			float sum[2][EIGHTS][4];
#pragma unroll
			for (int i = 0; i < 2; i++)
#pragma unroll
				for (int n = 0; n < EIGHTS; n++) sum[i][n][0] = sum[i][n][1] = sum[i][n][2] = sum[i][n][3] = 0;
#pragma unroll
			for (int pair = 0; pair < 4; pair++) {
				if (pair % 2 == 0)
#pragma unroll
					for (int i = 0; i < 4; i++) key[i / 2][i % 2] = load_shared16(from + place(i * 8 + g, t + pair / 2 * 4));
				u32 low[2][2], high[2][2];
#pragma unroll
				for (int i = 0; i < 2; i++)
#pragma unroll
					for (int r = 0; r < 2; r++) {
						low[i][r] = pair % 2 ? key[i][r].z : key[i][r].x;
						high[i][r] = pair % 2 ? key[i][r].w : key[i][r].y;
					}
				if (NATIVE) {
#pragma unroll
					for (int n = 0; n < EIGHTS; n++) {
						const uint2 b = load_shared8(queries + ((pair * EIGHTS + n) * 32 + lane) * LANE);
#pragma unroll
						for (int i = 0; i < 2; i++) mma_e4m3(sum[i][n], low[i][0], low[i][1], high[i][0], high[i][1], b.x, b.y);
					}
				} else {
					u32 a[2][2][4];
#pragma unroll
					for (int i = 0; i < 2; i++)
#pragma unroll
						for (int r = 0; r < 2; r++) {
							a[i][0][r] = even(low[i][r]);
							a[i][0][2 + r] = odd(low[i][r]);
							a[i][1][r] = even(high[i][r]);
							a[i][1][2 + r] = odd(high[i][r]);
						}
#pragma unroll
					for (int n = 0; n < EIGHTS; n++) {
						const uint4 b = load_shared16(queries + ((pair * EIGHTS + n) * 32 + lane) * LANE);
#pragma unroll
						for (int i = 0; i < 2; i++) {
							mma_f16(sum[i][n], a[i][0][0], a[i][0][1], a[i][0][2], a[i][0][3], b.x, b.y);
							mma_f16(sum[i][n], a[i][1][0], a[i][1][1], a[i][1][2], a[i][1][3], b.z, b.w);
						}
					}
				}
			}
			float score[4] = {0, 0, 0, 0}; // of tokens g, g + 8, g + 16, g + 24, over the lane's heads
#pragma unroll
			for (int n = 0; n < EIGHTS; n++) {
				const uint2 pair = load_shared8(shares + (n * 8 + 2 * t) * 4);
				const float w0 = bits_float(pair.x), w1 = bits_float(pair.y);
#pragma unroll
				for (int i = 0; i < 4; i++) {
					const float *s = sum[i / 2][n] + i % 2 * 2;
					score[i] = fma(w0, maximum(s[0], 0), fma(w1, maximum(s[1], 0), score[i]));
				}
			}
			float mine = 0;
#pragma unroll
			for (int i = 0; i < 4; i++) {
				score[i] += shuffle_xor(score[i], 1);
				score[i] += shuffle_xor(score[i], 2);
				if (t == i) mine = score[i];
			}
			scores[(u64)c * TOKENS + t * 8 + g] = mine * load_shared(from + KEYS + (t * 8 + g) * 4) * (NATIVE ? 1.f : 65536.f);
		}
	}
}

#define SCAN(native, name, heads, warps, stages, resident) \
	KERNEL __launch_bounds__(warps * 32, resident) indexer_##name##_##heads##_##warps##x##stages( \
	    const char *q, const char *weights, const char *cache, const char *table, float *scores, u32 sequences, u32 pages, u32 order) { \
		scan<native, heads, warps, stages>(q, weights, cache, table, scores, sequences, pages, order); \
	}
#define SCANS(native, name, heads) \
	SCAN(native, name, heads, 16, 2, 1) \
	SCAN(native, name, heads, 16, 3, 1) \
	SCAN(native, name, heads, 8, 2, 2) \
	SCAN(native, name, heads, 12, 4, 1)
SCANS(false, f16, 64)
SCANS(false, f16, 32)
#if __CUDA_ARCH__ >= 890 && !defined SM_90A // which has better
SCANS(true, e4m3, 64)
SCANS(true, e4m3, 32)
#endif

#ifdef SM_90A
// Tensor cores of Hopper by themselves: four warps multiply a whole page, 64
// keys, with all heads, both read from shared memory as they lie in memory,
// in rows of 128 bytes whose 16 are spread by an exclusive or.

DEVICE u32 spread(u32 row, u32 c) { return row * DIM + (c ^ row & 7) * 16; }
// What wgmma is told of such rows, at a multiple of 1024.
DEVICE u64 rows_at(u32 address) { return address >> 4 & 0x3fff | 1ull << 16 | 64ull << 32 | 1ull << 62; }

DEVICE void copies_visible() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
DEVICE void group_barrier(u32 group) { asm volatile("bar.sync %0, 128;" ::"r"(group + 1) : "memory"); }

#define WGMMA(n, registers, keys, queries) \
	"wgmma.mma_async.sync.aligned.m64n" #n "k32.f32.e4m3.e4m3 {" registers "}, " keys ", " queries
#define F4(c, i) "+f"(c[i][0]), "+f"(c[i][1]), "+f"(c[i][2]), "+f"(c[i][3])
#define R16 "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15"
#define R32 R16 ",%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"
// The four steps of 32 columns, the first of which begins the sums.
#define PRODUCT(n, registers, keys, queries) \
	"{ .reg .pred no, yes; .reg .b64 k, q; setp.ne.u32 no, 0, 0; setp.eq.u32 yes, 0, 0;\n" \
	"wgmma.fence.sync.aligned;\n" \
	WGMMA(n, registers, keys, queries) ", no, 1, 1;\n" \
	"add.u64 k, " keys ", 2; add.u64 q, " queries ", 2;\n" WGMMA(n, registers, "k", "q") ", yes, 1, 1;\n" \
	"add.u64 k, " keys ", 4; add.u64 q, " queries ", 4;\n" WGMMA(n, registers, "k", "q") ", yes, 1, 1;\n" \
	"add.u64 k, " keys ", 6; add.u64 q, " queries ", 6;\n" WGMMA(n, registers, "k", "q") ", yes, 1, 1;\n" \
	"wgmma.commit_group.sync.aligned;\n" \
	"wgmma.wait_group.sync.aligned 0; }"
DEVICE void product(float (&c)[4][4], u64 keys, u64 queries) {
	asm volatile(PRODUCT(32, R16, "%16", "%17") : F4(c, 0), F4(c, 1), F4(c, 2), F4(c, 3) : "l"(keys), "l"(queries) : "memory");
}
DEVICE void product(float (&c)[8][4], u64 keys, u64 queries) {
	asm volatile(PRODUCT(64, R32, "%32", "%33")
	             : F4(c, 0), F4(c, 1), F4(c, 2), F4(c, 3), F4(c, 4), F4(c, 5), F4(c, 6), F4(c, 7) : "l"(keys), "l"(queries) : "memory");
}

// Dynamic shared memory: 1024 to align, HEADS·DIM of queries, GROUPS·STAGES
// pages, 4·HEADS of weights.
template <int HEADS, int GROUPS, int STAGES>
DEVICE void scan_pages(const char *q, const char *weights, const char *cache, const char *table, float *scores, u32 sequences, u32 pages, u32 order) {
	constexpr int EIGHTS = HEADS / 8, SIZE = 64 * DIM;
	extern __shared__ char memory[];
	const u32 lane = thread() % 32, g = lane / 4, t = lane % 4, group = thread() / 128, member = thread() % 128;
	const u32 total = sequences * pages;
	const u32 c0 = (u32)((u64)block() * total / blocks()), c1 = (u32)((u64)(block() + 1) * total / blocks());
	const u32 queries = shared_address(memory) + 1023 & ~1023u, ring = queries + HEADS * DIM + group * STAGES * SIZE;
	const u32 scales = queries + HEADS * DIM + GROUPS * STAGES * SIZE + group * STAGES * 256;
	const u32 shares = queries + HEADS * DIM + GROUPS * STAGES * PAGE;

	u32 next = c0 + group;
	auto page_of = [&](u32 c) INLINE { return c < c1 ? load_l2_word(table + c * 4) : 0; };
	u32 page = page_of(next);
	auto issue = [&](u32 slot) INLINE {
		if (next < c1) {
			const char *from = cache + (u64)page * PAGE;
#pragma unroll
			for (int i = 0; i < 4; i++) copy16(ring + slot * SIZE + spread(i * 16 + member / 8, member % 8), from + i * 2048 + member * 16);
			if (member < 64) copy4(scales + slot * 256 + member * 4, from + SIZE + member * 4);
			next += GROUPS;
			page = page_of(next);
		}
		copies_commit();
	};
	for (u32 s = 0; s < STAGES - 1; s++) issue(s);
	if (order) {
		wait_predecessor();
		start_successor();
	}

	u32 slot = 0, free = STAGES - 1, c = c0 + group;
	for (u32 sequence = c0 / pages; sequence * pages < c1; sequence++) {
		const u32 end = (sequence + 1) * pages < c1 ? (sequence + 1) * pages : c1;
		barrier();
		for (u32 i = thread(); i < HEADS * 8; i += GROUPS * 128)
			store_shared16(queries + spread(i / 8, i % 8), load_l2(q + (sequence * HEADS * 8 + i) * 16));
		if (thread() < HEADS) store_shared(shares + thread() * 4, load_l2_float(weights + (sequence * HEADS + thread()) * 4));
		copies_visible();
		barrier();
#pragma unroll 1
		for (; c < end; c += GROUPS) {
			copies_wait<STAGES - 2>();
			copies_visible();
			group_barrier(group);
			float sum[EIGHTS][4];
			const u32 from = slot;
			issue(free); // into what all have read before the barrier
			if (++free == STAGES) free = 0;
			if (++slot == STAGES) slot = 0;
			product(sum, rows_at(ring + from * SIZE), rows_at(queries));
			float score[2] = {0, 0}; // of keys g and g + 8 of the warp's 16, over the lane's heads
#pragma unroll
			for (int n = 0; n < EIGHTS; n++) {
				const uint2 pair = load_shared8(shares + (n * 8 + 2 * t) * 4);
				const float w0 = bits_float(pair.x), w1 = bits_float(pair.y);
#pragma unroll
				for (int i = 0; i < 2; i++) score[i] = fma(w0, maximum(sum[n][2 * i], 0), fma(w1, maximum(sum[n][2 * i + 1], 0), score[i]));
			}
#pragma unroll
			for (int i = 0; i < 2; i++) {
				score[i] += shuffle_xor(score[i], 1);
				score[i] += shuffle_xor(score[i], 2);
			}
			const u32 key = member / 32 * 16 + t % 2 * 8 + g;
			const float v = (t ? score[1] : score[0]) * load_shared(scales + from * 256 + key * 4);
			if (t < 2) scores[(u64)c * 64 + key] = v;
		}
	}
}

#define PAGES(heads, groups, stages, resident) \
	KERNEL __launch_bounds__(groups * 128, resident) indexer_wgmma_##heads##_##groups##x##stages( \
	    const char *q, const char *weights, const char *cache, const char *table, float *scores, u32 sequences, u32 pages, u32 order) { \
		scan_pages<heads, groups, stages>(q, weights, cache, table, scores, sequences, pages, order); \
	}
#define ALL_PAGES(heads) \
	PAGES(heads, 4, 6, 1) \
	PAGES(heads, 4, 4, 1) \
	PAGES(heads, 2, 5, 2) \
	PAGES(heads, 6, 4, 1)
ALL_PAGES(64)
ALL_PAGES(32)
#endif
