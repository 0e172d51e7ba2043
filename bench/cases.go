package main

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// benchCase is one command line to time.
type benchCase struct {
	name    string
	command []string
}

// cases are what we time, the unit of the ratios first. Files that the program
// writes go to dir. They are run from the repository's root.
func cases(program, dir string) []benchCase {
	out := func(name string) string { return filepath.Join(dir, name) }
	machine := []string{"glm-5-nvfp4", "--hardware", "RTX PRO 6000 Blackwell Workstation", "--tp", "8", "--engine", "sglang"}
	diagnose := append([]string{program, "diagnose"}, machine...)
	diagnose = append(diagnose, "--quiet", "-o", out("run.json"),
		"--bench", "testdata/bench/founding/flashinfer_cutlass.jsonl,testdata/bench/founding/flashinfer_cutedsl.jsonl")
	return []benchCase{
		{"start: `decodegap --help`", []string{program, "--help"}},
		{"`decodegap floor`, GLM-5-NVFP4 on 8 GPUs", append(append([]string{program, "floor"}, machine...), "-o", out("floor.txt"))},
		{"`decodegap floor`, 8 batches × 8 contexts", append(append([]string{program, "floor"}, machine...),
			"--batch", "1,2,4,8,16,32,64,128", "--context", "0,1k,2k,4k,8k,16k,32k,64k", "--json", "-o", out("floor.json"))},
		{"`decodegap floor`, a sweep of 10,000 points", append(append([]string{program, "floor"}, machine...),
			"--batch", sequence(1, 1), "--context", sequence(0, 1000), "--format", "csv", "--quiet", "-o", out("sweep.csv"))},
		{"`decodegap diagnose`, the founding case", diagnose},
		{"… with HTML", append(slices.Clone(diagnose), "--report", out("gap.html"))},
		{"… with HTML and PDF", append(slices.Clone(diagnose), "--report", out("gap.html")+","+out("gap.pdf"))},
	}
}

// sequence lists a hundred numbers for a flag.
func sequence(first, step int) string {
	var list []string
	for i := range 100 {
		list = append(list, strconv.Itoa(first+i*step))
	}
	return strings.Join(list, ",")
}
