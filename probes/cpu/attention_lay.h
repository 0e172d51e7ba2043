// Where attention in tiles finds its operands, and how those are laid that
// tiles cannot take as they lie.
#include "amx.h"

enum { TILE = 64 };
#include "attention_rows.h"
#include "attention_ask.h"

// Slots of a tile's row, bytes of as many values of all tokens, spans of values
// whose pairs are laid at once, tiles of tokens.
enum { SPAN = 32, SPAN_BYTES = 4 * TILE_BYTES, LAID = 2, QUARTERS = TILE / TILE_ROWS };

// Where tiles of rows are, of sixteen tokens each, and how far from row to row
// and from span to span.
typedef struct {
	const char *at[QUARTERS];
	int64_t row[QUARTERS], span[QUARTERS];
} tiled;

// What a segment works with. Slots are the places of a row's values: FP8 has
// of 64 values the even ones, then the odd ones.
typedef struct {
	const dg_op *op;
	int64_t group, d, dv, chunks, spans; // of 32 slots, of a key and of a value
	int64_t blocks;                      // of sixteen query heads, or one of few
	char *copies[2], *pairs, *queries;   // tiles: rows that cannot stay, pairs of values, queries
	int64_t kept;                        // pairs that further blocks need, or the last ones, which stay in L1
	char *weights;                       // tiles of P, of a block
	float *acc, *s, *top, *sum;          // acc: values of a block; s: its scores; sum: a vector a head
	OP(rows) k[2], v[2];                 // of this and of the next tokens
	int n[2];
	tiled keys, values;
	asking ask;
} work;

// Learns the rows of the tokens after these, which may be the next segment's,
// and begins to ask for them.
FN void learn(work *w, int to, const dg_segment *g, int64_t token, int fp8) {
	const int32_t *table = (const int32_t *)w->op->x2 + g->sequence * w->op->n3;
	int n = w->n[to] = gather(w->op, table, g->head, token, g->to, fp8, &w->k[to], &w->v[to]);
	int64_t size = fp8 ? 1 : 2;
	ask_for(&w->ask, &w->k[to], &w->v[to], n, w->d * size, w->op->s ? w->dv * size : 0);
}

FN __mmask16 lanes_of(int64_t n) { return n >= 16 ? 0xffff : n <= 0 ? 0 : (1u << n) - 1; }

// The query heads as tiles of pairs, scaled, by block, chunk and part. Few
// heads have the second parts as columns after them.
TILE_FN void lay_queries(work *w, const float *x, float scale, int fp8, int few) {
	for (int64_t b = 0; b < w->blocks; b++)
		for (int64_t c = 0; c < w->chunks; c++) {
			__m512i parts[2][16] = {0};
			for (int h = 0; h < 16 && b * 16 + h < w->group; h++) {
				const float *q = x + (b * 16 + h) * w->d;
				int64_t at = fp8 ? c / 2 * 64 : c * 32;
				vec v[4];
				for (int i = 0; i < (fp8 ? 4 : 2); i++)
					v[i] = v_mul(_mm512_maskz_loadu_ps(lanes_of(w->d - at - 16 * i), q + at + 16 * i), v_set1(scale));
				if (fp8)
					v[0] = every_second(v[0], v[1], c % 2), v[1] = every_second(v[2], v[3], c % 2);
				vec even = every_second(v[0], v[1], 0), odd = every_second(v[0], v[1], 1), even2, odd2;
				parts[0][h] = bf16_pairs(even, odd, &even2, &odd2);
				*(few ? &parts[0][few + h] : &parts[1][h]) = bf16_pairs(even2, odd2, &even2, &odd2);
			}
			char *to = w->queries + (b * w->chunks + c) * 2 * TILE_BYTES;
			transpose(parts[0], to);
			transpose(parts[1], to + TILE_BYTES);
		}
}

// Lays 64 bytes of a row in a tile, or as bf16 in two; returns where the next go.
FN __m512i *lay_line(__m512i *to, __m512i v, int fp8) {
	const int64_t tile = TILE_BYTES / 64;
	if (!fp8) {
		*to = v;
		return to + tile;
	}
	bf16_of_fp8(v, to, to + tile);
	return to + 2 * tile;
}

// Finds tiles of rows of d values: sixteen rows of one page stay where they
// are, others are copied, and FP8 is converted. Tiles past the end are the
// first again, rows past it the last one.
FN void lay_rows(work *w, tiled *to, const OP(rows) *rows, char *copy, int64_t d, int64_t token, int n, int fp8) {
	int64_t bytes = d * (fp8 ? 1 : 2), spans = fp8 ? (d + 63) / 64 * 2 : (d + 31) / 32;
	for (int i = 0; i < QUARTERS; i++) {
		const char *const *row = rows->row + i * TILE_ROWS;
		int from = i * TILE_ROWS < n ? i : 0;
		to->at[i] = to->at[from], to->row[i] = to->row[from], to->span[i] = to->span[from];
		if (from != i)
			continue;
		if (!fp8 && d % SPAN == 0 && (i + 1) * TILE_ROWS <= n && row[TILE_ROWS - 1] - row[0] == (TILE_ROWS - 1) * bytes &&
		    (token + i * TILE_ROWS) % w->op->n1 + TILE_ROWS <= w->op->n1) {
			to->at[i] = row[0], to->row[i] = bytes, to->span[i] = 64;
			continue;
		}
		to->at[i] = copy + i * spans * TILE_BYTES, to->row[i] = 64, to->span[i] = TILE_BYTES;
		for (int t = 0; t < TILE_ROWS; t++) {
			__m512i *line = (__m512i *)(to->at[i] + t * 64);
			int64_t at = 0;
			for (; at + 64 <= bytes; at += 64)
				line = lay_line(line, _mm512_loadu_si512(row[t] + at), fp8);
			if (at < bytes)
				lay_line(line, _mm512_maskz_loadu_epi8(first_bytes(bytes - at), row[t] + at), fp8);
			if (t % 2 == 0)
				ask(&w->ask);
		}
	}
}

// Pairs of tokens of n spans of slots: [span][half of each eight slots][half
// of the tokens]. Rows outside: they are read in the order that they lie in.
FN void lay_pairs(work *w, int64_t span, int n) {
	char *to = w->pairs + (span & w->kept) * SPAN_BYTES;
	for (int j = 0; j < QUARTERS; j++, to += j % 2 ? 512 : TILE_BYTES - 512) {
		int64_t row = w->values.row[j], step = w->values.span[j];
		const char *a = w->values.at[j] + span * step;
		for (int t = 0; t < TILE_ROWS; t += 2, a += 2 * row) {
#pragma GCC unroll 2
			for (int i = 0; i < n; i++) {
				__m512i x = _mm512_loadu_si512(a + i * step), y = _mm512_loadu_si512(a + i * step + row);
				_mm512_store_si512(to + i * SPAN_BYTES + t * 32, _mm512_unpacklo_epi16(x, y));
				_mm512_store_si512(to + i * SPAN_BYTES + t * 32 + 2 * TILE_BYTES, _mm512_unpackhi_epi16(x, y));
			}
			if (t % 4 == 0)
				ask(&w->ask);
		}
	}
}
