// The kernels that are written once for every vector width, for avx512.
#if defined(__x86_64__)
#include "vector_avx512.h"
#include "rows_vec.h"
#include "heads_vec.h"
#include "argmax_vec.h"
#include "sample_vec.h"
#include "route_vec.h"
#include "reduce_vec.h"
#include "stream_vec.h"
#include "attention_vec.h"
#endif
