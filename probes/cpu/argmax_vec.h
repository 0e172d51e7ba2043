// The highest of many values, once for every vector width.

// The first index of the highest of n values; NaN is never the highest.
FN int64_t highest_of(const float *x, int64_t n, float *value) {
	vec best = v_set1(-INFINITY), b = best, c = best, d = best;
	int64_t i = 0;
	for (; i + 4 * LANES <= n; i += 4 * LANES) {
		best = v_max(v_load(x + i), best);
		b = v_max(v_load(x + i + LANES), b);
		c = v_max(v_load(x + i + 2 * LANES), c);
		d = v_max(v_load(x + i + 3 * LANES), d);
	}
	for (; i + LANES <= n; i += LANES)
		best = v_max(v_load(x + i), best);
	float top = v_highest(v_max(v_max(best, b), v_max(c, d)));
	for (; i < n; i++)
		if (x[i] > top)
			top = x[i];
	*value = top;
	vec all = v_set1(top);
	for (i = 0; i + LANES <= n; i += LANES) {
		unsigned found = v_equal(v_load(x + i), all);
		if (found)
			return i + __builtin_ctz(found);
	}
	for (; i < n; i++)
		if (x[i] == top)
			return i;
	return 0;
}

// DG_HIGHEST: each part's highest of every row into scratch, for DG_PICK.
TARGET void OP(highest)(const dg_op *op, int part, int parts) {
	int64_t from, to;
	share(op->cols, part, parts, &from, &to);
	for (int64_t row = 0; row < op->m; row++) {
		dg_highest *out = (dg_highest *)op->scratch + row * parts + part;
		out->index = from;
		out->value = -INFINITY;
		if (from < to)
			out->index = from + highest_of((const float *)op->x + row * op->cols + from, to - from, &out->value);
	}
}
