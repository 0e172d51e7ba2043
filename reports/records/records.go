// Package records holds the best publicly known decode results, each with its
// source, so that a measurement can be set against what others reach on the
// same class of model and hardware.
//
// It refuses results whose model, hardware, number of GPUs or source are not
// clear, and it never scales a result to another machine.
package records

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"decodegap/reports"
)

//go:embed catalogue.json
var catalogue []byte

// entry is one configuration's results by concurrency.
type entry struct {
	Class       string             `json:"class"` // of the model catalogue: GLM-5, GLM-5.1 and GLM-5.2 are three
	Model       string             `json:"model"` // the checkpoint's format included
	Hardware    string             `json:"hardware"`
	GPUs        int                `json:"gpus"`
	Engine      string             `json:"engine"`
	Speculation string             `json:"speculation"` // none, MTP
	TokPerS     map[string]float64 `json:"output_tok_s"`
	Source      string             `json:"source"`
	Note        string             `json:"note"`
}

// All lists every result, in the catalogue's order and by concurrency.
func All() []reports.Best {
	entries, err := parse(catalogue)
	if err != nil {
		return nil // a test reads the embedded file, so this is never shipped
	}
	var out []reports.Best
	for _, e := range entries {
		out = append(out, e.results()...)
	}
	return out
}

// Match lists the results for a class of model (or a checkpoint's name of it)
// on this many GPUs of this hardware, by concurrency, the fastest first. An
// unknown class has none.
func Match(modelClass, hardware string, gpus int) []reports.Best {
	entries, err := parse(catalogue)
	if err != nil {
		return nil
	}
	want := class(modelClass)
	var out []reports.Best
	for _, e := range entries {
		if want != "" && class(e.Class) == want && e.GPUs == gpus && sameHardware(e.Hardware, hardware) {
			out = append(out, e.results()...)
		}
	}
	slices.SortStableFunc(out, func(a, b reports.Best) int {
		return cmp.Or(cmp.Compare(a.Concurrency, b.Concurrency), cmp.Compare(b.OutputTokPerS, a.OutputTokPerS))
	})
	return out
}

func (e entry) results() []reports.Best {
	var out []reports.Best
	for text, rate := range e.TokPerS {
		concurrency, err := strconv.Atoi(text)
		if err != nil {
			continue // parse has checked them
		}
		ms := 1000 * float64(concurrency) / rate
		out = append(out, reports.Best{
			Model: e.Model, Hardware: e.Hardware, GPUs: e.GPUs, Engine: e.Engine, Speculation: e.Speculation,
			Concurrency: concurrency, OutputTokPerS: rate, MsPerToken: &ms, Source: e.Source, Note: e.Note,
		})
	}
	slices.SortFunc(out, func(a, b reports.Best) int { return cmp.Compare(a.Concurrency, b.Concurrency) })
	return out
}

// parse reads a catalogue strictly: unknown fields, missing fields and figures
// that cannot be are errors.
func parse(data []byte) ([]entry, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	var entries []entry
	if err := dec.Decode(&entries); err != nil {
		return nil, fmt.Errorf("records: near byte %d: %w", dec.InputOffset(), err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("records: text after the list at byte %d", dec.InputOffset())
	}
	for i, e := range entries {
		if err := e.check(); err != nil {
			return nil, fmt.Errorf("records: entry %d (%s, %s): %w", i+1, e.Model, e.Engine, err)
		}
	}
	return entries, nil
}

func (e entry) check() error {
	for _, f := range []struct{ name, value string }{
		{"class", e.Class}, {"model", e.Model}, {"hardware", e.Hardware}, {"engine", e.Engine},
		{"source", e.Source}, {"speculation", e.Speculation},
	} {
		if strings.TrimSpace(f.value) == "" {
			return fmt.Errorf("%s: missing", f.name)
		}
	}
	if e.Speculation != "none" && e.Speculation != "MTP" {
		return fmt.Errorf("speculation %q: expected none or MTP", e.Speculation)
	}
	if e.GPUs < 1 {
		return fmt.Errorf("gpus: expected at least 1")
	}
	if len(e.TokPerS) == 0 {
		return fmt.Errorf("output_tok_s: missing")
	}
	for text, rate := range e.TokPerS {
		if n, err := strconv.Atoi(text); err != nil || n < 1 || strconv.Itoa(n) != text {
			return fmt.Errorf("output_tok_s: %q is no concurrency", text)
		}
		if !(rate > 0) || rate > 1e7 {
			return fmt.Errorf("output_tok_s at %s: %g is no rate", text, rate)
		}
	}
	return nil
}

// formats are what a checkpoint's name adds to its class.
var formats = []string{"nvfp4", "mxfp4", "fp8", "fp4", "int4", "int8", "awq", "bf16", "mtp"}

// class is a model's class in a form to compare: without the publisher, the
// weight format and the spelling. GLM-5.1 stays apart from GLM-5.
func class(name string) string {
	name = strings.ToLower(name[strings.LastIndexByte(name, '/')+1:])
	for cut := true; cut; {
		cut = false
		for _, f := range formats {
			if rest, ok := strings.CutSuffix(name, "-"+f); ok {
				name, cut = rest, true
			}
		}
	}
	return strings.TrimSpace(name)
}

// sameHardware says whether a device is of the record's hardware: the record
// may leave the edition open ("RTX PRO 6000 Blackwell").
func sameHardware(record, device string) bool {
	record, device = fold(record), fold(device)
	return record == device || strings.HasPrefix(device, record+" ")
}

func fold(s string) string {
	return strings.TrimPrefix(strings.ToLower(strings.Join(strings.Fields(s), " ")), "nvidia ")
}
