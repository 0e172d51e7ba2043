// The product of an NVFP4 matrix with one token.
#include "nvfp4.h"

GEMVS(NVFP4, nvfp4)
