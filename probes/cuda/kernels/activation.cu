// SwiGLU: the SiLU of the gate times the other half of a row, the halves side
// by side as a product of both leaves them. In bfloat16 or NVFP4 a block has a
// part of a row; in E4M3, whose scale is that of a row, a whole
// one, or a cluster of blocks has.
#include "quantise.h"

template <int FORMAT, int V, bool CLUSTER>
DEVICE void swiglu(const char *x, char *y, char *scales, u32 cols, float global, u32 order) {
	const u32 each = threads() * V * 8, parts = cols / each, row = block() / parts, first = block() % parts * each;
	const char *gate = x + (u64)row * 4 * cols, *up = gate + 2 * cols;
	begin(order);
	uint4 a[V], b[V];
	u32 col[V];
#pragma unroll
	for (int i = 0; i < V; i++) {
		col[i] = first + (i * threads() + thread()) * 8;
		a[i] = load_l2(gate + 2 * col[i]);
		b[i] = load_l2(up + 2 * col[i]);
	}
	float v[V][8], sum = 0, most = 0;
#pragma unroll
	for (int i = 0; i < V; i++) {
		float other[8];
		unpack8(a[i], v[i]);
		unpack8(b[i], other);
#pragma unroll
		for (int k = 0; k < 8; k++) {
			const float g = v[i][k];
			v[i][k] = g * reciprocal(1 + exp2_approx(g * -1.4426950408889634f)) * other[k];
			most = maximum(most, magnitude(v[i][k]));
		}
	}
	float factor = 0;
	if (FORMAT == FP8) {
		block_reduce<false, true, CLUSTER>(sum, most);
		factor = most > 0 ? E4M3_MOST / most : 0;
		if (first + thread() == 0) ((float *)scales)[row] = most / E4M3_MOST;
	}
#pragma unroll
	for (int i = 0; i < V; i++) {
		const u64 at = (u64)row * cols + col[i];
		if (FORMAT == FP8)
			store8(y + at, pack8_e4m3(v[i], factor));
		else if (FORMAT == NVFP4)
			write_nvfp4(v[i], y, scales, row, col[i], cols, global);
		else
			store16(y + 2 * at, pack8(v[i]));
	}
	finish(order);
	if (CLUSTER) cluster_wait();
}

#define SWIGLU(name, format, vectors, cluster) \
	KERNEL __launch_bounds__(vectors == 4 ? 512 : 1024, 1) swiglu_##name(const char *x, char *y, char *scales, u32 cols, float global, u32 order) { \
		swiglu<format, vectors, cluster>(x, y, scales, cols, global, order); \
	}
SWIGLU(bf16, BF16, 1, false)
SWIGLU(nvfp4, NVFP4, 1, false)
SWIGLU(fp8_2, FP8, 2, false)
SWIGLU(fp8_4, FP8, 4, false)
#if __CUDA_ARCH__ >= 900
SWIGLU(fp8_cluster, FP8, 1, true)
#endif
