package bench

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
)

// InferenceXSummary reads the Markdown table of an InferenceX run: metrics as
// rows, concurrencies as columns.
var InferenceXSummary = Importer{
	Name:  "inferencex-summary",
	Doc:   "Markdown summary table of InferenceX, a column per concurrency",
	Looks: "a Markdown table headed “| Metric | conc=8 |”",
	TPOT:  "Mean TPOT (ms) as vLLM; throughput is per GPU, and the number of GPUs is not in the table, so tok/s stays unknown",
	Sniff: func(head []byte) bool {
		for line := range bytes.Lines(head) {
			if summaryHead(string(line)) != nil {
				return true
			}
		}
		return false
	},
	Read: readSummary,
}

const maxColumns = 64 // concurrencies of one table

// summaryHead is the concurrency of each column if line heads such a table.
func summaryHead(line string) []value {
	cells := row(line)
	if len(cells) < 2 || len(cells) > maxColumns || !strings.EqualFold(cells[0], "metric") {
		return nil
	}
	var out []value
	for _, c := range cells[1:] {
		number, ok := strings.CutPrefix(strings.ToLower(strings.ReplaceAll(c, " ", "")), "conc=")
		if !ok {
			return nil
		}
		out = append(out, value{kind: isString, str: number})
	}
	return out
}

// row is the cells of a Markdown table line without emphasis, nil if line is
// none.
func row(line string) []string {
	line = strings.TrimSpace(line)
	if len(line) < 2 || line[0] != '|' || line[len(line)-1] != '|' {
		return nil
	}
	cells := strings.Split(line[1:len(line)-1], "|")
	for i, c := range cells {
		cells[i] = strings.TrimSpace(strings.ReplaceAll(c, "**", ""))
	}
	return cells
}

func readSummary(in io.Reader) ([]Result, error) {
	var out []Result
	var columns []*record
	finish := func() {
		for _, r := range columns {
			if result := r.finish(); r.figures() && len(out) < maxResults {
				out = append(out, result)
			}
		}
		columns = nil
	}
	r := bufio.NewReaderSize(in, maxLine)
	for {
		line, whole, err := readLine(r)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if heads := summaryHead(line); whole && heads != nil {
			finish()
			for _, h := range heads {
				c := &record{Result: Result{Tool: "inferencex"}}
				c.take("max_concurrency", h)
				columns = append(columns, c)
			}
		} else if cells := row(line); whole && len(cells) == len(columns)+1 {
			for i, c := range columns {
				c.summaryCell(cells[0], cells[i+1])
			}
		}
		if err != nil {
			break
		}
	}
	finish()
	if len(out) == 0 {
		return nil, none("rows such as “| Mean TPOT (ms) | 12.8 |” under the head")
	}
	return out, nil
}

// summaryCell reads one cell by its row's label.
func (r *record) summaryCell(label, text string) {
	v := value{kind: isString, str: text}
	label = strings.ToLower(label)
	switch label {
	case "output tput/gpu (tok/s)":
		r.take("output_tput_per_gpu", v)
		return
	case "total tput/gpu (tok/s)":
		r.take("tput_per_gpu", v)
		return
	}
	name, inSeconds := strings.CutSuffix(label, " (s)")
	if inSeconds {
		x, ok := v.number()
		if !ok {
			return
		}
		v, label = value{kind: isNumber, num: 1000 * x}, name+" (ms)"
	}
	label = strings.Replace(label, " e2e (ms)", " e2e latency (ms)", 1)
	if key := field(label); key != "" {
		r.latency(key, v)
	}
}
