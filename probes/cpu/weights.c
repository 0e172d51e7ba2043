// Every weight kernel, by format and instruction set.
#include "weights.h"

#define DECLARE(name) \
	extern void dg_##name##_1(const uint8_t *, int64_t, const void *, float *, const float *); \
	extern void dg_##name##_2(const uint8_t *, int64_t, const void *, float *, const float *); \
	extern void dg_##name##_4(const uint8_t *, int64_t, const void *, float *, const float *); \
	extern void dg_##name##_8(const uint8_t *, int64_t, const void *, float *, const float *);

DECLARE(bf16_scalar)
DECLARE(fp8_scalar)
DECLARE(nvfp4_scalar)
DECLARE(mxfp4_scalar)
DECLARE(int4_scalar)
extern void dg_quantise(const float *, int, int8_t *, int *, float *);
#define QUANTISE dg_quantise
#if defined(__x86_64__)
extern void dg_quantise_avx2(const float *, int, int8_t *, int *, float *);
#undef QUANTISE
#define QUANTISE dg_quantise_avx2
DECLARE(bf16_avx2)
DECLARE(fp8_avx2)
DECLARE(nvfp4_avx2)
DECLARE(mxfp4_avx2)
DECLARE(int4_avx2)
DECLARE(bf16_avx512)
DECLARE(fp8_avx512)
DECLARE(nvfp4_avx512)
DECLARE(mxfp4_avx512)
DECLARE(int4_avx512)
DECLARE(bf16_dpbf16)
DECLARE(nvfp4_dpbf16)
DECLARE(nvfp4_vnni)
DECLARE(mxfp4_vnni)
DECLARE(int4_vnni)
#elif defined(__aarch64__)
DECLARE(bf16_neon)
DECLARE(fp8_neon)
DECLARE(nvfp4_neon)
DECLARE(mxfp4_neon)
DECLARE(int4_neon)
#endif

#define WIDE(format, prep, name) {format, prep, 0, QUANTISE, {dg_##name##_1, dg_##name##_2, dg_##name##_4, dg_##name##_8}}
#define NARROW(format, prep, name) {format, prep, 1, QUANTISE, {dg_##name##_1, dg_##name##_2, dg_##name##_4, dg_##name##_8}}

static const dg_weights table[DG_FORMATS][DG_ISAS] = {
	[DG_W_BF16] = {
		[DG_SCALAR] = WIDE(DG_W_BF16, DG_P_F32, bf16_scalar),
#if defined(__x86_64__)
		[DG_AVX2] = NARROW(DG_W_BF16, DG_P_F32, bf16_avx2),
		[DG_AVX512] = WIDE(DG_W_BF16, DG_P_F32, bf16_avx512),
		[DG_AVX512_BF16] = WIDE(DG_W_BF16, DG_P_BF16, bf16_dpbf16),
#elif defined(__aarch64__)
		[DG_NEON] = NARROW(DG_W_BF16, DG_P_F32, bf16_neon),
#endif
	},
	[DG_W_FP8] = {
		[DG_SCALAR] = WIDE(DG_W_FP8, DG_P_F32, fp8_scalar),
#if defined(__x86_64__)
		[DG_AVX2] = NARROW(DG_W_FP8, DG_P_F32, fp8_avx2),
		[DG_AVX512] = WIDE(DG_W_FP8, DG_P_F32, fp8_avx512),
#elif defined(__aarch64__)
		[DG_NEON] = NARROW(DG_W_FP8, DG_P_F32, fp8_neon),
#endif
	},
	[DG_W_NVFP4] = {
		[DG_SCALAR] = WIDE(DG_W_NVFP4, DG_P_F32, nvfp4_scalar),
#if defined(__x86_64__)
		[DG_AVX2] = NARROW(DG_W_NVFP4, DG_P_INT8, nvfp4_avx2),
		[DG_AVX512] = WIDE(DG_W_NVFP4, DG_P_F32, nvfp4_avx512),
		[DG_AVX512_BF16] = WIDE(DG_W_NVFP4, DG_P_BF16_FOUR, nvfp4_dpbf16),
		[DG_AVX512_VNNI] = WIDE(DG_W_NVFP4, DG_P_INT8, nvfp4_vnni),
#elif defined(__aarch64__)
		[DG_NEON] = NARROW(DG_W_NVFP4, DG_P_INT8, nvfp4_neon),
#endif
	},
	[DG_W_MXFP4] = {
		[DG_SCALAR] = WIDE(DG_W_MXFP4, DG_P_F32, mxfp4_scalar),
#if defined(__x86_64__)
		[DG_AVX2] = NARROW(DG_W_MXFP4, DG_P_INT8, mxfp4_avx2),
		[DG_AVX512] = WIDE(DG_W_MXFP4, DG_P_F32, mxfp4_avx512),
		[DG_AVX512_VNNI] = WIDE(DG_W_MXFP4, DG_P_INT8, mxfp4_vnni),
#elif defined(__aarch64__)
		[DG_NEON] = NARROW(DG_W_MXFP4, DG_P_INT8, mxfp4_neon),
#endif
	},
	[DG_W_INT4] = {
		[DG_SCALAR] = WIDE(DG_W_INT4, DG_P_F32, int4_scalar),
#if defined(__x86_64__)
		[DG_AVX2] = NARROW(DG_W_INT4, DG_P_INT8, int4_avx2),
		[DG_AVX512] = WIDE(DG_W_INT4, DG_P_F32, int4_avx512),
		[DG_AVX512_VNNI] = WIDE(DG_W_INT4, DG_P_INT8, int4_vnni),
#elif defined(__aarch64__)
		[DG_NEON] = NARROW(DG_W_INT4, DG_P_INT8, int4_neon),
#endif
	},
};

const dg_weights *dg_weights_find(int format, int isa) {
	if (format < 0 || format >= DG_FORMATS || isa < 0 || isa >= DG_ISAS || !table[format][isa].strip[0])
		return NULL;
	return &table[format][isa];
}
