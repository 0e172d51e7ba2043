package layout

// Shard says how a weight is spread over the n ranks of a tensor-parallel
// group, or further.
type Shard int

const (
	// Split: each rank reads 1/n.
	Split Shard = iota
	// ByKVHead: each rank reads 1/min(n, KV heads); with more ranks than
	// heads the busiest holds one whole head.
	ByKVHead
	// Replicated: every rank reads all of it.
	Replicated
	// OverAll: each rank reads 1/(tp·dp), for the tokens of all data-parallel
	// ranks. Only in rules for data-parallel attention.
	OverAll
	// ByToken: every rank reads all of it, for 1/n of its group's tokens. Only
	// in rules for data-parallel attention with expert parallelism.
	ByToken
)

func (s Shard) String() string {
	switch s {
	case ByKVHead:
		return "by KV head"
	case Replicated:
		return "replicated"
	case OverAll:
		return "split over all tp·dp GPUs where dp > 1 and the model has experts"
	case ByToken:
		return "replicated, each rank taking some tokens, where dp > 1 and ep > 1"
	}
	return "split"
}

// Rule is how an engine treats one role, and where its source says so.
type Rule struct {
	Shard  Shard
	Source string
}

// spreadOf is over how many ranks a rule spreads a weight, and how many tokens
// one rank's part multiplies.
func (b *builder) spreadOf(rule Rule) (parts, tokens float64) {
	parts, tokens = float64(b.n), float64(b.tokens)
	if b.engine.Even {
		return parts, tokens
	}
	switch rule.Shard {
	case ByKVHead:
		if k := b.d.KVHeads; k > 0 {
			parts = float64(min(b.n, k))
		}
	case Replicated:
		parts = 1
	case OverAll:
		parts, tokens = float64(b.moe), float64(b.all)
	case ByToken:
		parts, tokens = 1, tokens/parts
	}
	return parts, tokens
}
