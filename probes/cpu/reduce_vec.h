// The sum of what each part holds, once for every vector width: include after
// rows_vec.h. All parts add in the same order, so all have the same bits.

FN void add_up(const dg_op *op, int parts, float *y, int64_t from, int64_t to) {
	const float *x = op->x;
	int64_t i = from;
	for (; i + LANES <= to; i += LANES) {
		vec sum = v_load(x + i);
		for (int p = 1; p < parts; p++)
			sum = v_add(sum, v_load(x + p * op->n0 + i));
		v_store(y + i, sum);
	}
	for (; i < to; i++) {
		float sum = x[i];
		for (int p = 1; p < parts; p++)
			sum += x[p * op->n0 + i];
		y[i] = sum;
	}
}

// DG_REDUCE
TARGET void OP(reduce)(const dg_op *op, int part, int parts) {
	add_up(op, parts, (float *)op->y + part * op->n0, 0, op->cols);
}

// DG_REDUCE_SLICE
TARGET void OP(reduce_slice)(const dg_op *op, int part, int parts) {
	int64_t from, to;
	share(op->cols, part, parts, &from, &to);
	add_up(op, parts, op->y2, from, to);
}

// DG_REDUCE_SPREAD
TARGET void OP(reduce_spread)(const dg_op *op, int part, int parts) {
	(void)parts;
	memcpy((float *)op->y + part * op->n0, op->y2, sizeof(float) * op->cols);
}
