// Runs the scalar weight kernels with operands of exactly their sizes, for a
// memory checker: what is read or written outside them, or read before it is
// written, shows. Built by `make sanitize`.
#include "weights.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int run(int format, int m, int64_t rows, int64_t cols, int parts) {
	int64_t k = dg_chunk_k(format), chunks = (cols + k - 1) / k, blocks = (rows + DG_ROWS - 1) / DG_ROWS;
	const dg_weights *how = dg_weights_find(format, DG_SCALAR);
	void *w = malloc(blocks * chunks * dg_chunk_bytes(format));
	void *scratch = malloc(parts * dg_gemv_scratch(how, m, cols));
	float *x = malloc(sizeof(float) * m * cols), *y = malloc(sizeof(float) * m * rows), *s = NULL;
	if (format == DG_W_FP8) {
		int64_t n = (rows + 127) / 128 * chunks;
		s = malloc(sizeof(float) * n);
		for (int64_t i = 0; i < n; i++)
			s[i] = 0.5f;
	}
	for (int64_t i = 0; i < m * cols; i++)
		x[i] = (float)(i % 7) - 3;
	dg_op fill = {.rows = rows, .cols = cols, .n0 = format, .n1 = 1, .y = w};
	dg_op op = {.m = m, .rows = rows, .cols = cols, .w = w, .s = s, .n0 = s ? 128 : 0, .x = x, .y = y, .scratch = scratch, .f0 = 1, .how = how};
	for (int part = 0; part < parts; part++)
		dg_fill(&fill, part, parts);
	for (int part = 0; part < parts; part++)
		dg_gemv(&op, part, parts);
	int finite = 1;
	for (int64_t i = 0; i < m * rows; i++)
		finite &= isfinite(y[i]) != 0;
	free(w), free(scratch), free(x), free(y), free(s);
	return finite;
}

int main(void) {
	static const int64_t shapes[][2] = {{1, 16}, {33, 48}, {95, 144}, {130, 272}};
	for (int format = 0; format < DG_FORMATS; format++)
		for (int i = 0; i < 4; i++)
			for (int m = 1; m <= DG_TOKENS; m += 5)
				if (!run(format, m, shapes[i][0], shapes[i][1], 1 + i % 3)) {
					fprintf(stderr, "format %d, %d tokens: not finite\n", format, m);
					return 1;
				}
	return 0;
}
