// Sampling from a row of logits, once for every vector width: include after
// argmax_vec.h. Tokens are ordered by falling logit, of equals the first; the
// order is cut after top-k tokens, then where top-p of what is left is
// reached, and the token drawn is where u of the rest is passed.
//
// Sorting a vocabulary for that would cost more than reading it: tokens are
// counted into buckets by their distance from the highest, and only the bucket
// in which a bound falls is collected and sorted.
#include "sample.h"

// The distance of a logit from the highest in buckets: the same operations in
// vectors and alone, so that no token is in two.
FN float distance(const dg_op *op, float top, float x) { return (top - x) * (op->f0 * DG_BUCKETS_PER_NAT); }

FN vec distances(const dg_op *op, vec top, vec x) {
	return v_mul(v_sub(top, x), v_set1(op->f0 * DG_BUCKETS_PER_NAT));
}

FN float weight(const dg_op *op, float top, float x) {
	float out[LANES];
	v_store(out, v_exp2(v_set1((x - top) * (op->f0 * 1.44269504f))));
	return out[0];
}

FN int bucket_of(float distance) { return distance < DG_BUCKETS - 1 ? (int)distance : DG_BUCKETS - 1; }

// DG_TALLY
TARGET void OP(tally)(const dg_op *op, int part, int parts) {
	int64_t from, to;
	share(op->cols, part, parts, &from, &to);
	for (int64_t row = 0; row < op->m && !dg_cancelled(op); row++) {
		const float *x = (const float *)op->x + row * op->cols;
		dg_tally *tally = dg_tally_of(op, row, part, parts);
		memset(tally, 0, sizeof *tally);
		float top = dg_top_of(op, row, parts)->value;
		vec tops = v_set1(top), scale = v_set1(op->f0 * 1.44269504f);
		int64_t i = from;
		for (; i + LANES <= to; i += LANES) {
			vec v = v_load(x + i);
			float d[LANES], e[LANES];
			v_store(d, distances(op, tops, v));
			v_store(e, v_exp2(v_mul(v_sub(v, tops), scale)));
			for (int k = 0; k < LANES; k++) {
				int b = bucket_of(d[k]);
				tally->mass[b] += e[k];
				tally->count[b]++;
			}
		}
		for (; i < to; i++) {
			int b = bucket_of(distance(op, top, x[i]));
			tally->mass[b] += weight(op, top, x[i]);
			tally->count[b]++;
		}
	}
}

// Collects the tokens of a bucket in order.
FN int64_t collect(const dg_op *op, const float *x, float top, int bucket, uint64_t *keys) {
	vec tops = v_set1(top), low = v_set1(bucket), high = v_set1(bucket == DG_BUCKETS - 1 ? INFINITY : bucket + 1);
	int64_t n = 0, i = 0;
	for (; i + LANES <= op->cols; i += LANES) {
		vec d = distances(op, tops, v_load(x + i));
		// The last bucket has what is infinitely far as well.
		unsigned in = v_at_least(d, low);
		if (in && bucket < DG_BUCKETS - 1)
			in &= ~v_at_least(d, high);
		for (; in; in &= in - 1) {
			int64_t at = i + __builtin_ctz(in);
			keys[n++] = dg_key(x[at], at);
		}
	}
	for (; i < op->cols; i++)
		if (bucket_of(distance(op, top, x[i])) == bucket)
			keys[n++] = dg_key(x[i], i);
	dg_sort(keys, n, op->cancel);
	return n;
}

// A place in the order: so many tokens of a bucket after all earlier ones.
typedef struct {
	int bucket;
	int64_t rank;
	double mass; // up to here
} bound;

// Where count tokens, or a mass, are first reached: never past limit.
FN bound reach(const dg_op *op, const float *x, float top, const dg_tally *all, int64_t count, double mass,
               const bound *limit, uint64_t *keys, int64_t *token) {
	double before = 0;
	int64_t seen = 0;
	int b = 0;
	for (; b < limit->bucket; b++) {
		if (seen + all->count[b] >= count || before + all->mass[b] >= mass)
			break;
		seen += all->count[b], before += all->mass[b];
	}
	bound at = {.bucket = b, .mass = before};
	int64_t n = collect(op, x, top, b, keys);
	if (b == limit->bucket && n > limit->rank)
		n = limit->rank;
	while (at.rank < n) {
		*token = (int64_t)(uint32_t)keys[at.rank];
		at.mass += weight(op, top, x[*token]);
		at.rank++;
		if (seen + at.rank >= count || at.mass >= mass)
			break;
	}
	return at;
}

// DG_DRAW: each part has whole rows.
TARGET void OP(draw)(const dg_op *op, int part, int parts) {
	uint64_t *keys = dg_keys_of(op, part, parts);
	for (int64_t row = part; row < op->m && !dg_cancelled(op); row += parts) {
		const float *x = (const float *)op->x + row * op->cols;
		dg_tally *all = dg_tally_of(op, row, 0, parts);
		for (int p = 1; p < parts; p++) {
			const dg_tally *other = dg_tally_of(op, row, p, parts);
			for (int b = 0; b < DG_BUCKETS; b++)
				all->mass[b] += other->mass[b], all->count[b] += other->count[b];
		}
		float top = dg_top_of(op, row, parts)->value;
		int64_t token = dg_top_of(op, row, parts)->index;
		bound end = {.bucket = DG_BUCKETS - 1, .rank = op->cols};
		for (int b = 0; b < DG_BUCKETS; b++)
			end.mass += all->mass[b];
		if (op->n0 > 0 && op->n0 < op->cols)
			end = reach(op, x, top, all, op->n0, INFINITY, &end, keys, &token);
		if (op->f1 < 1)
			end = reach(op, x, top, all, INT64_MAX, op->f1 * end.mass, &end, keys, &token);
		double u = ((const float *)op->x3)[row];
		// The least number above 0, so that 0 draws the first token.
		reach(op, x, top, all, INT64_MAX, u > 0 ? u * end.mass : 1e-300, &end, keys, &token);
		((int32_t *)op->y)[row] = (int32_t)token;
	}
}
