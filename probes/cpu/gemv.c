// Matrix times a few vectors: the part of it that is the same for every format
// and instruction set. One part of the operation takes consecutive blocks of
// rows and so reads one stream.
#include "weights.h"

#include <string.h>

static int64_t padded(int format, int64_t cols) {
	int64_t k = dg_chunk_k(format);
	return (cols + k - 1) / k * k;
}

// Bytes that the inputs of one token take, padded.
static int64_t ready_bytes(const dg_weights *how, int64_t cols) {
	switch (how->prep) {
	case DG_P_F32:
		return 4 * cols;
	case DG_P_BF16:
	case DG_P_BF16_FOUR:
		return 2 * cols;
	case DG_P_INT8:
		return cols + cols / dg_group(how->format) * 8;
	}
	return 0;
}

int64_t dg_gemv_scratch(const dg_weights *how, int64_t m, int64_t cols) {
	int64_t tokens = m <= DG_PASS ? DG_PASS : DG_TOKENS;
	// A page more, so that no two parts write one line or one alias.
	return tokens * ready_bytes(how, padded(how->format, cols)) + 4096;
}

static float load(const void *x, int64_t i, int bf16) {
	if (!bf16)
		return ((const float *)x)[i];
	uint32_t bits = (uint32_t)((const uint16_t *)x)[i] << 16;
	float v;
	memcpy(&v, &bits, sizeof v);
	return v;
}

// To nearest, ties to even; not for NaN.
static uint16_t to_bf16(float v) {
	uint32_t bits;
	memcpy(&bits, &v, sizeof bits);
	return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

static void ready(const dg_weights *how, const dg_pass *p, int t, const void *x, int64_t at, int bf16, int64_t cols) {
	int64_t all = padded(how->format, cols);
	int width = p->width, group = dg_group(how->format);
	switch (how->prep) {
	case DG_P_F32:
		for (int64_t k = 0; k < all; k++)
			((float *)p->x)[k * width + t] = x && k < cols ? load(x, at + k, bf16) : 0;
		break;
	case DG_P_BF16:
		for (int64_t k = 0; k < all; k++)
			((uint16_t *)p->x)[(k / 2 * width + t) * 2 + k % 2] = x && k < cols ? to_bf16(load(x, at + k, bf16)) : 0;
		break;
	case DG_P_BF16_FOUR:
		for (int64_t k = 0; k < all; k++) {
			int64_t word = k / 8 * 4 + k % 2 * 2 + k / 4 % 2;
			((uint16_t *)p->x)[(word * width + t) * 2 + k / 2 % 2] = x && k < cols ? to_bf16(load(x, at + k, bf16)) : 0;
		}
		break;
	case DG_P_INT8:
		for (int64_t k = 0; k < all; k += group) {
			float copy[32] = {0}, scale;
			const float *v = copy;
			int sum;
			int8_t q[32];
			if (x && !bf16 && k + group <= cols)
				v = (const float *)x + at + k;
			else
				for (int i = 0; x && i < group && k + i < cols; i++)
					copy[i] = load(x, at + k + i, bf16);
			how->quantise(v, group, q, &sum, &scale);
			sum *= how->format == DG_W_INT4 ? -8 : -12;
			char *record = p->x + k / group * (group + 8) * width;
			for (int i = 0; i < group; i += 4)
				memcpy(record + (i * width + 4 * t), q + i, 4);
			memcpy(record + group * width + 4 * t, &sum, 4);
			memcpy(record + (group + 4) * width + 4 * t, &scale, 4);
		}
		break;
	}
}

int dg_prepare(const dg_weights *how, dg_pass *passes, char *memory, const void *x, int64_t stride,
               int bf16, const int32_t *index, int m, int64_t cols) {
	int n = 0;
	for (int first = 0; first < m; first += DG_PASS, n++) {
		dg_pass *p = &passes[n];
		*p = (dg_pass){.first = first, .tokens = m - first < DG_PASS ? m - first : DG_PASS, .width = 1, .x = memory};
		for (; p->width < p->tokens; p->width *= 2)
			p->log++;
		p->size = p->width * ready_bytes(how, dg_chunk_k(how->format));
		for (int t = 0; t < p->width; t++) {
			int64_t row = first + t;
			if (t < p->tokens && index)
				row = index[first + t];
			ready(how, p, t, t < p->tokens ? x : NULL, row * stride, bf16, cols);
		}
		memory += p->width * ready_bytes(how, padded(how->format, cols));
	}
	return n;
}

// Several blocks side by side, each a stream of its own: hardware prefetchers
// follow one stream a page.
void dg_blocks(const dg_weights *how, const dg_pass *passes, int n, const dg_block *blocks, int count,
               int64_t chunks, float *acc, const int *cancel) {
	int64_t bytes = dg_chunk_bytes(how->format), step = DG_STRIP / bytes;
	int64_t size = DG_ROWS * (passes[n - 1].first + passes[n - 1].width);
	if (step < 1)
		step = 1;
	memset(acc, 0, sizeof(float) * count * size);
	for (int64_t c = 0; c < chunks && !dg_raised(cancel); c += step) {
		int64_t now = chunks - c < step ? chunks - c : step;
		for (int b = 0; b < count; b++)
			for (int p = 0; p < n; p++)
				how->strip[passes[p].log](blocks[b].w + c * bytes, now, passes[p].x + c * passes[p].size,
				                          acc + b * size + passes[p].first * DG_ROWS, blocks[b].s ? blocks[b].s + c : NULL);
	}
}

// Writes one block's outputs.
static void store(const dg_op *op, int64_t b, const float *acc) {
	const float *s = op->n0 ? NULL : op->s;
	int64_t stride = op->n2 ? op->n2 : op->rows;
	int64_t rows = op->rows - b * DG_ROWS < DG_ROWS ? op->rows - b * DG_ROWS : DG_ROWS;
	float f = op->f0 * dg_unit(op->how->format);
	for (int64_t m = 0; m < op->m; m++) {
		float *y = (float *)op->y + m * stride + b * DG_ROWS;
		for (int64_t r = 0; r < rows; r++) {
			float v = acc[m * DG_ROWS + r] * f;
			if (s)
				v *= s[b * DG_ROWS + r];
			y[r] = op->n3 & DG_ADD ? y[r] + v : v;
		}
	}
}

void dg_gemv(const dg_op *op, int part, int parts) {
	const dg_weights *how = op->how;
	int64_t k = dg_chunk_k(how->format), chunks = (op->cols + k - 1) / k;
	int64_t all = (op->rows + DG_ROWS - 1) / DG_ROWS;
	dg_pass passes[DG_TOKENS / DG_PASS];
	_Alignas(64) float acc[DG_STREAMS * DG_TOKENS * DG_ROWS];
	char *memory = (char *)op->scratch + part * dg_gemv_scratch(how, op->m, op->cols);
	int64_t from = all * part / parts, to = all * (part + 1) / parts;
	if (from == to || op->m < 1 || op->m > DG_TOKENS)
		return;
	int n = dg_prepare(how, passes, memory, op->x, op->n1 ? op->n1 : op->cols, op->n3 & DG_X_BF16, NULL, (int)op->m, op->cols);
	int size = DG_ROWS * (passes[n - 1].first + passes[n - 1].width);
	// Stream i goes over every streams-th part of the blocks.
	int64_t each = (to - from + DG_STREAMS - 1) / DG_STREAMS;
	for (int64_t i = 0; i < each && !dg_cancelled(op); i++) {
		dg_block blocks[DG_STREAMS];
		int64_t number[DG_STREAMS];
		int count = 0;
		for (int64_t b = from + i; b < to; b += each, count++) {
			const float *s = op->s;
			number[count] = b;
			blocks[count] = (dg_block){
				(const uint8_t *)op->w + b * chunks * dg_chunk_bytes(how->format),
				op->n0 ? s + b * DG_ROWS / op->n0 * chunks : NULL,
			};
		}
		dg_blocks(how, passes, n, blocks, count, chunks, acc, op->cancel);
		for (int b = 0; b < count; b++)
			store(op, number[b], acc + b * size);
	}
}
