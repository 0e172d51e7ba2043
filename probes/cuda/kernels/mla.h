// What kernels of absorbed latent attention (MLA) have in common: the cache has
// one row a token for all heads, 512 latent values and 64 with positions. Keys
// are the whole row, values its first 512.
#pragma once
#include "pieces.h"

enum { KEY = 576, VALUE = 512, PAGE = 64, ROW = KEY * 2, GROUPS = KEY / 64 };

// A tile in shared memory is nine groups of 64 columns; in each, rows of 128
// bytes whose eight vectors are spread over the banks by the row's number. The
// tensor cores of Hopper read the same layout by themselves (128-byte swizzle).
template <int ROWS> DEVICE u32 place(u32 row, u32 chunk) { return chunk / 8 * (ROWS * 128) + row * 128 + ((chunk ^ row) & 7) * 16; }

// How much a maximum may grow before sums are scaled down: 2⁸ is far from what
// float32 sums or bfloat16 probabilities cannot hold, and scaling takes time.
#define SLACK 8.f
