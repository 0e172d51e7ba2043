// Operands: random words that the host can compute too, and random numbers of
// the formats that the kernels read.
#include "device.h"

// The i-th of a sequence of random 64-bit words (splitmix64).
DEVICE u64 random(u64 seed, u64 i) {
	u64 z = seed + (i + 1) * 0x9e3779b97f4a7c15ull;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

#define EACH(i, n) \
	for (u64 i = (u64)block() * threads() + thread(), step = (u64)blocks() * threads(); i < (n); i += step)

// n words of eight bytes, uniform.
KERNEL fill_words(u64 *p, u64 n, u64 seed) { EACH(i, n) p[i] = random(seed, i); }

// A number of 16 random bits, uniform in [-1, 1).
DEVICE float uniform(u32 bits16) { return (float)((int)(bits16 & 0xffff) - 32768) * (1.f / 32768.f); }

// n words of two bfloat16, or of two binary16, uniform in [-scale, scale).
KERNEL fill_bf16(u32 *p, u64 n, float scale, u64 seed) {
	EACH(i, n) { u32 r = (u32)random(seed, i); p[i] = pack_bf16(scale * uniform(r), scale * uniform(r >> 16)); }
}
KERNEL fill_f16(u32 *p, u64 n, float scale, u64 seed) {
	EACH(i, n) { u32 r = (u32)random(seed, i); p[i] = pack_f16(scale * uniform(r), scale * uniform(r >> 16)); }
}

// Units of nvfp4.h: any bits are weights; scales are positive E4M3, most
// between 2^-2 and 2, one in 64 below: sub-normal numbers and zero.
KERNEL fill_nvfp4(u32 *p, u64 units, u64 seed) {
	EACH(i, units * 576) {
		u64 r = random(seed, i);
		u32 word = (u32)r;
		if (i % 576 >= 512) {
			word = 0;
			for (int b = 0; b < 4; b++) {
				u32 e = (u32)(r >> (16 * b)) & 0xffff;
				word |= ((e >> 10) == 0 ? e & 7 : 0x28 + (e & 0x3ff) % 24) << (8 * b);
			}
		}
		p[i] = word;
	}
}
