// Rotary embedding of heads of 128, and with it the write of a token's keys and
// values into a paged cache: [page][KV head][token of the page][128]. A thread
// turns eight pairs; positions, slots and the table are there since the step
// began, so that a dependent launch has read them before its predecessor ends.
#include "quantise.h"

enum { DIM = 128, HALF = DIM / 2, EACH = HALF / 8 }; // EACH threads a head
enum { NEOX, INTERLEAVED };

// Queries, keys and values of a token side by side in qkv; table has the
// cosines of a position's pairs, then the sines. PLACE says where keys and
// values go: nowhere (values; keys lie behind the queries in q), or into pages
// of a format.
enum { NOWHERE, PAGES_BF16, PAGES_FP8 };

template <int STYLE, int PLACE>
DEVICE void rope(const char *qkv, const u32 *positions, const float *table, char *q, u32 tokens, u32 heads, u32 kv, u32 order,
                 const u32 *slots, char *keys, char *values, u32 page, float key_factor, float value_factor) {
	const u32 item = block() * threads() + thread(), part = item % EACH, turned = heads + kv;
	const u32 all = heads + (PLACE == NOWHERE ? 1 : 2) * kv, token = item / EACH / all, head = item / EACH % all;
	if (token >= tokens) {
		begin(order);
		finish(order);
		return;
	}
	const bool turn = PLACE == NOWHERE || head < turned;
	const u32 near = STYLE == NEOX ? part * 8 : part * 16, far = STYLE == NEOX ? HALF + near : near + 8;
	uint4 cosines[2] = {}, sines[2] = {};
	u32 slot = 0;
	if (turn) {
		const char *row = (const char *)(table + (u64)positions[token] * DIM + part * 8);
#pragma unroll
		for (int i = 0; i < 2; i++) {
			cosines[i] = load_once(row + 16 * i);
			sines[i] = load_once(row + 4 * HALF + 16 * i);
		}
	}
	if (PLACE != NOWHERE && head >= heads) slot = slots[token];
	begin(order);
	const char *from = qkv + ((u64)token * (heads + 2 * kv) + head) * 2 * DIM;
	float x[16];
	unpack8(load_l2(from + 2 * near), x);
	unpack8(load_l2(from + 2 * far), x + 8);
	if (turn) {
		const u32 c[8] = {cosines[0].x, cosines[0].y, cosines[0].z, cosines[0].w, cosines[1].x, cosines[1].y, cosines[1].z, cosines[1].w};
		const u32 s[8] = {sines[0].x, sines[0].y, sines[0].z, sines[0].w, sines[1].x, sines[1].y, sines[1].z, sines[1].w};
#pragma unroll
		for (int i = 0; i < 8; i++) {
			const int a = STYLE == NEOX ? i : 2 * i, b = STYLE == NEOX ? i + 8 : 2 * i + 1;
			const float cosine = bits_float(c[i]), sine = bits_float(s[i]), even = x[a], odd = x[b];
			x[a] = fma(even, cosine, -(odd * sine));
			x[b] = fma(odd, cosine, even * sine);
		}
	}
	char *to = q + ((u64)token * (PLACE == NOWHERE ? turned : heads) + head) * 2 * DIM;
	if (PLACE != NOWHERE && head >= heads) {
		const u64 row = ((u64)(slot / page) * kv + (turn ? head - heads : head - turned)) * page + slot % page;
		to = (turn ? keys : values) + row * DIM * (PLACE == PAGES_FP8 ? 1 : 2);
		if (PLACE == PAGES_FP8) {
			const float factor = turn ? key_factor : value_factor;
			store8(to + near, pack8_e4m3(x, factor));
			store8(to + far, pack8_e4m3(x + 8, factor));
			finish(order);
			return;
		}
	}
	store16(to + 2 * near, pack8(x));
	store16(to + 2 * far, pack8(x + 8));
	finish(order);
}

#define ROPE(style, STYLE) \
	KERNEL __launch_bounds__(256, 1) rope_##style( \
	    const char *qkv, const u32 *positions, const float *table, char *q, u32 tokens, u32 heads, u32 kv, u32 order) { \
		rope<STYLE, NOWHERE>(qkv, positions, table, q, tokens, heads, kv, order, 0, 0, 0, 1, 1, 1); \
	}
ROPE(neox, NEOX)
ROPE(interleaved, INTERLEAVED)

#define KV_WRITE(style, STYLE, format, PLACE) \
	KERNEL __launch_bounds__(256, 1) kv_write_##style##_##format( \
	    const char *qkv, const u32 *positions, const float *table, char *q, u32 tokens, u32 heads, u32 kv, u32 order, \
	    const u32 *slots, char *keys, char *values, u32 page, float key_factor, float value_factor) { \
		rope<STYLE, PLACE>(qkv, positions, table, q, tokens, heads, kv, order, slots, keys, values, page, key_factor, value_factor); \
	}
KV_WRITE(neox, NEOX, bf16, PAGES_BF16)
KV_WRITE(neox, NEOX, fp8, PAGES_FP8)
KV_WRITE(interleaved, INTERLEAVED, bf16, PAGES_BF16)
KV_WRITE(interleaved, INTERLEAVED, fp8, PAGES_FP8)
