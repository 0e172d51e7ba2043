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
#endif

static const dg_kernel table[DG_KINDS][DG_ISAS] = {
	[DG_READ] = {
		[DG_SCALAR] = dg_read_scalar,
#if defined(__x86_64__)
		[DG_AVX2] = dg_read_avx2,
		[DG_AVX512] = dg_read_avx512,
#endif
	},
	[DG_COPY] = {[DG_SCALAR] = dg_copy_scalar},
	[DG_TRIAD] = {[DG_SCALAR] = dg_triad_scalar},
	[DG_NOTHING] = {[DG_SCALAR] = dg_nothing},
};

dg_kernel dg_find(int kind, int isa) {
	if (kind < 0 || kind >= DG_KINDS || isa < 0 || isa >= DG_ISAS)
		return NULL;
	return table[kind][isa];
}
