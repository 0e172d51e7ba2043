// Decode attention over a paged cache, once for every vector width: include
// after a vector_*.h. The query heads of a group read its keys and values
// once; sums are float32 and the softmax is online, in base 2.
//
// The pairs of (sequence, KV head) are laid end to end in units of UNIT tokens
// and cut into equal parts, so every thread has the same work whatever the
// numbers of heads and threads. A pair that is cut leaves one partial result a
// part, which the merge after the barrier adds in the order of the parts.
// Tokens at a time, query heads at a time, and tiles whose rows are known, the
// one at hand first: the next is asked for into L1, the last into L2, where
// more requests can be under way.
enum { TILE = 32, CHUNK = 4, AHEAD = 3, TILES = AHEAD + 1 };

#include "attention_rows.h"

FN void ask(const OP(rows) *near, const OP(rows) *far, int t, int64_t offset) {
	__builtin_prefetch(near->row[t] + offset, 0, 3);
	__builtin_prefetch(far->row[t] + offset, 0, 2);
}

FN void pair(const char *row, int64_t at, int64_t n, int fp8, vec *a, vec *b) {
	if (fp8)
		v_pair_fp8((const uint8_t *)row + at, n - at, a, b);
	else
		v_pair_bf16((const uint16_t *)row + at, n - at, a, b);
}

// s[g·TILE + t] = q[g]·rows[t], for gc heads, tb tokens at a time.
FN void scores(const float *q, int64_t stride, const OP(rows) *rows, const OP(rows) *near, const OP(rows) *far,
               int64_t d, int n, int gc, int tb, int fp8, float *s) {
	for (int t = 0; t < n; t += tb) {
		vec sum[SCORE_SUMS];
#pragma GCC unroll 16
		for (int i = 0; i < SCORE_SUMS; i++)
			sum[i] = v_set1(0);
		for (int64_t at = 0; at < d; at += 2 * LANES) {
			vec qa[CHUNK], qb[CHUNK];
#pragma GCC unroll 4
			for (int g = 0; g < gc; g++) {
				qa[g] = v_load(q + g * stride + at);
				qb[g] = v_load(q + g * stride + at + LANES);
			}
#pragma GCC unroll 16
			for (int j = 0; j < tb; j++) {
				vec a, b;
				pair(rows->row[t + j], at, d, fp8, &a, &b);
				if (near)
					ask(near, far, t + j, fp8 ? at : 2 * at);
#pragma GCC unroll 4
				for (int g = 0; g < gc; g++) {
					sum[g * tb + j] = v_fma(qa[g], a, sum[g * tb + j]);
					sum[g * tb + j] = v_fma(qb[g], b, sum[g * tb + j]);
				}
			}
		}
		float out[SCORE_SUMS];
		v_sums(sum, SCORE_SUMS, out);
#pragma GCC unroll 4
		for (int g = 0; g < gc; g++)
#pragma GCC unroll 16
			for (int j = 0; j < tb; j++)
				s[g * TILE + t + j] = out[g * tb + j];
	}
}

// acc[g] += Σ p[g·TILE + t]·rows[t] from value at on, for pairs pairs of vectors.
FN void weigh_at(const float *p, float *acc, int64_t stride, const OP(rows) *rows, const OP(rows) *near,
                 const OP(rows) *far, int64_t at, int64_t d, int n, int gc, int pairs, int fp8) {
	vec sum[CHUNK * 2 * WEIGH_PAIRS];
#pragma GCC unroll 4
	for (int g = 0; g < gc; g++)
#pragma GCC unroll 4
		for (int c = 0; c < 2 * pairs; c++)
			sum[g * 2 * pairs + c] = v_load(acc + g * stride + at + c * LANES);
	for (int t = 0; t < n; t++) {
		const char *row = rows->row[t];
		vec v[2 * WEIGH_PAIRS];
#pragma GCC unroll 2
		for (int c = 0; c < pairs; c++) {
			int64_t k = at + c * 2 * LANES;
			pair(row, k, d, fp8, &v[2 * c], &v[2 * c + 1]);
			if (near)
				ask(near, far, t, fp8 ? k : 2 * k);
		}
#pragma GCC unroll 4
		for (int g = 0; g < gc; g++) {
			vec w = v_set1(p[g * TILE + t]);
#pragma GCC unroll 4
			for (int c = 0; c < 2 * pairs; c++)
				sum[g * 2 * pairs + c] = v_fma(w, v[c], sum[g * 2 * pairs + c]);
		}
	}
#pragma GCC unroll 4
	for (int g = 0; g < gc; g++)
#pragma GCC unroll 4
		for (int c = 0; c < 2 * pairs; c++)
			v_store(acc + g * stride + at + c * LANES, sum[g * 2 * pairs + c]);
}

FN void weigh(const float *p, float *acc, int64_t stride, const OP(rows) *rows, const OP(rows) *near,
              const OP(rows) *far, int64_t d, int n, int gc, int fp8) {
	int64_t at = 0;
	for (; at + 2 * LANES * (WEIGH_PAIRS - 1) < d; at += 2 * LANES * WEIGH_PAIRS)
		weigh_at(p, acc, stride, rows, near, far, at, d, n, gc, WEIGH_PAIRS, fp8);
	for (; at < d; at += 2 * LANES)
		weigh_at(p, acc, stride, rows, near, far, at, d, n, gc, 1, fp8);
}

// Turns gc rows of n scores into weights, and what was summed so far to the
// same base. Sums stay a vector a head: adding its lanes would be waited for.
FN void soften(float *s, float *acc, int64_t stride, float *top, float *sum, int n, int gc) {
	float best[CHUNK];
#pragma GCC unroll 4
	for (int g = 0; g < gc; g++) {
		float *row = s + g * TILE;
		for (int t = n; t < TILE; t++)
			row[t] = -INFINITY;
		vec high = v_load(row);
		for (int t = LANES; t < TILE; t += LANES)
			high = v_max(high, v_load(row + t));
		best[g] = v_highest(high);
	}
#pragma GCC unroll 4
	for (int g = 0; g < gc; g++) {
		float *row = s + g * TILE;
		vec total = v_load(sum + g * LANES);
		if (best[g] > top[g]) {
			vec f = v_exp2(v_set1(top[g] - best[g]));
			for (int64_t i = 0; i < stride; i += LANES)
				v_store(acc + g * stride + i, v_mul(f, v_load(acc + g * stride + i)));
			total = v_mul(f, total);
			top[g] = best[g];
		}
		vec base = v_set1(top[g]);
		for (int t = 0; t < TILE; t += LANES) {
			vec p = v_exp2(v_sub(v_load(row + t), base));
			v_store(row + t, p);
			total = v_add(total, p);
		}
		v_store(sum + g * LANES, total);
	}
}

// What a segment works with.
typedef struct {
	const dg_op *op;
	const int32_t *table;
	const dg_segment *g;
	int64_t group, d, dv, qs, vs;
	float *q, *acc, *top, *sum;
	OP(rows) k[TILES], v[TILES];
	int n[TILES];
} OP(work);

// The scores of a chunk of heads; the first chunk asks for what follows.
FN void score_chunk(const OP(work) *w, int tile, int64_t h, int fp8, float *s) {
	const OP(rows) *k = w->k + tile, *near = h ? NULL : w->k + (tile + 1) % TILES, *far = w->k + (tile + AHEAD) % TILES;
	const float *q = w->q + h * w->qs;
	int n = w->n[tile];
	switch (w->group - h) {
	case 1:
		scores(q, w->qs, k, near, far, w->d, n, 1, SCORE_SUMS, fp8, s);
		break;
	case 2:
		scores(q, w->qs, k, near, far, w->d, n, 2, SCORE_SUMS / 2, fp8, s);
		break;
	case 3:
		scores(q, w->qs, k, near, far, w->d, n, 3, SCORE_SUMS / 4, fp8, s);
		break;
	default:
		scores(q, w->qs, k, near, far, w->d, n, 4, SCORE_SUMS / 4, fp8, s);
	}
}

FN void soften_chunk(const OP(work) *w, int tile, int64_t h, float *s) {
	float *acc = w->acc + h * w->vs, *top = w->top + h, *sum = w->sum + h * LANES;
	if (w->group - h >= CHUNK)
		soften(s, acc, w->vs, top, sum, w->n[tile], CHUNK);
	else
		for (int64_t g = 0; g < w->group - h; g++)
			soften(s + g * TILE, acc + g * w->vs, w->vs, top + g, sum + g * LANES, w->n[tile], 1);
}

// Adds a chunk's weighted values. Where they lie in the keys' rows, they were
// asked for with the keys.
FN void weigh_chunk(const OP(work) *w, int tile, int64_t h, int fp8, const float *s) {
	const OP(rows) *v = w->v + tile, *near = h || !w->op->s ? NULL : w->v + (tile + 1) % TILES, *far = w->v + (tile + AHEAD) % TILES;
	float *acc = w->acc + h * w->vs;
	int n = w->n[tile];
	switch (w->group - h) {
	case 1:
		weigh(s, acc, w->vs, v, near, far, w->dv, n, 1, fp8);
		break;
	case 2:
		weigh(s, acc, w->vs, v, near, far, w->dv, n, 2, fp8);
		break;
	case 3:
		weigh(s, acc, w->vs, v, near, far, w->dv, n, 3, fp8);
		break;
	default:
		weigh(s, acc, w->vs, v, near, far, w->dv, n, 4, fp8);
	}
}

// Learns the rows of a tile; past the end those of the tile before do.
FN void learn(OP(work) *w, int tile, int64_t token, int fp8) {
	int64_t from = token < w->g->to ? token : w->g->from;
	w->n[tile] = gather(w->op, w->table, w->g->head, from, w->g->to, fp8, &w->k[tile], &w->v[tile]);
}

// Tokens [from, to) of one sequence for the query heads of one KV head. The
// scores of the next step stand between the softmax of one and its sums: its
// chain of waits is hidden behind them.
FN void segment(const dg_op *op, const dg_segment *g, int fp8) {
	OP(work) w = {.op = op, .g = g, .group = op->rows / op->n0, .d = op->cols, .dv = op->n4};
	w.table = (const int32_t *)op->x2 + g->sequence * op->n3;
	w.qs = dg_padded(w.d), w.vs = dg_padded(w.dv);
	w.acc = g->work, w.top = w.acc + w.group * w.vs, w.sum = w.top + w.group;
	w.q = w.sum + w.group * LANES;
	memset(w.acc, 0, sizeof(float) * w.group * w.vs);
	memset(w.sum, 0, sizeof(float) * w.group * (LANES + w.qs));
	const float *x = (const float *)op->x + (g->sequence * op->rows + g->head * w.group) * w.d;
	float scale = op->f0 * 1.44269504f * (fp8 ? 256 : 1);
	for (int64_t h = 0; h < w.group; h++) {
		for (int64_t i = 0; i < w.d; i++)
			w.q[h * w.qs + place(i, !fp8)] = x[h * w.d + i] * scale;
		w.top[h] = -INFINITY;
	}
	for (int i = 0; i < AHEAD; i++)
		learn(&w, i, g->from + i * TILE, fp8);
	_Alignas(64) float s[2][CHUNK * TILE];
	int now = 0, side = 0;
	score_chunk(&w, 0, 0, fp8, s[0]);
	for (int64_t t = g->from; t < g->to && !dg_cancelled(op); t += TILE) {
		learn(&w, (now + AHEAD) % TILES, t + AHEAD * TILE, fp8);
		int next = (now + 1) % TILES;
		for (int64_t h = 0; h < w.group; h += CHUNK, side = !side) {
			soften_chunk(&w, now, h, s[side]);
			if (h + CHUNK < w.group)
				score_chunk(&w, now, h + CHUNK, fp8, s[!side]);
			else if (t + TILE < g->to)
				score_chunk(&w, next, 0, fp8, s[!side]);
			weigh_chunk(&w, now, h, fp8, s[side]);
		}
		now = next;
	}
	for (int64_t h = 0; h < w.group; h++)
		w.sum[h] = v_sum(v_load(w.sum + h * LANES));
	if (g->partial) {
		memcpy(g->partial, w.acc, sizeof(float) * w.group * (w.vs + 2)); // acc, top, sum
		return;
	}
	float *y = (float *)op->y + (g->sequence * op->rows + g->head * w.group) * w.dv;
	float out = op->f1 * (fp8 ? 256 : 1);
	for (int64_t h = 0; h < w.group; h++)
		for (int64_t i = 0; i < w.dv; i++)
			y[h * w.dv + i] = w.acc[h * w.vs + place(i, !fp8)] * out / w.sum[h];
}

TARGET void OP(attention_bf16)(const dg_op *op, int part, int parts) {
	dg_segment g = {0};
	while (!dg_cancelled(op) && dg_next_segment(op, part, parts, &g))
		segment(op, &g, 0);
}

TARGET void OP(attention_fp8)(const dg_op *op, int part, int parts) {
	dg_segment g = {0};
	while (!dg_cancelled(op) && dg_next_segment(op, part, parts, &g))
		segment(op, &g, 1);
}

TARGET void OP(merge_bf16)(const dg_op *op, int part, int parts) { merge(op, part, parts, 0, 1); }
TARGET void OP(merge_fp8)(const dg_op *op, int part, int parts) { merge(op, part, parts, 1, 0); }
