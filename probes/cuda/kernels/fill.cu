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

// Units with scales behind words of numbers, of which any bits are some.
template <class Scales> DEVICE void fill_units(u32 *p, u64 units, u32 numbers, u32 words, u64 seed, Scales scales) {
	EACH(i, units * words) {
		const u64 r = random(seed, i);
		p[i] = i % words < numbers ? (u32)r : scales(r);
	}
}
// Four positive E4M3, most between 2^-2 and 2, one in 64 below: sub-normal
// numbers and zero.
DEVICE u32 scales4(u64 r) {
	u32 word = 0;
	for (int b = 0; b < 4; b++) {
		u32 e = (u32)(r >> (16 * b)) & 0xffff;
		word |= ((e >> 10) == 0 ? e & 7 : 0x28 + (e & 0x3ff) % 24) << (8 * b);
	}
	return word;
}
// Units of nvfp4.h, and of eight tokens of nvfp4_native.cu.
KERNEL fill_nvfp4(u32 *p, u64 units, u64 seed) {
	fill_units(p, units, 512, 576, seed, [](u64 r) INLINE { return scales4(r); });
}
KERNEL fill_nvfp4_eight(u32 *p, u64 units, u64 seed) {
	fill_units(p, units, 256, 288, seed, [](u64 r) INLINE { return scales4(r); });
}
// Units of groups.h with E8M0: 2^-8 to 2^7, one in 64 from 2^-127 to 2^-120.
KERNEL fill_mxfp4(u32 *p, u64 units, u64 seed) {
	fill_units(p, units, 512, 544, seed, [](u64 r) INLINE {
		u32 word = 0;
		for (int b = 0; b < 4; b++) {
			u32 e = (u32)(r >> (16 * b)) & 0xffff;
			word |= ((e >> 10) == 0 ? e & 7 : 119 + (e & 15)) << (8 * b);
		}
		return word;
	});
}
// Units of groups.h with binary16: 2^-7 to 2, one in 64 sub-normal or zero.
KERNEL fill_int4(u32 *p, u64 units, u64 seed) {
	fill_units(p, units, 512, 576, seed, [](u64 r) INLINE {
		u32 word = 0;
		for (int b = 0; b < 2; b++) {
			u32 e = (u32)(r >> (32 * b));
			word |= (e >> 26 == 0 ? e & 0x3ff : 0x2000 + (e & 0x1fff)) << (16 * b);
		}
		return word;
	});
}
// Four E4M3 codes, none of which is no number (all seven bits of a magnitude);
// most are below 2, one word in 16 has any.
DEVICE u32 e4m3(u64 r) {
	const u32 v = r >> 60 ? (u32)r & 0xbfbfbfbfu : (u32)r;
	return v & ~((v & 0x7f7f7f7fu) + 0x01010101u >> 7 & 0x01010101u);
}
KERNEL fill_e4m3(u32 *p, u64 n, u64 seed) { EACH(i, n) p[i] = e4m3(random(seed, i)); }
// Pages of indexer.cu: 2048 words of keys, 64 scales from 2^-5 to 2^-3.
KERNEL fill_index(u32 *p, u64 pages, u64 seed) {
	EACH(i, pages * 2112) {
		const u64 r = random(seed, i);
		p[i] = i % 2112 < 2048 ? e4m3(r) : float_bits((5.f + 3.f * uniform((u32)r)) * (1.f / 64));
	}
}
// Weights of fp8.h: n words.
KERNEL fill_fp8(u32 *p, u64 n, u64 seed) {
	EACH(i, n) {
		const u32 v = e4m3(random(seed, i));
		p[i] = v & 0x80008000u | (v & 0x00800080u) << 7 | v >> 1 & 0x3f803f80u | v & 0x007f007fu;
	}
}
