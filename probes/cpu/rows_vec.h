// The small operations on rows of activations, once for every vector width:
// include after a vector_*.h. A row is cut among the parts in lines of 16
// values, or the rows are, where there are as many as parts.

// The values [*from, *to) of n that a part has.
FN void share(int64_t n, int part, int parts, int64_t *from, int64_t *to) {
	int64_t lines = (n + 15) / 16;
	*from = lines * part / parts * 16;
	*to = lines * (part + 1) / parts * 16;
	if (*to > n)
		*to = n;
}

FN float bf16(uint16_t v) {
	uint32_t bits = (uint32_t)v << 16;
	float f;
	memcpy(&f, &bits, 4);
	return f;
}

FN float sum_squares(const float *x, const float *x2, int64_t n) {
	vec a = v_set1(0), b = a, c = a, d = a;
	int64_t i = 0;
#define SQUARE(sum, k) \
	do { \
		vec v = v_load(x + i + (k) * LANES); \
		if (x2) \
			v = v_add(v, v_load(x2 + i + (k) * LANES)); \
		sum = v_fma(v, v, sum); \
	} while (0)
	for (; i + 4 * LANES <= n; i += 4 * LANES) {
		SQUARE(a, 0);
		SQUARE(b, 1);
		SQUARE(c, 2);
		SQUARE(d, 3);
	}
	for (; i + LANES <= n; i += LANES)
		SQUARE(a, 0);
#undef SQUARE
	float rest = 0;
	for (; i < n; i++) {
		float v = x2 ? x[i] + x2[i] : x[i];
		rest += v * v;
	}
	return v_sum(v_add(v_add(a, b), v_add(c, d))) + rest;
}

// y = (x + x2)·r·(w + bias) and sum = x + x2, for values [from, to).
FN void scale_row(const float *x, const float *x2, const uint16_t *w, float r, float bias,
                  float *y, float *sum, int64_t from, int64_t to) {
	int64_t i = from;
	for (; i + LANES <= to; i += LANES) {
		vec v = v_load(x + i);
		if (x2)
			v = v_add(v, v_load(x2 + i));
		if (sum)
			v_store(sum + i, v);
		v_store(y + i, v_mul(v_mul(v, v_set1(r)), v_add(v_load_bf16(w + i), v_set1(bias))));
	}
	for (; i < to; i++) {
		float v = x2 ? x[i] + x2[i] : x[i];
		if (sum)
			sum[i] = v;
		y[i] = v * r * (bf16(w[i]) + bias);
	}
}

// DG_NORM. Every part sums the squares of the whole row: that is less than a
// second barrier.
TARGET void OP(norm)(const dg_op *op, int part, int parts) {
	int64_t n = op->cols, first = 0, last = op->m, from = 0, to = n;
	if (op->m >= parts)
		first = op->m * part / parts, last = op->m * (part + 1) / parts;
	else
		share(n, part, parts, &from, &to);
	for (int64_t row = first; row < last; row++) {
		const float *x = (const float *)op->x + row * n;
		const float *x2 = op->x2 ? (const float *)op->x2 + row * n : NULL;
		float r = 1 / sqrtf(sum_squares(x, x2, n) / n + op->f0);
		float *sum = op->y2 ? (float *)op->y2 + row * n : NULL;
		scale_row(x, x2, op->w, r, op->f1, (float *)op->y + row * n, sum, from, to);
	}
}

// DG_SUM
TARGET void OP(add)(const dg_op *op, int part, int parts) {
	int64_t i, to;
	share(op->m * op->cols, part, parts, &i, &to);
	const float *a = op->x, *b = op->x2;
	float *y = op->y;
	for (; i + LANES <= to; i += LANES)
		v_store(y + i, v_add(v_load(a + i), v_load(b + i)));
	for (; i < to; i++)
		y[i] = a[i] + b[i];
}

FN vec sigmoid(vec x) {
	return v_div(v_set1(1), v_add(v_set1(1), v_exp2(v_mul(x, v_set1(-1.44269504f)))));
}

// x·Φ(x) in its tanh form: ½·(1 + tanh(z)) is sigmoid(2z).
FN vec gelu(vec x) {
	vec z = v_mul(x, v_fma(v_mul(x, x), v_set1(0.0713548162726f), v_set1(1.59576912161f)));
	return v_mul(x, sigmoid(z));
}

FN void activate(const float *gate, const float *up, float *y, int64_t i, int64_t to, int kind) {
	for (; i < to; i += LANES) {
		_Alignas(64) float in[2 * LANES], out[LANES];
		vec g, u;
		int whole = i + LANES <= to;
		if (whole) {
			g = v_load(gate + i), u = v_load(up + i);
		} else {
			memset(in, 0, sizeof in);
			memcpy(in, gate + i, 4 * (to - i));
			memcpy(in + LANES, up + i, 4 * (to - i));
			g = v_load(in), u = v_load(in + LANES);
		}
		vec v = v_mul(kind == DG_GELU ? gelu(g) : v_mul(g, sigmoid(g)), u);
		if (whole) {
			v_store(y + i, v);
		} else {
			v_store(out, v);
			memcpy(y + i, out, 4 * (to - i));
		}
	}
}

// DG_ACTIVATE
TARGET void OP(activate)(const dg_op *op, int part, int parts) {
	int64_t from, to;
	share(op->cols, part, parts, &from, &to);
	for (int64_t row = 0; row < op->m; row++) {
		const float *gate = (const float *)op->x + row * op->n0;
		const float *up = (const float *)op->x2 + row * op->n0;
		float *y = (float *)op->y + row * op->cols;
		if (op->n1 == DG_GELU)
			activate(gate, up, y, from, to, DG_GELU);
		else
			activate(gate, up, y, from, to, DG_SILU);
	}
}

// DG_EMBED
TARGET void OP(embed)(const dg_op *op, int part, int parts) {
	int64_t from, to;
	share(op->cols, part, parts, &from, &to);
	for (int64_t row = 0; row < op->m; row++) {
		const uint16_t *w = (const uint16_t *)op->w + ((const int32_t *)op->x)[row] * op->cols;
		float *y = (float *)op->y + row * op->cols;
		int64_t i = from;
		for (; i + LANES <= to; i += LANES)
			v_store(y + i, v_load_bf16(w + i));
		for (; i < to; i++)
			y[i] = bf16(w[i]);
	}
}
