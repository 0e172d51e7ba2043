// Cutting decode attention into parts of equal work.
#include "attention.h"

enum { UNIT = 64 }; // tokens: the grain of the cut

// The tokens of a sequence that its window leaves.
static int64_t visible(const dg_op *op, int64_t sequence, int64_t *first) {
	int64_t n = ((const int32_t *)op->x3)[sequence];
	*first = op->n2 && n > op->n2 ? n - op->n2 : 0;
	return n - *first;
}

static int64_t units_of(const dg_op *op, int64_t sequence) {
	int64_t first;
	return (visible(op, sequence, &first) + UNIT - 1) / UNIT;
}

static int64_t all_units(const dg_op *op) {
	int64_t n = 0;
	for (int64_t s = 0; s < op->m; s++)
		n += units_of(op, s);
	return n * op->n0;
}

// Scratch in floats: of each part its work, then two partial results: of the
// pair that an earlier part began, and of one that a later part ends.
static int64_t partial_size(const dg_op *op) {
	int64_t group = op->rows / op->n0;
	return (group * (dg_padded(op->n4) + 2) + 15) / 16 * 16;
}

static int64_t part_size(const dg_op *op) {
	int64_t group = op->rows / op->n0;
	int64_t vectors = (group * (dg_padded(op->cols) + DG_LANES) + 15) / 16 * 16 + partial_size(op), tiles = dg_tile_work(op);
	return (vectors > tiles ? vectors : tiles) + 2 * partial_size(op);
}

int64_t dg_attention_scratch(const dg_op *op, int parts) { return 4 * parts * part_size(op); }

static float *partial_of(const dg_op *op, int part, int begun_before) {
	float *p = (float *)op->scratch + part * part_size(op);
	return p + part_size(op) - (begun_before ? 2 : 1) * partial_size(op);
}

int dg_next_segment(const dg_op *op, int part, int parts, dg_segment *g) {
	if (!g->work) {
		int64_t units = all_units(op);
		g->work = (float *)op->scratch + part * part_size(op);
		g->next = units * part / parts;
		g->end = units * (part + 1) / parts;
	}
	if (g->next >= g->end)
		return 0;
	int64_t each = units_of(op, g->sequence);
	while (g->next >= g->before + each * op->n0) {
		g->before += each * op->n0;
		each = units_of(op, ++g->sequence);
	}
	g->head = (g->next - g->before) / each;
	int64_t base = g->before + g->head * each; // of the pair
	int64_t last = g->end < base + each ? g->end : base + each;
	int64_t first, n = visible(op, g->sequence, &first);
	int64_t from = (g->next - base) * UNIT, to = (last - base) * UNIT;
	if (to > n)
		to = n;
	g->from = first + from, g->to = first + to;
	g->partial = from || to < n ? partial_of(op, part, from > 0) : NULL;
	g->next = last;
	return 1;
}

int dg_partials(const dg_op *op, int64_t sequence, int64_t head, int parts, const float **acc) {
	int64_t units = all_units(op), each = units_of(op, sequence), base = 0;
	for (int64_t s = 0; s < sequence; s++)
		base += units_of(op, s) * op->n0;
	base += head * each;
	int n = 0, part = (int)(base * parts / units);
	for (; part < parts && units * part / parts < base + each; part++) {
		int64_t from = units * part / parts, to = units * (part + 1) / parts;
		if (to <= base || from == to)
			continue;
		if (from <= base && to >= base + each)
			return 0;
		acc[n++] = partial_of(op, part, from > base);
	}
	return n;
}
