// Products of bfloat16 weights and activations, eight at a time, in float32.
#pragma once
#include "device.h"

DEVICE float dot8(uint4 w, uint4 x, float sum) {
	sum = fma(bf16_low(w.x), bf16_low(x.x), sum);
	sum = fma(bf16_high(w.x), bf16_high(x.x), sum);
	sum = fma(bf16_low(w.y), bf16_low(x.y), sum);
	sum = fma(bf16_high(w.y), bf16_high(x.y), sum);
	sum = fma(bf16_low(w.z), bf16_low(x.z), sum);
	sum = fma(bf16_high(w.z), bf16_high(x.z), sum);
	sum = fma(bf16_low(w.w), bf16_low(x.w), sum);
	return fma(bf16_high(w.w), bf16_high(x.w), sum);
}
