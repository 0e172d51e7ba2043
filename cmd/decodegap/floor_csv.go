package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"

	"decodegap/reports"
)

// writeFloorCSV prints one row a point, unrounded; what is not known is empty.
func writeFloorCSV(w io.Writer, doc *reports.FloorDocument) error {
	c := csv.NewWriter(w)
	head := []string{"model", "hardware", "gpus", "engine", "batch", "context", "tp", "ep", "dp", "pp", "kv_dtype",
		"weight_bytes_ideal_per_gpu", "weight_bytes_layout_per_gpu", "kv_read_bytes_per_gpu", "kv_write_bytes_per_gpu", "flops_per_gpu", "distinct_experts"}
	for _, kind := range reports.FloorKinds {
		head = append(head, kind+"_ms_per_token", kind+"_tok_s")
	}
	if err := c.Write(append(head, "basis", "bound")); err != nil {
		return err
	}
	num := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	for _, p := range doc.Points {
		row := []string{doc.Model.Name, doc.Hardware.Name, fmt.Sprint(p.TP * p.DP * p.PP), p.Engine, fmt.Sprint(p.Batch), fmt.Sprint(p.Context),
			fmt.Sprint(p.TP), fmt.Sprint(p.EP), fmt.Sprint(p.DP), fmt.Sprint(p.PP), p.KVType,
			num(p.WeightBytesIdeal), num(p.WeightBytesLayout), num(p.KVReadBytes), num(p.KVWriteBytes), num(p.FLOPs), ""}
		if p.DistinctExperts != nil {
			row[len(row)-1] = num(*p.DistinctExperts)
		}
		basis := ""
		for _, kind := range reports.FloorKinds {
			ms, rate := "", ""
			for _, f := range p.Floors {
				if f.Kind == kind {
					ms, rate, basis = num(f.MsPerToken), num(f.TokPerS), f.Basis
				}
			}
			row = append(row, ms, rate)
		}
		for i := range 4 { // names come from files: no spreadsheet may take them for formulas
			row[i] = reports.CSVText(row[i])
		}
		if err := c.Write(append(row, basis, dominant(p.Ledger))); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}
