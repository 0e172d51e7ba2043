// What the operations of sampling leave each other in scratch.
#ifndef DECODEGAP_SAMPLE_H
#define DECODEGAP_SAMPLE_H

#include "kernels.h"

// The highest logit of a row, of all parts.
const dg_highest *dg_top_of(const dg_op *op, int64_t row, int parts);

enum { DG_BUCKETS = 1024, DG_BUCKETS_PER_NAT = 32 };

// How many tokens of a part lie how far below the highest logit, and what they
// weigh; the last bucket has all that are farther.
typedef struct {
	double mass[DG_BUCKETS];
	int64_t count[DG_BUCKETS];
} dg_tally;

dg_tally *dg_tally_of(const dg_op *op, int64_t row, int part, int parts);

// Where a part sorts tokens: as many as there are logits.
uint64_t *dg_keys_of(const dg_op *op, int part, int parts);

// A token's place in the order of falling logits, and its index below.
uint64_t dg_key(float logit, int64_t index);
void dg_sort(uint64_t *keys, int64_t n, const int *cancel); // in part where cancel is raised

// Bytes of scratch of sampling.
int64_t dg_sample_scratch(const dg_op *op, int parts);

#endif
