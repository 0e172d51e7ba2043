// The product of an MXFP4 matrix with one token: E2M1 weights, a power of two
// for each 32 columns.
#include "e2m1.h"
#include "groups.h"

struct MXFP4 {
	using Scales = u32;
	static constexpr float FACTOR = 16384.f; // 2^14 of the weights

	DEVICE_MEMBER static void copy(u32 to, const char *from) { copy4(to, from); }
	DEVICE_MEMBER static u32 load(u32 from) { return float_bits(load_shared(from)); }
	DEVICE_MEMBER static void unpack(u32 w, u32 *pair) { ::unpack(w, pair); }
	// An E8M0 byte is float32's exponent; of 0, which is 2^-127, it is not.
	DEVICE_MEMBER static void values(u32 s, float *v) {
		const u32 exponent = 0x7f800000u;
		const float least = bits_float(0x00400000u);
		v[0] = maximum(bits_float(s << 23 & exponent), least);
		v[1] = maximum(bits_float(s << 15 & exponent), least);
		v[2] = maximum(bits_float(s << 7 & exponent), least);
		v[3] = maximum(bits_float(s >> 1 & exponent), least);
	}
};

GEMVS(Groups<MXFP4>, mxfp4)
