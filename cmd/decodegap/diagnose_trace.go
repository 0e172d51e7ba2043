package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"

	"decodegap/cmd/internal/assemble"
	"decodegap/reports"
	"decodegap/traces/all"
)

// readTrace reads the traces of the first point. A trace without steps cannot
// explain one, and is an error.
func (d *diagnosis) readTrace(ctx context.Context) error {
	if len(d.opt.trace) == 0 {
		return nil
	}
	rules, err := readRules(d.opt.rules)
	if err != nil {
		return err
	}
	t := &assemble.Trace{Formats: all.All, Rules: rules, Many: len(d.opt.trace) > 1}
	for i, err := range t.ReadAll(ctx, d.opt.trace) {
		path := d.opt.trace[i]
		if err != nil {
			return fmt.Errorf("--trace: %w", err)
		}
		sum, err := sumFile(path)
		if err != nil {
			return fmt.Errorf("--trace: %w", err)
		}
		d.run.Inputs = append(d.run.Inputs, reports.Input{Path: path, SHA256: sum, Role: "trace"})
	}
	doc := t.Document()
	d.run.Warnings = addWarnings(d.run.Warnings, doc.Warnings...)
	if doc.Step == nil {
		return fmt.Errorf("--trace: no decode step was found in it; `decodegap trace` says what is there")
	}
	d.trace, d.traced, d.kept = doc, assemble.Traced(doc), t.Traced()
	if len(doc.Counters) > 0 && len(d.kept.Counters) == 0 {
		d.run.Warnings = addWarnings(d.run.Warnings, reports.Warning{Code: "counters-of-another",
			Text: "no kernel that has counters runs in the traced step with the same grid, or it serves several components there: the counters say nothing about this step"})
	}
	return nil
}

// sumFile is the SHA-256 of a whole file, read once more in passing.
func sumFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
