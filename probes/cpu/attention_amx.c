// Decode attention in matrix tiles: 64 tokens at a time, sixteen query heads
// together, or up to eight with both parts of their numbers.
//
// Queries and weights are float32, as the operation says, and tiles multiply
// bf16: each number is the sum of two, within 2⁻¹⁸ of it, so the result keeps
// the bound of float32 kernels. Keys and values are bf16, or FP8 that bf16
// holds exactly.
//
//	scores[tokens × heads] = K[tokens × dims] · Qᵀ: K's rows as they lie
//	values[heads × dims] += P[heads × tokens] · V[tokens × dims]
//
// A product wants V in pairs of tokens. For few heads V's rows serve as they
// lie, as pairs of dims: weights beside zeros, (p, 0) and (0, p), pick the even
// and the odd ones, and where rows of P are left both are one product. That
// halves the use of the multiplier, which has time, and spares writing V anew.
// Sixteen heads have V's pairs laid first.
//
// Of 64 tokens, four heads of 128 take 512 cycles in tiles and as many beside
// them, 32 kB from memory at 7 bytes a cycle 4700; sixteen over latents of 576
// 4400 and 3000, 74 kB 10500. So memory is asked for the next tokens in small
// steps between all others.
#include "kernels.h"

#ifdef DG_AMX_BUILT
#include "attention_lay.h"

// s[token][head], of four tiles of tokens.
TILE_FN void score(work *w, int64_t block, int few) {
	const char *q = w->queries + block * w->chunks * 2 * TILE_BYTES, *k[QUARTERS];
	memcpy(k, w->keys.at, sizeof k);
	_tile_zero(0);
	_tile_zero(1);
	_tile_zero(2);
	_tile_zero(3);
	for (int64_t c = 0; c < w->chunks; c++, q += 2 * TILE_BYTES) {
		IN_ORDER();
		_tile_loadd(4, q, 64);
		if (!few)
			_tile_loadd(5, q + TILE_BYTES, 64);
#define TOKENS(i, tile) \
	_tile_loadd(tile, k[i], w->keys.row[i]); \
	_tile_dpbf16ps(i, tile, 4); \
	if (!few) \
		_tile_dpbf16ps(i, tile, 5); \
	k[i] += w->keys.span[i]; \
	ask(&w->ask)
		TOKENS(0, 6);
		TOKENS(1, 7);
		TOKENS(2, 6);
		TOKENS(3, 7);
	}
	_tile_stored(0, w->s, 64);
	_tile_stored(1, w->s + 16 * TILE_ROWS, 64);
	_tile_stored(2, w->s + 32 * TILE_ROWS, 64);
	_tile_stored(3, w->s + 48 * TILE_ROWS, 64);
}

// Rows of sums that a head has in a span: few heads have two parts of even and
// of odd slots, others two tiles.
FN float *sums_of(const work *w, int64_t block, int64_t span, int64_t head, int i, int few) {
	float *acc = w->acc + (block * w->spans + span) * 512;
	return acc + (few ? (i * few + head) * 16 : i * 256 + head * 16);
}

// Turns scores into weights. Lanes are tokens: of few heads all are used, and
// weights are rows of P as they come.
TILE_FN void soften(work *w, int64_t block, int n, int few) {
	__mmask16 some[QUARTERS];
	for (int j = 0; j < QUARTERS; j++) {
		some[j] = lanes_of(n - 16 * j);
		float *s = w->s + 256 * j;
		if (few == 4)
			transpose_half(s, s);
		else
			transpose((const __m512i *)s, s);
		ask(&w->ask);
		ask(&w->ask);
	}
	int heads = (int)(w->group - 16 * block < 16 ? w->group - 16 * block : 16);
	for (int h = 0; h < heads; h++) {
		float *top = w->top + 16 * block + h, *sum = w->sum + (16 * block + h) * 16;
		vec v[QUARTERS], all = v_load(sum);
#pragma GCC unroll 4
		for (int j = 0; j < QUARTERS; j++) {
			v[j] = v_load(w->s + 256 * j + 16 * h);
			if (few)
				v[j] = v_add(v[j], v_load(w->s + 256 * j + 16 * (few + h)));
			v[j] = _mm512_mask_mov_ps(v_set1(-INFINITY), some[j], v[j]);
		}
		float best = v_highest(v_max(v_max(v[0], v[1]), v_max(v[2], v[3])));
		if (best > *top) {
			vec f = v_exp2(v_set1(*top - best));
			for (int64_t span = 0; span < w->spans; span++)
				for (int i = 0; i < (few ? 4 : 2); i++) {
					float *acc = sums_of(w, block, span, h, i, few);
					v_store(acc, v_mul(f, v_load(acc)));
				}
			all = v_mul(f, all);
			*top = best;
		}
		char *p = w->weights + 64 * h;
		vec high[QUARTERS], low[QUARTERS];
#pragma GCC unroll 4
		for (int j = 0; j < QUARTERS; j++) {
			v[j] = v_exp2(v_sub(v[j], v_set1(*top)));
			all = v_add(all, v[j]);
			ask(&w->ask);
			high[j] = bf16_part(v[j]), low[j] = v_sub(v[j], high[j]);
			if (few) { // tiles of a quarter: parts of (p, 0), parts of (0, p)
				__m512i a = _mm512_castps_si512(high[j]), b = _mm512_castps_si512(bf16_part(low[j])), *to = (__m512i *)p + 4 * few * j;
				to[0] = _mm512_srli_epi32(a, 16), to[few] = _mm512_srli_epi32(b, 16);
				to[2 * few] = a, to[3 * few] = b;
			}
		}
#pragma GCC unroll 2
		for (int j = 0; !few && j < 2; j++) { // tiles of halves, then of their second parts
			*(__m512i *)(p + j * TILE_BYTES) = (__m512i)_mm512_cvtne2ps_pbh(high[2 * j + 1], high[2 * j]);
			*(__m512i *)(p + (2 + j) * TILE_BYTES) = (__m512i)_mm512_cvtne2ps_pbh(low[2 * j + 1], low[2 * j]);
		}
		v_store(sum, all);
	}
}

// Adds the weighted values of a block of sixteen heads. Pairs are laid for the
// first block, some spans ahead of their products.
TILE_FN void weigh_pairs(work *w, int64_t block) {
	IN_ORDER();
	_tile_loadd(4, w->weights, 64);
	_tile_loadd(5, w->weights + TILE_BYTES, 64);
	_tile_loadd(6, w->weights + 2 * TILE_BYTES, 64);
	_tile_loadd(7, w->weights + 3 * TILE_BYTES, 64);
	for (int64_t span = 0; span < w->spans; span++) {
		if (!block && span % LAID == 0)
			lay_pairs(w, span, w->spans - span < LAID ? 1 : LAID);
		float *acc = w->acc + (block * w->spans + span) * 512;
		const char *v = w->pairs + (span & w->kept) * SPAN_BYTES;
		IN_ORDER();
#define HALF(c) \
	_tile_loadd(c, acc + c * 256, 64); \
	_tile_loadd(2, v + c * 2 * TILE_BYTES, 64); \
	_tile_loadd(3, v + c * 2 * TILE_BYTES + TILE_BYTES, 64); \
	_tile_dpbf16ps(c, 4, 2); \
	_tile_dpbf16ps(c, 5, 3); \
	_tile_dpbf16ps(c, 6, 2); \
	_tile_dpbf16ps(c, 7, 3); \
	_tile_stored(c, acc + c * 256, 64)
		HALF(0);
		HALF(1);
	}
}

// Adds the weighted values of few heads: four tiles of sums at a time, of a
// span each for four heads, of its even and its odd slots for eight.
TILE_FN void weigh_rows(work *w, int few) {
	for (int64_t span = 0; span < w->spans; span += 16 / few) {
		float *acc = w->acc + span * 512;
		int more[3] = {span + 1 < w->spans, span + 2 < w->spans, span + 3 < w->spans};
		IN_ORDER();
#define EACH_SUM(do_one) \
	do_one(0, 0); \
	if (few == 8 || more[0]) \
		do_one(1, few == 8 ? 256 : 512); \
	if (few == 8 ? more[0] : more[1]) \
		do_one(2, few == 8 ? 512 : 1024); \
	if (few == 8 ? more[0] : more[2]) \
		do_one(3, few == 8 ? 768 : 1536)
#define LOAD(c, at) _tile_loadd(c, acc + (at), 64)
#define STORE(c, at) _tile_stored(c, acc + (at), 64)
		EACH_SUM(LOAD);
		for (int j = 0; j < QUARTERS; j++) {
			int64_t step = w->values.span[j], row = w->values.row[j];
			const char *v = w->values.at[j] + span * step, *p = w->weights + j * 4 * few * 64;
			_tile_loadd(4, p, 64);
			_tile_loadd(6, v, row);
			_tile_dpbf16ps(0, 4, 6);
			ask(&w->ask);
			if (few == 8) {
				_tile_loadd(5, p + TILE_BYTES, 64);
				_tile_dpbf16ps(1, 5, 6);
			}
			if (more[0]) {
				_tile_loadd(7, v + step, row);
				ask(&w->ask);
				if (few == 8) {
					_tile_dpbf16ps(2, 4, 7);
					_tile_dpbf16ps(3, 5, 7);
				} else {
					_tile_dpbf16ps(1, 4, 7);
				}
			}
			if (few == 4 && more[1]) {
				_tile_loadd(6, v + 2 * step, row);
				_tile_dpbf16ps(2, 4, 6);
				ask(&w->ask);
			}
			if (few == 4 && more[2]) {
				_tile_loadd(7, v + 3 * step, row);
				_tile_dpbf16ps(3, 4, 7);
				ask(&w->ask);
			}
		}
		EACH_SUM(STORE);
	}
}

FN vec mix(vec a, __m512i at, vec b) { return _mm512_permutex2var_ps(a, at, b); }

// A head's values in order, times factor.
FN void write_head(const work *w, int64_t head, float factor, float *to, int fp8, int few) {
	const __m512i even = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
	const __m512i fours = _mm512_setr_epi32(0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23);
	const __m512i by8 = _mm512_set1_epi32(8), odd = _mm512_add_epi32(even, by8), halves = few ? even : fours;
	for (int64_t span = 0; span < w->spans; span += 2) {
		vec v[4] = {0}, out[4];
		for (int64_t i = 0; i < 2 && span + i < w->spans; i++) {
			vec row[4];
			for (int k = 0; k < (few ? 4 : 2); k++)
				row[k] = v_load(sums_of(w, head / 16, span + i, head % 16, k, few));
			if (few)
				row[0] = v_add(row[0], row[1]), row[1] = v_add(row[2], row[3]);
			v[2 * i] = mix(row[0], halves, row[1]), v[2 * i + 1] = mix(row[0], _mm512_add_epi32(halves, by8), row[1]);
		}
		if (fp8) {
			out[0] = mix(v[0], even, v[2]), out[1] = mix(v[0], odd, v[2]);
			out[2] = mix(v[1], even, v[3]), out[3] = mix(v[1], odd, v[3]);
		} else {
			memcpy(out, v, sizeof out);
		}
		for (int i = 0; i < 4; i++) {
			int64_t at = span * SPAN + 16 * i;
			_mm512_mask_storeu_ps(to + at, lanes_of(w->dv - at), v_mul(out[i], v_set1(factor)));
		}
	}
}

TILE_FN void finish(const work *w, const dg_segment *g, int fp8, int few) {
	const dg_op *op = w->op;
	int64_t vs = dg_padded(w->dv);
	float *y = (float *)op->y + (g->sequence * op->rows + g->head * w->group) * w->dv;
	for (int64_t h = 0; h < w->group; h++) {
		float sum = v_sum(v_load(w->sum + 16 * h));
		if (g->partial) {
			write_head(w, h, 1, g->partial + h * vs, fp8, few);
			g->partial[w->group * vs + h] = w->top[h];
			g->partial[w->group * (vs + 1) + h] = sum;
		} else {
			write_head(w, h, op->f1 * (fp8 ? 256 : 1) / sum, y + h * w->dv, fp8, few);
		}
	}
}

// Tokens [from, to) of one sequence for the query heads of one KV head; asks
// for the first tokens of the next segment, if there is one, and returns where
// their rows are known.
TILE_FN int segment(work *w, const dg_segment *g, const dg_segment *next, int now, int fp8, int few) {
	const dg_op *op = w->op;
	memset(w->acc, 0, sizeof(float) * 512 * w->blocks * w->spans);
	memset(w->sum, 0, sizeof(float) * 16 * w->group);
	for (int64_t h = 0; h < w->group; h++)
		w->top[h] = -INFINITY;
	const float *x = (const float *)op->x + (g->sequence * op->rows + g->head * w->group) * w->d;
	lay_queries(w, x, op->f0 * 1.44269504f * (fp8 ? 256 : 1), fp8, few);
	for (int64_t t = g->from; t < g->to && !dg_cancelled(op); t += TILE, now = !now) {
		if (t + TILE < g->to)
			learn(w, !now, g, t + TILE, fp8);
		else if (next)
			learn(w, !now, next, next->from, fp8);
		lay_rows(w, &w->keys, &w->k[now], w->copies[0], w->d, t, w->n[now], fp8);
		if (op->s)
			lay_rows(w, &w->values, &w->v[now], w->copies[1], w->dv, t, w->n[now], fp8);
		else
			w->values = w->keys;
		for (int64_t b = 0; b < w->blocks; b++) {
			score(w, b, few);
			soften(w, b, w->n[now], few);
			if (few)
				weigh_rows(w, few);
			else
				weigh_pairs(w, b);
		}
	}
	finish(w, g, fp8, few);
	return now;
}

TILE_FN void attend(const dg_op *op, int part, int parts, int fp8, int few) {
	dg_segment g = {0}, next;
	if (!dg_next_segment(op, part, parts, &g))
		return;
	work w = {.op = op, .group = op->rows / op->n0, .d = op->cols, .dv = op->n4};
	int64_t pad = fp8 ? 64 : 32, size = fp8 ? 1 : 2;
	w.chunks = (w.d + pad - 1) / pad * pad / SPAN, w.spans = (w.dv + pad - 1) / pad * pad / SPAN;
	w.blocks = (w.group + 15) / 16, w.kept = w.blocks > 1 ? -1 : LAID - 1;
	w.copies[0] = (char *)g.work;
	w.copies[1] = w.copies[0] + w.chunks * SPAN_BYTES;
	w.pairs = w.copies[1] + w.spans * SPAN_BYTES;
	w.queries = w.pairs + w.spans * SPAN_BYTES;
	w.weights = w.queries + w.blocks * w.chunks * 2 * TILE_BYTES;
	w.s = (float *)(w.weights + 8 * TILE_BYTES);
	w.acc = w.s + 16 * TILE;
	w.sum = w.acc + w.blocks * w.spans * 512, w.top = w.sum + 256 * w.blocks;
	// Rows of P and sums that no head has are zero.
	memset(w.weights, 0, 8 * TILE_BYTES);
	int64_t lines = TILE * size * (w.d + (op->s ? w.dv : 0)) / 64;
	int64_t times = w.blocks * (4 * w.chunks + 8) + 4 * w.group + (few ? 4 : 16) * w.spans; // of asking, copies aside
	w.ask.each = (int)((lines + times - 1) / times);
	learn(&w, 0, &g, g.from, fp8);
	tiles_begin();
	for (int now = 0, more = 1; more && !dg_cancelled(op); g = next) {
		next = g;
		more = dg_next_segment(op, part, parts, &next);
		now = segment(&w, &g, more ? &next : NULL, now, fp8, few);
	}
	tiles_end();
}

TILE_FN void attend_in(const dg_op *op, int part, int parts, int fp8) {
	int64_t group = op->rows / op->n0;
	if (group <= 4)
		attend(op, part, parts, fp8, 4);
	else if (group <= 8)
		attend(op, part, parts, fp8, 8);
	else
		attend(op, part, parts, fp8, 0);
}

AMX void dg_attention_bf16_amx(const dg_op *op, int part, int parts) { attend_in(op, part, parts, 0); }
AMX void dg_attention_fp8_amx(const dg_op *op, int part, int parts) { attend_in(op, part, parts, 1); }
AMX void dg_merge_bf16_amx(const dg_op *op, int part, int parts) { merge(op, part, parts, 0, 0); }
AMX void dg_merge_fp8_amx(const dg_op *op, int part, int parts) { merge(op, part, parts, 1, 0); }
#endif
