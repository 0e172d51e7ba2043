// Choosing a token once every part has looked at its share of the logits.
#include "sample.h"

#include <string.h>

const dg_highest *dg_top_of(const dg_op *op, int64_t row, int parts) {
	const dg_highest *all = (const dg_highest *)op->scratch + row * parts, *best = all;
	for (int i = 1; i < parts; i++)
		if (all[i].value > best->value)
			best = all + i;
	return best;
}

// DG_PICK
void dg_pick(const dg_op *op, int part, int parts) {
	for (int64_t row = part; row < op->m; row += parts)
		((int32_t *)op->y)[row] = (int32_t)dg_top_of(op, row, parts)->index;
}

// Scratch: the highest of each row and part, tallies, then keys of each part.
static int64_t tops(const dg_op *op, int parts) { return op->m * parts * (int64_t)sizeof(dg_highest); }

dg_tally *dg_tally_of(const dg_op *op, int64_t row, int part, int parts) {
	return (dg_tally *)((char *)op->scratch + tops(op, parts)) + row * parts + part;
}

uint64_t *dg_keys_of(const dg_op *op, int part, int parts) {
	return (uint64_t *)dg_tally_of(op, op->m, 0, parts) + part * op->cols;
}

int64_t dg_sample_scratch(const dg_op *op, int parts) {
	return tops(op, parts) + op->m * parts * (int64_t)sizeof(dg_tally) + parts * op->cols * 8;
}

uint64_t dg_key(float logit, int64_t index) {
	uint32_t bits;
	logit += 0; // −0 is 0
	memcpy(&bits, &logit, 4);
	uint32_t rising = bits >> 31 ? ~bits : bits | 0x80000000u;
	return (uint64_t)~rising << 32 | (uint32_t)index;
}

static void sink(uint64_t *keys, int64_t at, int64_t n) {
	uint64_t v = keys[at];
	for (int64_t child; (child = 2 * at + 1) < n; at = child) {
		if (child + 1 < n && keys[child + 1] > keys[child])
			child++;
		if (keys[child] <= v)
			break;
		keys[at] = keys[child];
	}
	keys[at] = v;
}

// A heap sort: in place, and no input makes it slow.
void dg_sort(uint64_t *keys, int64_t n, const int *cancel) {
	for (int64_t i = n / 2 - 1; i >= 0; i--)
		sink(keys, i, n);
	for (int64_t end = n - 1; end > 0 && !dg_raised(cancel); end--) {
		uint64_t v = keys[0];
		keys[0] = keys[end];
		keys[end] = v;
		sink(keys, 0, end);
	}
}
