// What happens to query, key and value heads between their projection and
// attention, once for every vector width: include after rows_vec.h.

// Rotates the first dims values of a head. The table's row of a position
// holds dims/2 cosines, then as many sines.
FN void rotate(float *x, const float *row, int64_t dims, int style) {
	int64_t half = dims / 2, i = 0;
	const float *cosine = row, *sine = row + half;
	if (style == DG_ROPE_NEOX) { // pairs (i, i + half)
		for (; i + LANES <= half; i += LANES) {
			vec a = v_load(x + i), b = v_load(x + half + i), c = v_load(cosine + i), s = v_load(sine + i);
			v_store(x + i, v_sub(v_mul(a, c), v_mul(b, s)));
			v_store(x + half + i, v_fma(b, c, v_mul(a, s)));
		}
		for (; i < half; i++) {
			float a = x[i], b = x[half + i];
			x[i] = a * cosine[i] - b * sine[i];
			x[half + i] = b * cosine[i] + a * sine[i];
		}
	} else if (style == DG_ROPE_INTERLEAVED) { // pairs (2i, 2i + 1)
		for (; i < half; i++) {
			float a = x[2 * i], b = x[2 * i + 1];
			x[2 * i] = a * cosine[i] - b * sine[i];
			x[2 * i + 1] = b * cosine[i] + a * sine[i];
		}
	}
}

// The nearest E4M3 value, ties to even, 448 at most.
FN uint8_t to_e4m3(float v) {
	uint32_t bits;
	memcpy(&bits, &v, 4);
	uint32_t sign = bits >> 24 & 0x80, magnitude = bits & 0x7fffffff;
	if (magnitude >= 0x43e00000) // 448
		return sign | 0x7e;
	if (magnitude < 0x3c800000) { // 2^-6: the subnormal step is 2^-9
		float m;
		memcpy(&m, &magnitude, 4);
		return sign | (uint8_t)nearbyintf(m * 512);
	}
	magnitude += 0x7ffff + (magnitude >> 20 & 1);
	return sign | (uint8_t)((magnitude >> 20) - (120 << 3));
}

FN void store_row(const float *x, char *to, int64_t d, float inverse, int fp8) {
	if (fp8) {
		for (int64_t i = 0; i < d; i++)
			((uint8_t *)to)[i] = to_e4m3(x[i] * inverse);
		return;
	}
	for (int64_t i = 0; i < d; i += LANES)
		v_store_bf16((uint16_t *)to + i, v_load(x + i));
}

// One head: its norm if it has a weight, its rotation, into out.
FN void head_row(const dg_op *op, const float *x, const uint16_t *w, int64_t position, float *out) {
	int64_t d = op->cols;
	if (w)
		scale_row(x, NULL, w, 1 / sqrtf(sum_squares(x, NULL, d) / d + op->f2), op->f3, out, NULL, 0, d);
	else
		memcpy(out, x, sizeof *x * d);
	if (op->n2)
		rotate(out, (const float *)op->x5 + position * op->n5, op->n5, (int)op->n2);
}

FN void heads(const dg_op *op, int part, int parts, int fp8) {
	int64_t d = op->cols, kv = op->n0, each = op->rows + 2 * kv, size = fp8 ? 1 : 2, page = op->n1;
	int64_t from = op->m * each * part / parts, to = op->m * each * (part + 1) / parts;
	const uint16_t *norm = op->x4;
	for (int64_t i = from; i < to; i++) {
		int64_t token = i / each, head = i % each;
		const float *x = (const float *)op->x + i * d;
		int64_t position = ((const int32_t *)op->x3)[token] - 1;
		if (head < op->rows) {
			head_row(op, x, norm, position, (float *)op->y + (token * op->rows + head) * d);
			continue;
		}
		head -= op->rows;
		const int32_t *table = (const int32_t *)op->x2 + token * op->n3;
		int64_t row = ((int64_t)table[position / page] * kv + head % kv) * page + position % page;
		if (head >= kv) {
			store_row(x, (char *)op->y3 + row * d * size, d, op->f1, fp8);
			continue;
		}
		float out[DG_HEAD_MAX];
		head_row(op, x, norm ? norm + d : NULL, position, out);
		store_row(out, (char *)op->y2 + row * d * size, d, op->f0, fp8);
	}
}

TARGET void OP(heads_bf16)(const dg_op *op, int part, int parts) { heads(op, part, parts, 0); }
TARGET void OP(heads_fp8)(const dg_op *op, int part, int parts) { heads(op, part, parts, 1); }

// DG_LATENT: the latent's norm, its rotated part, and both into the cache.
FN void latent(const dg_op *op, int part, int parts, int fp8) {
	int64_t d = op->cols, rank = op->n4, page = op->n1, size = fp8 ? 1 : 2;
	for (int64_t token = part; token < op->m; token += parts) {
		const float *x = (const float *)op->x + token * d;
		float out[DG_HEAD_MAX];
		int64_t position = ((const int32_t *)op->x3)[token] - 1;
		float r = 1 / sqrtf(sum_squares(x, NULL, rank) / rank + op->f2);
		scale_row(x, NULL, op->x4, r, op->f3, out, NULL, 0, rank);
		memcpy(out + rank, x + rank, sizeof *x * (d - rank));
		rotate(out + rank, (const float *)op->x5 + position * op->n5, op->n5, (int)op->n2);
		const int32_t *table = (const int32_t *)op->x2 + token * op->n3;
		int64_t row = (int64_t)table[position / page] * page + position % page;
		store_row(out, (char *)op->y2 + row * d * size, d, op->f0, fp8);
	}
}

TARGET void OP(latent_bf16)(const dg_op *op, int part, int parts) { latent(op, part, parts, 0); }
TARGET void OP(latent_fp8)(const dg_op *op, int part, int parts) { latent(op, part, parts, 1); }

// DG_ROPE
TARGET void OP(rope)(const dg_op *op, int part, int parts) {
	int64_t from = op->m * op->rows * part / parts, to = op->m * op->rows * (part + 1) / parts;
	for (int64_t i = from; i < to; i++) {
		int64_t token = i / op->rows, head = i % op->rows;
		const float *x = (const float *)op->x + token * op->n0 + head * op->n1;
		float *y = (float *)op->y + token * op->n3 + head * op->n4;
		int64_t position = ((const int32_t *)op->x3)[token] - 1;
		if (x != y)
			memcpy(y, x, sizeof *x * op->cols);
		rotate(y, (const float *)op->x5 + position * op->n5, op->n5, (int)op->n2);
	}
}
