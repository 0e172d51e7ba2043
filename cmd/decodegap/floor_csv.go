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
	head = append(head, "basis", "bound")
	for _, kind := range reports.FloorKinds {
		head = append(head, kind+"_probed_ms_per_token") // beside those at the sheet
	}
	if err := c.Write(head); err != nil {
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
		if len(p.Floors) > 0 {
			basis = p.Floors[0].Basis
		}
		at := func(kind, basis string) (ms, rate string) {
			if f := p.Floor(reports.FloorName{Kind: kind, Basis: basis}); f != nil {
				return num(f.MsPerToken), num(f.TokPerS)
			}
			return "", ""
		}
		for _, kind := range reports.FloorKinds {
			ms, rate := at(kind, basis)
			row = append(row, ms, rate)
		}
		for i := range 4 { // names come from files: no spreadsheet may take them for formulas
			row[i] = reports.CSVText(row[i])
		}
		row = append(row, basis, dominant(p.Ledger))
		for _, kind := range reports.FloorKinds {
			ms := ""
			if basis != "probed" {
				ms, _ = at(kind, "probed")
			}
			row = append(row, ms)
		}
		if err := c.Write(row); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}
