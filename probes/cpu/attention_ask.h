// Which lines of a cache attention in tiles asks memory for, ahead of their use.
// Include after attention_rows.h.
// What is asked for: runs of rows that lie together, a line of each in turn,
// since the cache's own prefetcher then follows all and memory has several of
// its rows open. Each call allows some lines; a round takes one a run.
typedef struct {
	const char *from[2 * TILE];
	int64_t bytes[2 * TILE], least, most, at; // of the runs; from a run's start
	int runs, each, allowed;
} asking;

FN void ask(asking *a) {
	for (a->allowed += a->each; a->allowed >= a->runs; a->allowed -= a->runs, a->at += 64) {
		if (a->at < a->least)
#pragma GCC unroll 8
			for (int i = 0; i < a->runs; i++)
				__builtin_prefetch(a->from[i] + a->at, 0, 2);
		else if (a->at < a->most)
			for (int i = 0; i < a->runs; i++)
				__builtin_prefetch(a->from[i] + (a->at < a->bytes[i] ? a->at : 0), 0, 2);
	}
}

// Adds the runs of n rows, of up to most bytes.
FN void runs_of(asking *a, const OP(rows) *rows, int n, int64_t bytes, int64_t most) {
	const char *from = NULL, *to = NULL;
	int runs = a->runs;
	for (int t = 0; t < n; t++) {
		const char *row = rows->row[t];
		if (row != to || row - from >= most)
			a->from[runs++] = from = row;
		to = row + bytes;
		a->bytes[runs - 1] = to - from;
	}
	a->runs = runs;
}

// Begins with the rows of n tokens, of as many bytes, in some eight runs.
FN void ask_for(asking *a, const OP(rows) *k, const OP(rows) *v, int n, int64_t key, int64_t value) {
	int64_t most = n * (key + value) / 8;
	a->runs = a->allowed = a->at = 0;
	runs_of(a, k, n, key, most);
	if (value)
		runs_of(a, v, n, value, most);
	a->least = INT64_MAX, a->most = 0;
	for (int i = 0; i < a->runs; i++) {
		a->least = a->bytes[i] < a->least ? a->bytes[i] : a->least;
		a->most = a->bytes[i] > a->most ? a->bytes[i] : a->most;
	}
}
