package audit

import "fmt"

// GraphSize finds batches larger than any captured graph: they run eagerly.
var GraphSize = Check{
	Name: "graph-size",
	Doc:  "largest captured CUDA graph below the measured concurrency or the allowed number of sequences",
	Run: func(f *Facts) []Finding {
		l := f.Launch
		if l == nil {
			return nil
		}
		if _, off := l.GraphsDisabled(); off {
			return nil
		}
		size, s, ok := l.GraphMaxBatch()
		if !ok {
			return nil
		}
		unit, each := "sequences", 1
		if l.engine == vllm {
			unit = "tokens"
			if spec, known := l.Speculation(); known && spec.DraftTokens != nil {
				each += *spec.DraftTokens
			}
		}
		replicas := 1
		for _, split := range []func() (int, bool){l.DP, l.AttentionDP} {
			n, known := split()
			if !known {
				return nil
			}
			replicas *= n
		}
		batch := func(sequences int) int { return (sequences + replicas - 1) / replicas * each }
		if f.Concurrency != nil && batch(*f.Concurrency) > size {
			return []Finding{{
				Severity: High,
				Text:     fmt.Sprintf("graphs are captured up to %d %s (%s) and a step of the measured load has %d: it runs without a graph", size, unit, s.Text, batch(*f.Concurrency)),
				Advice:   "capture up to the batch that is served",
				Where:    l.at(s),
			}}
		}
		if running, ok := l.MaxRunning(); ok && f.Concurrency == nil && batch(running) > size {
			return []Finding{{
				Severity: Low,
				Text:     fmt.Sprintf("graphs are captured up to %d %s (%s), the server admits %d: larger batches run without a graph", size, unit, s.Text, batch(running)),
				Advice:   "capture up to the batch that is served",
				Where:    l.at(s),
			}}
		}
		return nil
	},
}
