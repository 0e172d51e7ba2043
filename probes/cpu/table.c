// Every kernel, by what it computes and the instruction set it needs.
#include "kernels.h"

#define KERNEL(name) extern void name(const dg_op *, int, int)

KERNEL(dg_read_scalar);
KERNEL(dg_copy_scalar);
KERNEL(dg_triad_scalar);
KERNEL(dg_nothing);
#if defined(__x86_64__)
KERNEL(dg_read_avx2);
KERNEL(dg_read_avx512);
KERNEL(dg_copy_avx2);
KERNEL(dg_copy_avx512);
KERNEL(dg_triad_avx2);
KERNEL(dg_triad_avx512);
#elif defined(__aarch64__)
KERNEL(dg_read_neon);
KERNEL(dg_triad_neon);
#endif

// Kernels that are written once for every vector width.
#if defined(__x86_64__)
#define EACH(name) KERNEL(dg_##name##_scalar); KERNEL(dg_##name##_avx2); KERNEL(dg_##name##_avx512)
#define ALL(name) {[DG_SCALAR] = dg_##name##_scalar, [DG_AVX2] = dg_##name##_avx2, [DG_AVX512] = dg_##name##_avx512}
#elif defined(__aarch64__)
#define EACH(name) KERNEL(dg_##name##_scalar); KERNEL(dg_##name##_neon)
#define ALL(name) {[DG_SCALAR] = dg_##name##_scalar, [DG_NEON] = dg_##name##_neon}
#else
#define EACH(name) KERNEL(dg_##name##_scalar)
#define ALL(name) {[DG_SCALAR] = dg_##name##_scalar}
#endif

#ifdef DG_AMX_BUILT
KERNEL(dg_attention_bf16_amx);
KERNEL(dg_attention_fp8_amx);
KERNEL(dg_merge_bf16_amx);
KERNEL(dg_merge_fp8_amx);
#define ALL_AMX(name) {[DG_SCALAR] = dg_##name##_scalar, [DG_AVX2] = dg_##name##_avx2, [DG_AVX512] = dg_##name##_avx512, [DG_AMX] = dg_##name##_amx}
#else
#define ALL_AMX(name) ALL(name)
#endif

EACH(attention_bf16);
EACH(attention_fp8);
EACH(merge_bf16);
EACH(merge_fp8);
EACH(heads_bf16);
EACH(heads_fp8);
EACH(latent_bf16);
EACH(latent_fp8);
EACH(rope);
EACH(norm);
EACH(add);
EACH(activate);
EACH(embed);
EACH(highest);
EACH(tally);
EACH(draw);
EACH(route);
EACH(reduce);
EACH(reduce_slice);
EACH(reduce_spread);
KERNEL(dg_pick);

static const dg_kernel table[DG_KINDS][DG_ISAS] = {
	[DG_READ] = {
		[DG_SCALAR] = dg_read_scalar,
#if defined(__x86_64__)
		[DG_AVX2] = dg_read_avx2,
		[DG_AVX512] = dg_read_avx512,
#elif defined(__aarch64__)
		[DG_NEON] = dg_read_neon,
#endif
	},
	[DG_COPY] = {
		[DG_SCALAR] = dg_copy_scalar,
#if defined(__x86_64__)
		[DG_AVX2] = dg_copy_avx2,
		[DG_AVX512] = dg_copy_avx512,
#endif
	},
	[DG_TRIAD] = {
		[DG_SCALAR] = dg_triad_scalar,
#if defined(__x86_64__)
		[DG_AVX2] = dg_triad_avx2,
		[DG_AVX512] = dg_triad_avx512,
#elif defined(__aarch64__)
		[DG_NEON] = dg_triad_neon,
#endif
	},
	[DG_NOTHING] = {[DG_SCALAR] = dg_nothing},
	[DG_ATTENTION_BF16] = ALL_AMX(attention_bf16),
	[DG_ATTENTION_FP8] = ALL_AMX(attention_fp8),
	[DG_MERGE_BF16] = ALL_AMX(merge_bf16),
	[DG_MERGE_FP8] = ALL_AMX(merge_fp8),
	[DG_HEADS_BF16] = ALL(heads_bf16),
	[DG_HEADS_FP8] = ALL(heads_fp8),
	[DG_LATENT_BF16] = ALL(latent_bf16),
	[DG_LATENT_FP8] = ALL(latent_fp8),
	[DG_ROPE] = ALL(rope),
	[DG_NORM] = ALL(norm),
	[DG_SUM] = ALL(add),
	[DG_ACTIVATE] = ALL(activate),
	[DG_EMBED] = ALL(embed),
	[DG_HIGHEST] = ALL(highest),
	[DG_TALLY] = ALL(tally),
	[DG_DRAW] = ALL(draw),
	[DG_ROUTE] = ALL(route),
	[DG_REDUCE] = ALL(reduce),
	[DG_REDUCE_SLICE] = ALL(reduce_slice),
	[DG_REDUCE_SPREAD] = ALL(reduce_spread),
	[DG_PICK] = {[DG_SCALAR] = dg_pick},
};

dg_kernel dg_find(int kind, int isa) {
	if (kind < 0 || kind >= DG_KINDS || isa < 0 || isa >= DG_ISAS)
		return NULL;
	return table[kind][isa];
}
