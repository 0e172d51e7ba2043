// A token's row of the embedding table: one block has a part of a row.
#include "rows.h"

KERNEL __launch_bounds__(1024, 1) embedding(const char *table, const u32 *ids, char *y, u32 cols, u32 order) {
	const u32 parts = cols / 8 / threads(), token = block() / parts, vector = block() % parts * threads() + thread();
	begin(order);
	const u64 row = load_l2_word(ids + token);
	store16(y + ((u64)token * cols + 8 * vector) * 2, load_once(table + (row * cols + 8 * vector) * 2));
	finish(order);
}
