// Matrix times a few vectors: the part of it that is the same for every format
// and instruction set. One part of the operation takes consecutive blocks of
// rows and so reads one stream.
#include "weights.h"

#include <math.h>
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

// The activations of one group of one token as signed bytes with one scale.
static void quantise(const float *v, int group, int8_t *q, int *sum, float *scale) {
	float most = 0;
	for (int i = 0; i < group; i++)
		most = fabsf(v[i]) > most ? fabsf(v[i]) : most;
	float inverse = most > 0 ? 127 / most : 0;
	int total = 0;
	for (int i = 0; i < group; i++) {
		int n = (int)lrintf(v[i] * inverse);
		q[i] = (int8_t)n;
		total += n;
	}
	*sum = total;
	*scale = most / 127;
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
			float v[32] = {0}, scale;
			int32_t sum;
			int8_t q[32];
			for (int i = 0; x && i < group && k + i < cols; i++)
				v[i] = load(x, at + k + i, bf16);
			quantise(v, group, q, &sum, &scale);
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

void dg_block(const dg_weights *how, const dg_pass *passes, int n, const uint8_t *w, int64_t chunks,
              const float *s, float *acc) {
	int64_t bytes = dg_chunk_bytes(how->format), step = chunks;
	memset(acc, 0, sizeof(float) * DG_ROWS * (passes[n - 1].first + passes[n - 1].width));
	if (n > 1 || how->narrow)
		step = DG_STRIP / bytes;
	for (int64_t c = 0; c < chunks; c += step) {
		int64_t now = chunks - c < step ? chunks - c : step;
		for (int p = 0; p < n; p++)
			how->strip[passes[p].log](w + c * bytes, now, passes[p].x + c * passes[p].size,
			                          acc + passes[p].first * DG_ROWS, s ? s + c : NULL);
	}
}

void dg_gemv(const dg_op *op, int part, int parts) {
	const dg_weights *how = op->how;
	int64_t k = dg_chunk_k(how->format), chunks = (op->cols + k - 1) / k;
	int64_t blocks = (op->rows + DG_ROWS - 1) / DG_ROWS;
	int64_t stride = op->n2 ? op->n2 : op->rows;
	dg_pass passes[DG_TOKENS / DG_PASS];
	_Alignas(64) float acc[DG_TOKENS * DG_ROWS];
	char *memory = (char *)op->scratch + part * dg_gemv_scratch(how, op->m, op->cols);
	int64_t from = blocks * part / parts, to = blocks * (part + 1) / parts;
	if (from == to || op->m < 1 || op->m > DG_TOKENS)
		return;
	int n = dg_prepare(how, passes, memory, op->x, op->n1 ? op->n1 : op->cols, op->n3 & DG_X_BF16, NULL, (int)op->m, op->cols);
	float f = op->f0 * dg_unit(how->format);
	for (int64_t b = from; b < to && !dg_cancelled(op); b++) {
		const float *s = op->s;
		dg_block(how, passes, n, (const uint8_t *)op->w + b * chunks * dg_chunk_bytes(how->format), chunks,
		         op->n0 ? s + b * DG_ROWS / op->n0 * chunks : NULL, acc);
		int64_t rows = op->rows - b * DG_ROWS < DG_ROWS ? op->rows - b * DG_ROWS : DG_ROWS;
		for (int64_t m = 0; m < op->m; m++) {
			float *y = (float *)op->y + m * stride + b * DG_ROWS;
			for (int64_t r = 0; r < rows; r++) {
				float v = acc[m * DG_ROWS + r] * f;
				if (s && !op->n0)
					v *= s[b * DG_ROWS + r];
				y[r] = op->n3 & DG_ADD ? y[r] + v : v;
			}
		}
	}
}
