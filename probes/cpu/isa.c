// Which instruction sets this CPU and its operating system allow.
#include "kernels.h"

const char *dg_isa_name(int isa) {
	static const char *names[DG_ISAS] = {"scalar", "avx2", "avx512", "avx512_bf16", "avx512_vnni", "amx", "neon"};
	return isa >= 0 && isa < DG_ISAS ? names[isa] : "";
}

#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

// XCR0: which register state the operating system saves.
static uint64_t saved_state(void) {
	uint32_t low, high;
	__asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
	return (uint64_t)high << 32 | low;
}

// Whether the kernel lets this process use tiles: asked once more, it says so
// again. All threads have what one was granted; the first use of each thread
// makes it room for 8 kB of state.
static int tiles_permitted(void) {
	enum { REQUEST_PERMISSION = 0x1023, TILE_DATA = 18 };
	return syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) == 0;
}

int dg_has(int isa) {
	uint32_t a, b, c, d, a7, b7, c7, d7, a71 = 0, b71, c71, d71;
	if (isa == DG_SCALAR)
		return 1;
	if (!__get_cpuid(1, &a, &b, &c, &d) || !__get_cpuid_count(7, 0, &a7, &b7, &c7, &d7))
		return 0;
	if (!(c & bit_OSXSAVE))
		return 0;
	uint64_t state = saved_state();
	int avx2 = (state & 0x6) == 0x6 && (c & bit_AVX) && (c & bit_FMA) && (c & bit_F16C) && (b7 & bit_AVX2);
	int avx512 = avx2 && (state & 0xe6) == 0xe6 && (b7 & bit_AVX512F) && (b7 & bit_AVX512BW) && (b7 & bit_AVX512VL) && (b7 & bit_AVX512DQ);
	int bf16 = avx512 && a7 >= 1 && __get_cpuid_count(7, 1, &a71, &b71, &c71, &d71) && (a71 & (1 << 5));
	switch (isa) {
	case DG_AVX2:
		return avx2;
	case DG_AVX512:
		return avx512;
	case DG_AVX512_VNNI:
		return avx512 && (c7 & bit_AVX512VNNI) && (c7 & bit_AVX512VBMI);
	case DG_AVX512_BF16:
		return bf16;
	case DG_AMX: // tiles and their bf16 products, both parts of the state
		return bf16 && (d7 & (1 << 24)) && (d7 & (1 << 22)) && (state >> 17 & 3) == 3 && tiles_permitted();
	}
	return 0;
}
#elif defined(__aarch64__)
int dg_has(int isa) { return isa == DG_SCALAR || isa == DG_NEON; }
#else
int dg_has(int isa) { return isa == DG_SCALAR; }
#endif
