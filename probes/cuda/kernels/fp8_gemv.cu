// The product of an E4M3 matrix with one token.
#include "fp8.h"

GEMVS(FP8, fp8)
