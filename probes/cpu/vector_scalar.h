// A vector of one lane: the twin of every vector kernel, in plain C.
#ifndef DECODEGAP_VECTOR_SCALAR_H
#define DECODEGAP_VECTOR_SCALAR_H

#include "kernels.h"

#include <math.h>
#include <string.h>

#define TARGET
#define FN static inline DG_ALWAYS __attribute__((unused)) TARGET
#define OP(name) dg_##name##_scalar

typedef float vec;
enum { LANES = 1, SCORE_SUMS = 4, WEIGH_PAIRS = 1 };

FN vec v_set1(float a) { return a; }
FN vec v_load(const float *p) { return *p; }
FN void v_store(float *p, vec a) { *p = a; }
FN vec v_add(vec a, vec b) { return a + b; }
FN vec v_sub(vec a, vec b) { return a - b; }
FN vec v_mul(vec a, vec b) { return a * b; }
FN vec v_div(vec a, vec b) { return a / b; }
FN vec v_fma(vec a, vec b, vec c) { return a * b + c; }
FN vec v_max(vec a, vec b) { return a > b ? a : b; }
FN float v_sum(vec a) { return a; }
FN float v_highest(vec a) { return a; }
FN unsigned v_equal(vec a, vec b) { return a == b; }
FN unsigned v_at_least(vec a, vec b) { return a >= b; }
FN vec v_exp2(vec x) { return x < -126 ? 0 : exp2f(x); }

FN vec v_load_bf16(const uint16_t *p) {
	uint32_t bits = (uint32_t)*p << 16;
	float f;
	memcpy(&f, &bits, 4);
	return f;
}

FN void v_store_bf16(uint16_t *p, vec a) {
	uint32_t bits;
	memcpy(&bits, &a, 4);
	*p = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

FN void v_pair_bf16(const uint16_t *p, int64_t n, vec *a, vec *b) {
	(void)n;
	*a = v_load_bf16(p);
	*b = v_load_bf16(p + 1);
}

// An E4M3 value ÷ 256, as the vector twins make it out of half precision.
FN float e4m3_256th(uint8_t v) {
	uint32_t magnitude = v & 0x7f, bits = (magnitude << 20) + (112u << 23);
	float f;
	memcpy(&f, &bits, 4);
	if (magnitude < 8)
		f = magnitude * 0x1p-17f;
	return v & 0x80 ? -f : f;
}

FN void v_pair_fp8(const uint8_t *p, int64_t n, vec *a, vec *b) {
	(void)n;
	*a = e4m3_256th(p[0]);
	*b = e4m3_256th(p[1]);
}

FN void v_sums(const vec *a, int n, float *out) {
	for (int i = 0; i < n; i++)
		out[i] = a[i];
}

#endif
