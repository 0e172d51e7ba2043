// Grouped experts: tokens are sorted by expert, an expert's weights are read
// once for all its tokens.
#include "weights.h"

#include <math.h>
#include <string.h>

// The tokens of one expert, at most as many as an operation takes.
typedef struct {
	int32_t expert, tokens;
	int32_t pair[DG_TOKENS]; // token · n0 + slot
} group;

// Sorts the pairs by expert. Every part does so for itself: it takes less than
// a barrier.
static int sort(const dg_op *op, group *groups) {
	const int32_t *experts = op->x2;
	int pairs = (int)(op->m * op->n0), n = 0;
	if (pairs > DG_PAIRS)
		return 0;
	for (int p = 0; p < pairs; p++) {
		int g = 0;
		if (experts[p] < 0 || experts[p] >= op->n1)
			continue;
		while (g < n && (groups[g].expert != experts[p] || groups[g].tokens == DG_TOKENS))
			g++;
		if (g == n)
			groups[n++] = (group){.expert = experts[p]};
		groups[g].pair[groups[g].tokens++] = p;
	}
	return n;
}

static const float *row_scales(const dg_op *op, int expert, int64_t rows) {
	return op->s ? (const float *)op->s + expert * rows : NULL;
}

// What both operations share: goes over the blocks [from, to) of each group
// that are this part's.
typedef void (*finish)(const dg_op *op, const group *g, int64_t block, const float *acc, const float *s);

typedef struct {
	const dg_op *op;
	int64_t chunks, blocks; // of an expert
	char *memory;
	int last[DG_TOKENS], lasts; // inputs that are ready in memory
	dg_pass passes[DG_TOKENS / DG_PASS];
	int n;
	finish finish;
} work;

static void go(work *k, const group *g, int by_token, int64_t from, int64_t to) {
	const dg_op *op = k->op;
	int32_t index[DG_TOKENS];
	_Alignas(64) float acc[DG_STREAMS * DG_TOKENS * DG_ROWS];
	for (int t = 0; t < g->tokens; t++)
		index[t] = by_token ? g->pair[t] / (int32_t)op->n0 : g->pair[t];
	if (k->lasts != g->tokens || memcmp(k->last, index, sizeof(int32_t) * g->tokens)) {
		k->n = dg_prepare(op->how, k->passes, k->memory, op->x, op->cols, op->n3 & DG_X_BF16, index, g->tokens, op->cols);
		k->lasts = g->tokens;
		memcpy(k->last, index, sizeof(int32_t) * g->tokens);
	}
	int size = DG_ROWS * (k->passes[k->n - 1].first + k->passes[k->n - 1].width);
	int64_t bytes = k->chunks * dg_chunk_bytes(op->how->format);
	const uint8_t *w = (const uint8_t *)op->w + g->expert * k->blocks * bytes;
	const float *s = row_scales(op, g->expert, k->blocks * DG_ROWS);
	int64_t each = (to - from + DG_STREAMS - 1) / DG_STREAMS;
	for (int64_t i = 0; i < each && !dg_cancelled(op); i++) {
		dg_block blocks[DG_STREAMS];
		int count = 0;
		for (int64_t b = from + i; b < to; b += each)
			blocks[count++] = (dg_block){w + b * bytes, NULL};
		dg_blocks(op->how, k->passes, k->n, blocks, count, k->chunks, acc, op->cancel);
		for (int c = 0; c < count; c++)
			k->finish(op, g, from + i + c * each, acc + c * size, s ? s + (from + i + c * each) * DG_ROWS : NULL);
	}
}

static void start(work *k, const dg_op *op, int part, int64_t rows, finish finish) {
	int64_t per = dg_chunk_k(op->how->format);
	int64_t tokens = op->m < DG_TOKENS ? op->m : DG_TOKENS;
	*k = (work){
		.op = op, .chunks = (op->cols + per - 1) / per, .blocks = (rows + DG_ROWS - 1) / DG_ROWS, .finish = finish,
		.memory = (char *)op->scratch + part * dg_gemv_scratch(op->how, tokens, op->cols),
	};
}

static void finish_up(const dg_op *op, const group *g, int64_t block, const float *acc, const float *s) {
	float f = op->f0 * dg_unit(op->how->format);
	for (int t = 0; t < g->tokens; t++) {
		float *y = (float *)op->y + g->pair[t] * op->rows + block * (DG_ROWS / 2);
		const float *a = acc + t * DG_ROWS;
		for (int r = 0; r < DG_ROWS / 2; r++) {
			float gate = f * a[r], up = f * a[r + DG_ROWS / 2];
			if (s) {
				gate *= s[r];
				up *= s[r + DG_ROWS / 2];
			}
			y[r] = gate / (1 + expf(-gate)) * up;
		}
	}
}

void dg_experts_up(const dg_op *op, int part, int parts) {
	group groups[DG_PAIRS];
	work k;
	int n = sort(op, groups);
	start(&k, op, part, 2 * op->rows, finish_up);
	// The blocks of all groups in a row are divided up: outputs are distinct.
	int64_t all = n * k.blocks, from = all * part / parts, to = all * (part + 1) / parts;
	for (int g = 0; g < n; g++) {
		int64_t begin = g * k.blocks, end = begin + k.blocks;
		int64_t low = from > begin ? from : begin, high = to < end ? to : end;
		if (low < high)
			go(&k, &groups[g], 1, low - begin, high - begin);
	}
}

static void finish_down(const dg_op *op, const group *g, int64_t block, const float *acc, const float *s) {
	int64_t rows = op->rows - block * DG_ROWS < DG_ROWS ? op->rows - block * DG_ROWS : DG_ROWS;
	for (int t = 0; t < g->tokens; t++) {
		float f = op->f0 * dg_unit(op->how->format) * ((const float *)op->x3)[g->pair[t]];
		float *y = (float *)op->y + g->pair[t] / op->n0 * op->rows + block * DG_ROWS;
		for (int64_t r = 0; r < rows; r++)
			y[r] += f * (s ? s[r] : 1) * acc[t * DG_ROWS + r];
	}
}

void dg_experts_down(const dg_op *op, int part, int parts) {
	group groups[DG_PAIRS];
	work k;
	int n = sort(op, groups);
	start(&k, op, part, op->rows, finish_down);
	// Each part has rows of its own, so that sums need no order between parts.
	int64_t from = k.blocks * part / parts, to = k.blocks * (part + 1) / parts;
	if (from == to)
		return;
	if (!(op->n3 & DG_ADD)) {
		int64_t end = to * DG_ROWS < op->rows ? to * DG_ROWS : op->rows;
		for (int64_t t = 0; t < op->m; t++)
			memset((float *)op->y + t * op->rows + from * DG_ROWS, 0, sizeof(float) * (end - from * DG_ROWS));
	}
	for (int g = 0; g < n; g++)
		go(&k, &groups[g], 0, from, to);
}
