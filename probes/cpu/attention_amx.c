// Decode attention in matrix tiles: 64 tokens at a time, sixteen query heads
// together, or up to eight with both parts of their numbers.
//
// Queries and weights are float32, as the operation says, and tiles multiply
// bf16: each number is the sum of two, within 2⁻¹⁸ of it, so the result keeps
// the bound of float32 kernels. Keys and values are bf16, or FP8 that bf16
// holds exactly. Up to eight heads have the second parts as eight further
// heads, and cost no more; sixteen take two products.
//
//	scores[tokens × heads] = K[tokens × dims] · Qᵀ: K's rows as they lie
//	values[heads × dims] += P[heads × tokens] · V[tokens × dims]: V in pairs of
//	tokens, P transposed, which is far smaller than V
//
// Of 64 tokens, four heads of 128 take some 1500 cycles, 32 kB from memory at
// 7 bytes a cycle 4700; sixteen over latents of 576 take 5500, 74 kB 10500. So
// memory is asked for the next tokens in small steps between all the others.
#include "amx.h"

#ifdef DG_AMX_BUILT
enum { TILE = 64 };
#include "attention_rows.h"

// Slots of a tile's row, bytes of as many values of all tokens, spans of values
// that are laid at once, tiles of tokens.
enum { SPAN = 32, SPAN_BYTES = 4 * TILE_BYTES, LAID = 2, QUARTERS = TILE / TILE_ROWS };

// What is asked for: runs of rows that lie together, each lines at a time.
typedef struct {
	const char *at, *end; // of the run at hand
	const char *run[2 * TILE][2];
	int next, runs, each;
} asking;

// What a segment works with. Slots are the places of a row's values: FP8 has
// of 64 values the even ones, then the odd ones.
typedef struct {
	const dg_op *op;
	int64_t group, d, dv, chunks, spans; // of 32 slots, of a key and of a value
	int64_t blocks, heads;               // of sixteen query heads, or one of up to eight
	char *keys, *values, *queries;       // tiles: keys where they must be copied, pairs of values, queries
	int64_t kept;                        // pairs that further blocks need, or the last ones, which stay in L1
	char *weights;                       // of a block: parts × halves of the tokens
	float *acc, *s, *top, *sum;          // acc: [block][tile][head][16]
	OP(rows) k[2], v[2];                 // of this and of the next tokens
	int n[2];
	const char *key[QUARTERS];           // where the tiles of keys are, and how far apart
	int64_t stride[QUARTERS], step[QUARTERS];
	asking ask;
} work;

FN void ask(asking *a) {
	const char *at = a->at;
	for (int i = 0; i < a->each; i++, at += 64) {
		if (at >= a->end) {
			if (a->next == a->runs)
				break;
			at = a->run[a->next][0], a->end = a->run[a->next++][1];
		}
		__builtin_prefetch(at, 0, 2);
	}
	a->at = at;
}

FN void runs_of(asking *a, const OP(rows) *rows, int n, int64_t bytes) {
	const char *end = NULL;
	int runs = a->runs;
	for (int t = 0; t < n; t++) {
		if (rows->row[t] != end)
			a->run[runs++][0] = rows->row[t];
		a->run[runs - 1][1] = end = rows->row[t] + bytes;
	}
	a->runs = runs;
}

// Learns the rows of the tokens after these, which may be the next segment's,
// and begins to ask for them.
FN void learn(work *w, int to, const dg_segment *g, int64_t token, int fp8) {
	const int32_t *table = (const int32_t *)w->op->x2 + g->sequence * w->op->n3;
	int n = w->n[to] = gather(w->op, table, g->head, token, g->to, fp8, &w->k[to], &w->v[to]);
	w->ask.at = w->ask.end = NULL;
	w->ask.next = w->ask.runs = 0;
	runs_of(&w->ask, &w->k[to], n, w->d * (fp8 ? 1 : 2));
	if (w->op->s)
		runs_of(&w->ask, &w->v[to], n, w->dv * (fp8 ? 1 : 2));
}

FN __mmask16 lanes_of(int64_t n) { return n >= 16 ? 0xffff : n <= 0 ? 0 : (1u << n) - 1; }

// The query heads as tiles of pairs, scaled, by block, chunk and part.
TILE_FN void lay_queries(work *w, const float *x, float scale, int fp8, int few) {
	for (int64_t b = 0; b < w->blocks; b++)
		for (int64_t c = 0; c < w->chunks; c++) {
			__m512i high[16] = {0}, low[16] = {0};
			for (int h = 0; h < w->heads && b * 16 + h < w->group; h++) {
				const float *q = x + (b * 16 + h) * w->d;
				int64_t at = fp8 ? c / 2 * 64 : c * 32;
				vec v[4], even, odd;
				for (int i = 0; i < (fp8 ? 4 : 2); i++)
					v[i] = v_mul(_mm512_maskz_loadu_ps(lanes_of(w->d - at - 16 * i), q + at + 16 * i), v_set1(scale));
				if (fp8)
					v[0] = every_second(v[0], v[1], c % 2), v[1] = every_second(v[2], v[3], c % 2);
				even = every_second(v[0], v[1], 0), odd = every_second(v[0], v[1], 1);
				bf16_pairs(even, odd, &high[h], few ? &high[8 + h] : &low[h]);
			}
			char *to = w->queries + (b * w->chunks + c) * 2 * TILE_BYTES;
			transpose(high, to);
			if (!few)
				transpose(low, to + TILE_BYTES);
		}
}

// Finds the tiles of keys: rows of one page are read where they are, others
// are copied, and FP8 is converted. Tiles past the end are the first again.
FN void lay_keys(work *w, int now, int64_t token, int fp8) {
	int64_t page = w->op->n1, bytes = w->d * (fp8 ? 1 : 2);
	for (int i = 0; i < QUARTERS; i++) {
		const char *const *row = w->k[now].row + i * TILE_ROWS;
		if (i * TILE_ROWS >= w->n[now]) {
			w->key[i] = w->key[0], w->stride[i] = w->stride[0], w->step[i] = w->step[0];
			continue;
		}
		w->key[i] = row[0], w->stride[i] = bytes, w->step[i] = 64;
		if (!fp8 && w->d % SPAN == 0 && (token + i * TILE_ROWS) % page + TILE_ROWS <= page)
			continue;
		char *to = w->keys + i * w->chunks * TILE_BYTES;
		w->key[i] = to, w->stride[i] = 64, w->step[i] = TILE_BYTES;
		for (int t = 0; t < TILE_ROWS; t++, to += 64)
			for (int64_t at = 0, c = 0; at < bytes; at += 64, c += fp8 ? 2 : 1) {
				__m512i even, odd, *tile = (__m512i *)(to + c * TILE_BYTES);
				if (fp8) {
					bf16_of_fp8(row[t] + at, bytes - at, &even, &odd);
					tile[0] = even, tile[TILE_BYTES / 64] = odd;
				} else {
					tile[0] = _mm512_maskz_loadu_epi8(first_bytes(bytes - at), row[t] + at);
				}
				if (c % 4 == 0)
					ask(&w->ask);
			}
	}
}

// s[token][head], of four tiles of tokens.
TILE_FN void score(work *w, int64_t block, int few) {
	const char *q = w->queries + block * w->chunks * 2 * TILE_BYTES, *k[QUARTERS];
	memcpy(k, w->key, sizeof k);
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
	_tile_loadd(tile, k[i], w->stride[i]); \
	_tile_dpbf16ps(i, tile, 4); \
	if (!few) \
		_tile_dpbf16ps(i, tile, 5); \
	k[i] += w->step[i]
		TOKENS(0, 6);
		TOKENS(1, 7);
		ask(&w->ask);
		TOKENS(2, 6);
		TOKENS(3, 7);
		ask(&w->ask);
	}
	_tile_stored(0, w->s, 64);
	_tile_stored(1, w->s + 16 * TILE_ROWS, 64);
	_tile_stored(2, w->s + 32 * TILE_ROWS, 64);
	_tile_stored(3, w->s + 48 * TILE_ROWS, 64);
}

// Brings what was summed so far to a new base: f of each head.
FN void rescale(work *w, int64_t block, vec f, int few) {
	float *acc = w->acc + block * w->spans * 2 * 256, each[16];
	v_store(each, f);
	int64_t heads = w->group - block * 16 < 16 ? w->group - block * 16 : 16;
	for (int64_t tile = 0; tile < 2 * w->spans; tile++, acc += 256)
		for (int64_t h = 0; h < heads; h++) {
			vec by = v_set1(each[h]);
			v_store(acc + 16 * h, v_mul(by, v_load(acc + 16 * h)));
			if (few)
				v_store(acc + 16 * (8 + h), v_mul(by, v_load(acc + 16 * (8 + h))));
		}
}

// Turns scores into weights: lanes are heads, so nothing is added across them.
TILE_FN void soften(work *w, int64_t block, int n, int few) {
	float *s = w->s, *top = w->top + 16 * block, *sum = w->sum + 16 * block;
	vec high[4] = {v_load(top), v_load(top), v_load(top), v_load(top)};
	for (int t = 0; t < n; t += 4)
#pragma GCC unroll 4
		for (int i = 0; i < 4; i++) {
			vec v = v_load(s + 16 * (t + i));
			if (few) // both parts
				v = v_add(v, _mm512_shuffle_f32x4(v, v, 0x4e));
			if (t + i >= n)
				v = v_set1(-INFINITY);
			v_store(s + 16 * (t + i), v);
			high[i] = v_max(high[i], v);
		}
	for (int t = (n + 3) / 4 * 4; t < TILE; t++)
		v_store(s + 16 * t, v_set1(-INFINITY));
	vec best = v_max(v_max(high[0], high[1]), v_max(high[2], high[3])), before = v_load(top);
	vec total = v_load(sum), more = v_set1(0);
	if (_mm512_cmp_ps_mask(best, before, _CMP_GT_OQ)) {
		vec f = v_exp2(v_sub(before, best));
		rescale(w, block, f, few);
		total = v_mul(f, total);
		v_store(top, best);
	}
	for (int k = 0; k < 2; k++) {
		__m512i pairs[2][16];
		for (int i = 0; i < 16; i++, s += 32) {
			vec a = v_exp2(v_sub(v_load(s), best)), b = v_exp2(v_sub(v_load(s + 16), best));
			total = v_add(total, a), more = v_add(more, b);
			bf16_pairs(a, b, &pairs[0][i], &pairs[1][i]);
			if (few)
				pairs[0][i] = _mm512_mask_mov_epi32(pairs[0][i], 0xff00, pairs[1][i]);
			ask(&w->ask);
		}
		transpose(pairs[0], w->weights + k * TILE_BYTES);
		if (!few)
			transpose(pairs[1], w->weights + (2 + k) * TILE_BYTES);
	}
	v_store(sum, v_add(total, more));
}

// Two rows' slots as pairs, in two tiles.
FN void pair_up(char *tile, __m512i a, __m512i b) {
	_mm512_store_si512(tile, _mm512_unpacklo_epi16(a, b));
	_mm512_store_si512(tile + 2 * TILE_BYTES, _mm512_unpackhi_epi16(a, b));
}

// Pairs of tokens of n spans of slots: [span][half of each eight slots][half
// of the tokens]. Rows outside: they are read in the order that they lie in.
FN void lay_values(work *w, int now, int64_t span, int n, int fp8) {
	const char *const *row = w->v[now].row;
	char *to = w->values + (span & w->kept) * SPAN_BYTES;
	int64_t at = span * (fp8 ? 32 : 64), left = w->dv * (fp8 ? 1 : 2) - at;
	__mmask64 some[LAID];
	for (int i = 0; i < LAID; i++)
		some[i] = first_bytes(left - 64 * i);
	for (int t = 0; t < TILE; t += 2, to += t % 32 ? 64 : TILE_BYTES - 15 * 64) {
		const char *a = row[t] + at, *b = row[t + 1] + at;
		if (!fp8) {
#pragma GCC unroll 2
			for (int i = 0; i < n; i++)
				pair_up(to + i * SPAN_BYTES, _mm512_maskz_loadu_epi8(some[i], a + 64 * i), _mm512_maskz_loadu_epi8(some[i], b + 64 * i));
		} else if (!w->op->s) { // converted with the keys
			const char *key = w->key[t / TILE_ROWS] + span * TILE_BYTES + t % TILE_ROWS * 64;
#pragma GCC unroll 2
			for (int i = 0; i < n; i++)
				pair_up(to + i * SPAN_BYTES, _mm512_load_si512(key + i * TILE_BYTES), _mm512_load_si512(key + i * TILE_BYTES + 64));
		} else {
			for (int i = 0; i < n; i += 2) {
				__m512i even[2], odd[2];
				bf16_of_fp8(a + 32 * i, left - 32 * i, &even[0], &odd[0]);
				bf16_of_fp8(b + 32 * i, left - 32 * i, &even[1], &odd[1]);
				pair_up(to + i * SPAN_BYTES, even[0], even[1]);
				pair_up(to + (i + 1) * SPAN_BYTES, odd[0], odd[1]);
			}
		}
		if (t % 8 == 0)
			ask(&w->ask);
	}
}

// Adds the weighted values of a span of slots.
TILE_FN void weigh(work *w, int64_t block, int64_t span, int few) {
	float *acc = w->acc + (block * w->spans + span) * 512;
	const char *v = w->values + (span & w->kept) * SPAN_BYTES;
	IN_ORDER();
#define VALUES(c) \
	_tile_loadd(c, acc + c * 256, 64); \
	_tile_loadd(2, v + c * 2 * TILE_BYTES, 64); \
	_tile_loadd(3, v + c * 2 * TILE_BYTES + TILE_BYTES, 64); \
	_tile_dpbf16ps(c, 4, 2); \
	_tile_dpbf16ps(c, 5, 3); \
	if (!few) { \
		_tile_dpbf16ps(c, 6, 2); \
		_tile_dpbf16ps(c, 7, 3); \
	} \
	_tile_stored(c, acc + c * 256, 64)
	VALUES(0);
	VALUES(1);
}

// All weighted values of a block. Pairs are laid for the first block, some
// spans ahead of their products.
TILE_FN void weigh_all(work *w, int64_t block, int now, int fp8, int few) {
	IN_ORDER();
	_tile_loadd(4, w->weights, 64);
	_tile_loadd(5, w->weights + TILE_BYTES, 64);
	if (!few) {
		_tile_loadd(6, w->weights + 2 * TILE_BYTES, 64);
		_tile_loadd(7, w->weights + 3 * TILE_BYTES, 64);
	}
	for (int64_t span = 0; span < w->spans; span += LAID) {
		int n = (int)(w->spans - span < LAID ? w->spans - span : LAID);
		if (!block) {
			if (n == LAID)
				lay_values(w, now, span, LAID, fp8);
			else
				lay_values(w, now, span, n, fp8);
		}
		for (int i = 0; i < n; i++)
			weigh(w, block, span + i, few);
	}
}

// A head's values in order, times factor.
FN void write_head(const work *w, int64_t head, float factor, float *to, int fp8, int few) {
	const float *acc = w->acc + head / 16 * w->spans * 512 + head % 16 * 16;
	const __m512i first = _mm512_setr_epi32(0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23);
	const __m512i second = _mm512_add_epi32(first, _mm512_set1_epi32(8));
	const __m512i even = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
	const __m512i odd = _mm512_add_epi32(even, _mm512_set1_epi32(8));
	for (int64_t span = 0; span < w->spans; span += 2) {
		vec v[4] = {0}, out[4];
		for (int i = 0; i < 2 && span + i < w->spans; i++) {
			const float *at = acc + (span + i) * 512;
			vec a = v_load(at), b = v_load(at + 256);
			if (few)
				a = v_add(a, v_load(at + 128)), b = v_add(b, v_load(at + 256 + 128));
			v[2 * i] = _mm512_permutex2var_ps(a, first, b), v[2 * i + 1] = _mm512_permutex2var_ps(a, second, b);
		}
		memcpy(out, v, sizeof out);
		if (fp8) {
			out[0] = _mm512_permutex2var_ps(v[0], even, v[2]), out[1] = _mm512_permutex2var_ps(v[0], odd, v[2]);
			out[2] = _mm512_permutex2var_ps(v[1], even, v[3]), out[3] = _mm512_permutex2var_ps(v[1], odd, v[3]);
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
		if (g->partial) {
			write_head(w, h, 1, g->partial + h * vs, fp8, few);
			g->partial[w->group * vs + h] = w->top[h];
			g->partial[w->group * (vs + 1) + h] = w->sum[h];
		} else {
			write_head(w, h, op->f1 * (fp8 ? 256 : 1) / w->sum[h], y + h * w->dv, fp8, few);
		}
	}
}

// Tokens [from, to) of one sequence for the query heads of one KV head; asks
// for the first tokens of the next segment, if there is one, and returns where
// their rows are known.
TILE_FN int segment(work *w, const dg_segment *g, const dg_segment *next, int now, int fp8, int few) {
	const dg_op *op = w->op;
	memset(w->acc, 0, sizeof(float) * 512 * w->blocks * w->spans);
	for (int64_t i = 0; i < 16 * w->blocks; i++)
		w->top[i] = -INFINITY, w->sum[i] = 0;
	const float *x = (const float *)op->x + (g->sequence * op->rows + g->head * w->group) * w->d;
	lay_queries(w, x, op->f0 * 1.44269504f * (fp8 ? 256 : 1), fp8, few);
	for (int64_t t = g->from; t < g->to; t += TILE, now = !now) {
		if (t + TILE < g->to)
			learn(w, !now, g, t + TILE, fp8);
		else if (next)
			learn(w, !now, next, next->from, fp8);
		lay_keys(w, now, t, fp8);
		for (int64_t b = 0; b < w->blocks; b++) {
			score(w, b, few);
			soften(w, b, w->n[now], few);
			weigh_all(w, b, now, fp8, few);
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
	w.blocks = (w.group + 15) / 16, w.heads = few ? w.group : 16;
	w.kept = w.blocks > 1 ? -1 : LAID - 1;
	w.keys = (char *)g.work;
	w.values = w.keys + w.chunks * QUARTERS * TILE_BYTES;
	w.queries = w.values + w.spans * QUARTERS * TILE_BYTES;
	w.weights = w.queries + w.blocks * w.chunks * 2 * TILE_BYTES;
	w.s = (float *)(w.weights + 4 * TILE_BYTES);
	w.acc = w.s + 16 * TILE;
	w.top = w.acc + w.blocks * w.spans * 512, w.sum = w.top + 16 * w.blocks;
	int64_t lines = TILE * size * (w.d + (op->s ? w.dv : 0)) / 64;
	int64_t times = w.blocks * (2 * w.chunks + 32) + 8 * w.spans; // of asking, copies aside
	w.ask.each = (int)((lines + times - 1) / times);
	learn(&w, 0, &g, g.from, fp8);
	tiles_begin();
	for (int now = 0, more = 1; more; g = next) {
		next = g;
		more = dg_next_segment(op, part, parts, &next);
		now = segment(&w, &g, more ? &next : NULL, now, fp8, few);
	}
	tiles_end();
}

AMX void dg_attention_bf16_amx(const dg_op *op, int part, int parts) {
	if (op->rows / op->n0 <= 8)
		attend(op, part, parts, 0, 1);
	else
		attend(op, part, parts, 0, 0);
}

AMX void dg_attention_fp8_amx(const dg_op *op, int part, int parts) {
	if (op->rows / op->n0 <= 8)
		attend(op, part, parts, 1, 1);
	else
		attend(op, part, parts, 1, 0);
}

AMX void dg_merge_bf16_amx(const dg_op *op, int part, int parts) { merge(op, part, parts, 0, 0); }
AMX void dg_merge_fp8_amx(const dg_op *op, int part, int parts) { merge(op, part, parts, 1, 0); }
#endif
