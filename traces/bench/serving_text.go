package bench

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
)

const (
	textMark = "Serving Benchmark Result" // heads the block of both tools
	maxLine  = 64 << 10                   // bytes of a line; longer ones are no label
)

// labels are the lines of the text form and the JSON field each stands for.
// Spellings are compared in lower case; the misspelt one was released.
var labels = map[string]string{
	"backend":                              "backend",
	"traffic request rate":                 "request_rate",
	"request rate configured (rps)":        "request_rate",
	"max reqeuest concurrency":             "max_concurrency",
	"max request concurrency":              "max_concurrency",
	"maximum request concurrency":          "max_concurrency",
	"successful requests":                  "completed",
	"failed requests":                      "failed",
	"total input tokens":                   "total_input_tokens",
	"total generated tokens":               "total_output_tokens",
	"total generated tokens (retokenized)": "total_output_tokens_retokenized",
	"request throughput (req/s)":           "request_throughput",
	"output token throughput (tok/s)":      "output_throughput",
	"peak output token throughput (tok/s)": "max_output_tokens_per_s",
	"peak concurrent requests":             "max_concurrent_requests",
	"concurrency":                          "concurrency",
	"accept length":                        "accept_length",
	"acceptance length":                    "spec_decode_acceptance_length",
}

// onlySGLang are the labels that vLLM does not print.
var onlySGLang = []string{"backend", "max reqeuest concurrency", "max request concurrency",
	"total generated tokens (retokenized)", "concurrency", "accept length"}

// preamble are the settings vLLM prints before the progress bar; older
// versions do not repeat them in the block.
var preamble = []string{"traffic request rate", "maximum request concurrency"}

// readServingText reads every result block of a console's text. The labels
// tell sglang's blocks from vLLM's.
func readServingText(in io.Reader) ([]Result, error) {
	b := textBlocks{before: map[string]value{}}
	r := bufio.NewReaderSize(in, maxLine)
	for {
		line, whole, err := readLine(r)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if whole {
			b.line(line)
		}
		if err != nil || len(b.out) >= maxResults {
			break
		}
	}
	b.close("the text ends before the line of = signs that closes the block")
	if len(b.out) == 0 {
		return nil, none("a block headed “" + textMark + "” with lines such as “Mean TPOT (ms):”")
	}
	return b.out, nil
}

// readLine is the next line without its end; whole is false for one that is
// too long and was read over.
func readLine(r *bufio.Reader) (line string, whole bool, err error) {
	b, err := r.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return string(bytes.TrimRight(b, "\r\n")), true, err
	}
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = r.ReadSlice('\n')
	}
	return "", false, err
}

// textBlocks turns lines into results.
type textBlocks struct {
	out    []Result
	open   *record
	sglang bool
	before map[string]value // settings printed before the block
}

func (b *textBlocks) line(text string) {
	text = strings.TrimLeft(text, " \t#>|")
	switch {
	case strings.Contains(text, textMark):
		b.close("the next block begins before this one is closed")
		b.open, b.sglang = &record{}, false
		return
	case b.open != nil && isRule(text):
		b.close("")
		return
	}
	label, rest, ok := strings.Cut(text, ":")
	if !ok {
		return
	}
	label = strings.ToLower(strings.Join(strings.Fields(label), " "))
	v := value{kind: isString, str: strings.TrimSpace(rest)}
	key := field(label)
	switch {
	case key == "":
	case b.open != nil:
		for _, l := range onlySGLang {
			b.sglang = b.sglang || l == label
		}
		b.open.take(key, v)
	default:
		for _, l := range preamble {
			if l == label {
				b.before[key] = v
			}
		}
	}
}

// close ends the open block; cut says why its end is missing.
func (b *textBlocks) close(cut string) {
	r := b.open
	b.open = nil
	if r == nil {
		return
	}
	r.Tool = "vllm"
	if b.sglang {
		r.Tool = "sglang"
	}
	if v, ok := b.before["max_concurrency"]; ok && r.MaxConcurrency == nil {
		r.take("max_concurrency", v)
	}
	if v, ok := b.before["request_rate"]; ok && r.Facts["bench.request_rate"] == "" {
		r.take("request_rate", v)
	}
	clear(b.before)
	r.cut = cut
	if result := r.finish(); r.figures() {
		b.out = append(b.out, result)
	}
}

// isRule says whether the line is the row of = signs that closes a block.
func isRule(text string) bool {
	text = strings.TrimSpace(text)
	return len(text) >= 10 && strings.Trim(text, "=") == ""
}

// field is the JSON field a label stands for, "" if it is unknown. Latency
// labels are a statistic, a metric and the unit: "P99 ITL (ms)".
func field(label string) string {
	if key := labels[label]; key != "" {
		return key
	}
	rest, ok := strings.CutSuffix(label, " (ms)")
	if !ok {
		return ""
	}
	stat, metric, ok := strings.Cut(rest, " ")
	if !ok {
		return ""
	}
	return stat + "_" + strings.ReplaceAll(metric, " ", "_") + "_ms"
}
