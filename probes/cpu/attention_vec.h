// Decode attention over a paged cache, once for every vector width: include
// after a vector_*.h. The query heads of a group read its keys and values
// once; sums are float32 and the softmax is online, in base 2.
//
// The pairs of (sequence, KV head) are laid end to end in units of UNIT tokens
// and cut into equal parts, so every thread has the same work whatever the
// numbers of heads and threads. A pair that is cut leaves one partial result a
// part, which the merge after the barrier adds in the order of the parts.
#include "attention.h"

enum { TILE = 32, CHUNK = 4 };

FN void pair(const char *row, int64_t at, int64_t n, int fp8, vec *a, vec *b) {
	if (fp8)
		v_pair_fp8((const uint8_t *)row + at, n - at, a, b);
	else
		v_pair_bf16((const uint16_t *)row + at, n - at, a, b);
}

// Where value i of a row lies among the vectors that pair makes of it.
FN int64_t place(int64_t i, int fp8) {
	if (fp8)
		return i;
	int64_t block = i / (2 * LANES) * (2 * LANES), in = i % (2 * LANES);
	return block + in % 2 * LANES + in / 2;
}

// s[g·TILE + t] = q[g]·rows[t], for gc heads, tb tokens at a time.
FN void scores(const float *q, int64_t stride, const char **rows, const char **ahead,
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
				pair(rows[t + j], at, d, fp8, &a, &b);
				if (ahead)
					__builtin_prefetch(ahead[t + j] + (fp8 ? at : 2 * at), 0, 3);
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
FN void weigh_at(const float *p, float *acc, int64_t stride, const char **rows, const char **ahead,
                 int64_t at, int64_t d, int n, int gc, int pairs, int fp8) {
	vec sum[CHUNK * 2 * WEIGH_PAIRS];
#pragma GCC unroll 4
	for (int g = 0; g < gc; g++)
#pragma GCC unroll 4
		for (int c = 0; c < 2 * pairs; c++)
			sum[g * 2 * pairs + c] = v_load(acc + g * stride + at + c * LANES);
	for (int t = 0; t < n; t++) {
		const char *row = rows[t];
		vec v[2 * WEIGH_PAIRS];
#pragma GCC unroll 2
		for (int c = 0; c < pairs; c++) {
			int64_t k = at + c * 2 * LANES;
			pair(row, k, d, fp8, &v[2 * c], &v[2 * c + 1]);
			if (ahead)
				__builtin_prefetch(ahead[t] + (fp8 ? k : 2 * k), 0, 3);
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

FN void weigh(const float *p, float *acc, int64_t stride, const char **rows, const char **ahead,
              int64_t d, int n, int gc, int fp8) {
	int64_t at = 0;
	for (; at + 2 * LANES * (WEIGH_PAIRS - 1) < d; at += 2 * LANES * WEIGH_PAIRS)
		weigh_at(p, acc, stride, rows, ahead, at, d, n, gc, WEIGH_PAIRS, fp8);
	for (; at < d; at += 2 * LANES)
		weigh_at(p, acc, stride, rows, ahead, at, d, n, gc, 1, fp8);
}

// Turns gc rows of n scores into weights, and what was summed so far to the
// same base.
FN void soften(float *s, float *acc, int64_t stride, int64_t d, float *top, float *sum, int n, int gc) {
	for (int g = 0; g < gc; g++) {
		float *row = s + g * TILE;
		for (int t = n; t < TILE; t++)
			row[t] = -INFINITY;
		vec high = v_load(row);
		for (int t = LANES; t < TILE; t += LANES)
			high = v_max(high, v_load(row + t));
		float best = v_highest(high);
		if (best > top[g]) {
			vec f = v_exp2(v_set1(top[g] - best));
			for (int64_t i = 0; i < d; i += LANES)
				v_store(acc + g * stride + i, v_mul(f, v_load(acc + g * stride + i)));
			float factor[LANES];
			v_store(factor, f);
			sum[g] *= factor[0];
			top[g] = best;
		}
		vec total = v_set1(0), base = v_set1(top[g]);
		for (int t = 0; t < TILE; t += LANES) {
			vec p = v_exp2(v_sub(v_load(row + t), base));
			v_store(row + t, p);
			total = v_add(total, p);
		}
		sum[g] += v_sum(total);
	}
}

// The rows of up to TILE tokens from token on; those past the end repeat the
// last one.
FN int gather(const dg_op *op, const int32_t *table, int64_t head, int64_t token, int64_t end,
              int fp8, const char **k, const char **v) {
	int64_t page = op->n1, size = fp8 ? 1 : 2;
	int n = (int)(end - token < TILE ? end - token : TILE);
	for (int t = 0; t < n;) {
		int64_t in = (token + t) % page;
		int64_t row = ((int64_t)table[(token + t) / page] * op->n0 + head) * page + in;
		for (; in < page && t < n; in++, row++, t++) {
			k[t] = (const char *)op->w + row * op->cols * size;
			v[t] = op->s ? (const char *)op->s + row * op->n4 * size : k[t];
		}
	}
	for (int t = n; t < TILE; t++)
		k[t] = k[n - 1], v[t] = v[n - 1];
	return n;
}

FN void tile(float *q, int64_t qs, float *acc, int64_t vs, float *top, float *sum, const char **k, const char **v,
             const char **k_ahead, const char **v_ahead, int64_t d, int64_t dv, int n, int gc, int fp8) {
	_Alignas(64) float s[CHUNK * TILE];
	scores(q, qs, k, k_ahead, d, n, gc, SCORE_SUMS / (gc == 3 ? 4 : gc), fp8, s);
	soften(s, acc, vs, vs, top, sum, n, gc);
	weigh(s, acc, vs, v, v_ahead, dv, n, gc, fp8);
}

// Tokens [from, to) of one sequence for the query heads of one KV head.
FN void segment(const dg_op *op, const dg_segment *g, int fp8) {
	int64_t group = op->rows / op->n0, d = op->cols, dv = op->n4;
	int64_t qs = dg_padded(d), vs = dg_padded(dv);
	float *q = g->work, *acc = q + group * qs, *top = acc + group * vs, *sum = top + group;
	const float *x = (const float *)op->x + (g->sequence * op->rows + g->head * group) * d;
	float scale = op->f0 * 1.44269504f * (fp8 ? 256 : 1);
	memset(q, 0, sizeof *q * group * (qs + vs));
	for (int64_t h = 0; h < group; h++) {
		for (int64_t i = 0; i < d; i++)
			q[h * qs + place(i, fp8)] = x[h * d + i] * scale;
		top[h] = -INFINITY, sum[h] = 0;
	}
	const int32_t *table = (const int32_t *)op->x2 + g->sequence * op->n3;
	const char *k[2][TILE], *v[2][TILE];
	int now = 0, n = gather(op, table, g->head, g->from, g->to, fp8, k[0], v[0]);
	for (int64_t t = g->from; t < g->to; now = !now) {
		int64_t next = t + n;
		int m = gather(op, table, g->head, next < g->to ? next : t, g->to, fp8, k[!now], v[!now]);
		for (int64_t h = 0; h < group; h += CHUNK) {
			const char **ka = h ? NULL : k[!now], **va = h || !op->s ? NULL : v[!now];
#define ROWS q + h * qs, qs, acc + h * vs, vs, top + h, sum + h, k[now], v[now]
			switch (group - h) {
			case 1:
				tile(ROWS, ka, va, d, dv, n, 1, fp8);
				break;
			case 2:
				tile(ROWS, ka, va, d, dv, n, 2, fp8);
				break;
			case 3:
				tile(ROWS, ka, va, d, dv, n, 3, fp8);
				break;
			default:
				tile(ROWS, ka, va, d, dv, n, 4, fp8);
			}
#undef ROWS
		}
		t = next, n = m;
	}
	if (g->partial) {
		memcpy(g->partial, acc, sizeof *acc * group * (vs + 2)); // acc, top, sum
		return;
	}
	float *y = (float *)op->y + (g->sequence * op->rows + g->head * group) * dv;
	float out = op->f1 * (fp8 ? 256 : 1);
	for (int64_t h = 0; h < group; h++)
		for (int64_t i = 0; i < dv; i++)
			y[h * dv + i] = acc[h * vs + place(i, fp8)] * out / sum[h];
}

FN void merge(const dg_op *op, int part, int parts, int fp8) {
	int64_t group = op->rows / op->n0, dv = op->n4, vs = dg_padded(dv);
	for (int64_t row = part; row < op->m * op->rows; row += parts) {
		int64_t sequence = row / op->rows, head = row % op->rows / group, h = row % group;
		const float *acc[DG_PARTS];
		int n = dg_partials(op, sequence, head, parts, acc);
		if (!n)
			continue;
		float top = -INFINITY, sum = 0;
		for (int i = 0; i < n; i++)
			top = fmaxf(top, acc[i][group * vs + h]);
		float factor[DG_PARTS];
		for (int i = 0; i < n; i++) {
			factor[i] = exp2f(acc[i][group * vs + h] - top);
			sum += factor[i] * acc[i][group * vs + group + h];
		}
		float *y = (float *)op->y + row * dv, out = op->f1 * (fp8 ? 256 : 1) / sum;
		for (int64_t i = 0; i < dv; i++) {
			float all = 0;
			for (int k = 0; k < n; k++)
				all += factor[k] * acc[k][h * vs + place(i, fp8)];
			y[i] = all * out;
		}
	}
}

TARGET void OP(attention_bf16)(const dg_op *op, int part, int parts) {
	dg_segment g = {0};
	while (dg_next_segment(op, part, parts, &g))
		segment(op, &g, 0);
}

TARGET void OP(attention_fp8)(const dg_op *op, int part, int parts) {
	dg_segment g = {0};
	while (dg_next_segment(op, part, parts, &g))
		segment(op, &g, 1);
}

TARGET void OP(merge_bf16)(const dg_op *op, int part, int parts) { merge(op, part, parts, 0); }
TARGET void OP(merge_fp8)(const dg_op *op, int part, int parts) { merge(op, part, parts, 1); }
