// Matrix tiles (AMX): sixteen rows of 64 bytes. A product takes sixteen cycles
// and adds A·B to C, float32: A has rows of 32 bf16, B has the same 32 in
// pairs, one pair of each of sixteen columns a row. Loads, other products and
// vector instructions run beside it; what was just stored is there for a load
// some thirty cycles later.
#ifndef DECODEGAP_AMX_H
#define DECODEGAP_AMX_H

#include "kernels.h"

#ifdef DG_AMX_BUILT
#include "vector_avx512.h"

#define AMX __attribute__((target("amx-tile,amx-bf16,avx2,fma,f16c,avx512f,avx512bw,avx512vl,avx512dq,avx512bf16")))
#define TILE_FN static inline __attribute__((always_inline, unused)) AMX

enum { TILE_ROWS = 16, TILE_BYTES = 1024 };

// Compilers take tile instructions for ones that touch no memory.
#define IN_ORDER() __asm__ volatile("" ::: "memory")

// All eight tiles whole: fewer rows would save no time where B changes.
TILE_FN void tiles_begin(void) {
	struct {
		uint8_t palette, start, reserved[14];
		uint16_t bytes[16];
		uint8_t rows[16];
	} all = {.palette = 1};
	for (int i = 0; i < 8; i++)
		all.bytes[i] = 64, all.rows[i] = TILE_ROWS;
	IN_ORDER();
	_tile_loadconfig(&all);
}

// Leaves no state to save when the thread is switched.
TILE_FN void tiles_end(void) { _tile_release(); }

// Lane i of the result is a's lane 2·i + odd, b's after a's sixteen.
FN vec every_second(vec a, vec b, int odd) {
	const __m512i twice = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
	return _mm512_permutex2var_ps(a, _mm512_add_epi32(twice, _mm512_set1_epi32(odd)), b);
}

// The nearest bf16.
FN vec bf16_part(vec a) {
	__m512i up = _mm512_add_epi32(_mm512_castps_si512(a), _mm512_set1_epi32(0x8000));
	return _mm512_castsi512_ps(_mm512_and_si512(up, _mm512_set1_epi32((int)0xffff0000)));
}

// Pairs of the nearest bf16, and what these leave: twice so, a pair of parts
// is within 2⁻¹⁸ of each value.
FN __m512i bf16_pairs(vec a, vec b, vec *left_a, vec *left_b) {
	vec pa = bf16_part(a), pb = bf16_part(b);
	*left_a = v_sub(a, pa), *left_b = v_sub(b, pb);
	return _mm512_or_si512(_mm512_srli_epi32(_mm512_castps_si512(pa), 16), _mm512_castps_si512(pb));
}

// The columns of 16 × 16 numbers of 32 bits as rows: 64 shuffles.
FN void transpose(const __m512i *in, void *out) {
	__m512i a[16], b[16];
#pragma GCC unroll 8
	for (int i = 0; i < 16; i += 2) {
		a[i] = _mm512_unpacklo_epi32(in[i], in[i + 1]);
		a[i + 1] = _mm512_unpackhi_epi32(in[i], in[i + 1]);
	}
#pragma GCC unroll 4
	for (int i = 0; i < 16; i += 4) { // b[i + c]: column c of each quarter, of four rows
		b[i] = _mm512_unpacklo_epi64(a[i], a[i + 2]);
		b[i + 1] = _mm512_unpackhi_epi64(a[i], a[i + 2]);
		b[i + 2] = _mm512_unpacklo_epi64(a[i + 1], a[i + 3]);
		b[i + 3] = _mm512_unpackhi_epi64(a[i + 1], a[i + 3]);
	}
#pragma GCC unroll 4
	for (int c = 0; c < 4; c++) {
		__m512i p = _mm512_shuffle_i32x4(b[c], b[4 + c], 0x88), q = _mm512_shuffle_i32x4(b[8 + c], b[12 + c], 0x88);
		__m512i r = _mm512_shuffle_i32x4(b[c], b[4 + c], 0xdd), s = _mm512_shuffle_i32x4(b[8 + c], b[12 + c], 0xdd);
		__m512i *to = (__m512i *)out + c;
		to[0] = _mm512_shuffle_i32x4(p, q, 0x88);
		to[4] = _mm512_shuffle_i32x4(r, s, 0x88);
		to[8] = _mm512_shuffle_i32x4(p, q, 0xdd);
		to[12] = _mm512_shuffle_i32x4(r, s, 0xdd);
	}
}

// The first eight columns of 16 × 16 numbers as rows, out may be in: 24 shuffles.
FN void transpose_half(const float *in, float *out) {
	__m512d a[8], b[8];
#pragma GCC unroll 2
	for (int i = 0; i < 8; i += 4) { // rows 0…3 beside 4…7, 8…11 beside 12…15
		vec r[4];
#pragma GCC unroll 4
		for (int k = 0; k < 4; k++)
			r[k] = _mm512_insertf32x8(_mm512_castps256_ps512(_mm256_load_ps(in + (2 * i + k) * 16)), _mm256_load_ps(in + (2 * i + 4 + k) * 16), 1);
		a[i] = _mm512_castps_pd(_mm512_unpacklo_ps(r[0], r[1])), a[i + 1] = _mm512_castps_pd(_mm512_unpackhi_ps(r[0], r[1]));
		a[i + 2] = _mm512_castps_pd(_mm512_unpacklo_ps(r[2], r[3])), a[i + 3] = _mm512_castps_pd(_mm512_unpackhi_ps(r[2], r[3]));
		b[i] = _mm512_unpacklo_pd(a[i], a[i + 2]), b[i + 1] = _mm512_unpackhi_pd(a[i], a[i + 2]);
		b[i + 2] = _mm512_unpacklo_pd(a[i + 1], a[i + 3]), b[i + 3] = _mm512_unpackhi_pd(a[i + 1], a[i + 3]);
	}
#pragma GCC unroll 4
	for (int c = 0; c < 4; c++) {
		vec x = _mm512_castpd_ps(b[c]), y = _mm512_castpd_ps(b[4 + c]);
		v_store(out + 16 * c, _mm512_shuffle_f32x4(x, y, 0x88));
		v_store(out + 16 * (4 + c), _mm512_shuffle_f32x4(x, y, 0xdd));
	}
}

FN __mmask64 first_bytes(int64_t n) { return n >= 64 ? ~0ull : n <= 0 ? 0 : (1ull << n) - 1; }

// E4M3 codes in the upper bytes, ÷ 256 in bf16, exactly; at: bits 0…4 of code.
FN __m512i bf16_of_e4m3(__m512i code, __m512i at) {
	const __m512i subnormal = _mm512_castsi128_si512(_mm_setr_epi16(0, 0x3700, 0x3780, 0x37c0, 0x3800, 0x3820, 0x3840, 0x3860));
	__m512i v = _mm512_ternarylogic_epi32(_mm512_srli_epi16(code, 4), _mm512_set1_epi16(0x07f0), _mm512_set1_epi16(0x3800), 0xea); // a & b | c
	v = _mm512_mask_permutexvar_epi16(v, _mm512_testn_epi16_mask(code, _mm512_set1_epi16(0x7800)), at, subnormal);
	return _mm512_ternarylogic_epi32(v, code, _mm512_set1_epi16((short)0x8000), 0xf8);
}

// 64 values ÷ 256: the even ones, then the odd ones.
FN void bf16_of_fp8(__m512i v, __m512i *even, __m512i *odd) {
	*even = bf16_of_e4m3(_mm512_slli_epi16(v, 8), v);
	*odd = bf16_of_e4m3(v, _mm512_srli_epi16(v, 8));
}

#endif
#endif
