// RMSNorm of a row with the addition before it, as engines fuse them: the sum
// of a row and the residual becomes the new residual in bfloat16, and what is
// normalised is that. One block a row; a thread has V vectors of eight values,
// all under way at once. Variants write E4M3 with a scale for each row, or
// NVFP4, for the products that follow.
#include "quantise.h"

template <int FORMAT, int V>
DEVICE void norm(const char *x, const char *residual, const char *w, char *sum, char *y, char *scales, float epsilon, float global, u32 order) {
	const u32 row = block(), cols = threads() * V * 8;
	const u64 from = (u64)row * cols;
	uint4 weights[V], a[V], b[V];
	u32 col[V];
#pragma unroll
	for (int i = 0; i < V; i++) {
		col[i] = (i * threads() + thread()) * 8;
		weights[i] = load_once(w + 2 * col[i]); // of no other kernel
	}
	begin(order);
#pragma unroll
	for (int i = 0; i < V; i++) {
		a[i] = load_l2(x + 2 * (from + col[i]));
		b[i] = load_l2(residual + 2 * (from + col[i]));
	}
	float v[V][8], squares = 0, most = 0;
#pragma unroll
	for (int i = 0; i < V; i++) {
		float other[8];
		unpack8(a[i], v[i]);
		unpack8(b[i], other);
#pragma unroll
		for (int k = 0; k < 8; k++) v[i][k] += other[k];
		const uint4 rounded = pack8(v[i]);
		store16(sum + 2 * (from + col[i]), rounded);
		unpack8(rounded, v[i]);
		unpack8(weights[i], other);
#pragma unroll
		for (int k = 0; k < 8; k++) {
			squares = fma(v[i][k], v[i][k], squares);
			v[i][k] *= other[k];
			most = maximum(most, magnitude(v[i][k]));
		}
	}
	block_reduce<true, FORMAT == FP8>(squares, most);
	const float r = reciprocal_root(squares / (float)cols + epsilon);
	// The root scales the largest value and all others alike.
	const float factor = FORMAT == FP8 ? (most > 0 ? E4M3_MOST / most : 0) : r;
	if (FORMAT == FP8 && thread() == 0) ((float *)scales)[row] = most * r / E4M3_MOST;
#pragma unroll
	for (int i = 0; i < V; i++) {
		if (FORMAT == FP8) {
			store8(y + from + col[i], pack8_e4m3(v[i], factor));
			continue;
		}
#pragma unroll
		for (int k = 0; k < 8; k++) v[i][k] *= r;
		if (FORMAT == NVFP4)
			write_nvfp4(v[i], y, scales, row, col[i], cols, global);
		else
			store16(y + 2 * (from + col[i]), pack8(v[i]));
	}
	finish(order);
}

#define NORM(name, format, vectors) \
	KERNEL __launch_bounds__(1024 / vectors, 1) norm_##name##_##vectors( \
	    const char *x, const char *residual, const char *w, char *sum, char *y, char *scales, float epsilon, float global, u32 order) { \
		norm<format, vectors>(x, residual, w, sum, y, scales, epsilon, global, order); \
	}
#define NORMS(vectors) NORM(bf16, BF16, vectors) NORM(fp8, FP8, vectors) NORM(nvfp4, NVFP4, vectors)
NORMS(1)
NORMS(2)
NORMS(4)
