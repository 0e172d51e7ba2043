// What every decode attention shares, include after a vector_*.h and with TILE
// defined: which rows a tile's tokens have, and the merge of partial results.
#include "attention.h"

// The rows of a tile's tokens.
typedef struct {
	const char *row[TILE];
} OP(rows);

// The rows of up to TILE tokens from token on; those past the end repeat the
// last one.
FN int gather(const dg_op *op, const int32_t *table, int64_t head, int64_t token, int64_t end,
              int fp8, OP(rows) *k, OP(rows) *v) {
	int64_t page = op->n1, size = fp8 ? 1 : 2;
	int n = (int)(end - token < TILE ? end - token : TILE);
	for (int t = 0; t < n;) {
		int64_t in = (token + t) % page;
		int64_t row = ((int64_t)table[(token + t) / page] * op->n0 + head) * page + in;
		for (; in < page && t < n; in++, row++, t++) {
			k->row[t] = (const char *)op->w + row * op->cols * size;
			v->row[t] = op->s ? (const char *)op->s + row * op->n4 * size : k->row[t];
		}
	}
	for (int t = n; t < TILE; t++)
		k->row[t] = k->row[n - 1], v->row[t] = v->row[n - 1];
	return n;
}

// Where value i of a row lies among the vectors that pair makes of it.
FN int64_t place(int64_t i, int paired) {
	if (!paired)
		return i;
	int64_t block = i / (2 * LANES) * (2 * LANES), in = i % (2 * LANES);
	return block + in % 2 * LANES + in / 2;
}

// Adds the partial results of a part's rows, whose values are paired or in order.
FN void merge(const dg_op *op, int part, int parts, int fp8, int paired) {
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
				all += factor[k] * acc[k][h * vs + place(i, paired)];
			y[i] = all * out;
		}
	}
}
