// How a kernel file defines its four strips from one function of a constant
// number of tokens.
#ifndef DECODEGAP_STRIPS_H
#define DECODEGAP_STRIPS_H

#include "weights.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

// Kernels are written once for any number of tokens and made four times with a
// constant, their loops unrolled so that arrays become registers; not under
// sanitizers, whose checks the compiler would multiply for minutes.
#define DG_PRAGMA(text) _Pragma(#text)
#if defined(__SANITIZE_ADDRESS__)
#define DG_UNROLL(n)
#define DG_INLINE static __attribute__((noinline, noclone))
#else
#define DG_UNROLL(n) DG_PRAGMA(GCC unroll n)
#define DG_INLINE static inline __attribute__((always_inline))
#endif

// Asks for the lines that are needed next: into L1 a little ahead, into L2
// further ahead, where more requests can be under way. Distances by
// measurement: one level alone reaches nine tenths of both.
#ifndef DG_NEAR
#define DG_NEAR 2048
#define DG_FAR 12288
#endif
#if defined(__x86_64__)
#define DG_ASK(p) (_mm_prefetch((const char *)(p) + DG_NEAR, _MM_HINT_T0), _mm_prefetch((const char *)(p) + DG_FAR, _MM_HINT_T1))
#else
#define DG_ASK(p) (__builtin_prefetch((const char *)(p) + DG_NEAR), __builtin_prefetch((const char *)(p) + DG_FAR, 0, 2))
#endif

#define DG_STRIP_OF(name, attributes, n) \
	attributes void dg_##name##_##n(const uint8_t *w, int64_t chunks, const void *x, float *acc, const float *s) { \
		name(w, chunks, x, acc, s, n); \
	}
#define DG_STRIPS(name, attributes) \
	DG_STRIP_OF(name, attributes, 1) \
	DG_STRIP_OF(name, attributes, 2) \
	DG_STRIP_OF(name, attributes, 4) \
	DG_STRIP_OF(name, attributes, 8)

// Twice the value of an E2M1 code.
#define DG_TWICE 0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12

// The same plus 12, unsigned: what instructions that multiply unsigned with
// signed bytes take.
#define DG_TWICE_UP 12, 13, 14, 15, 16, 18, 20, 24, 12, 11, 10, 9, 8, 6, 4, 0

#endif
