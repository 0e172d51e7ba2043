package main

import (
	"os"
	"strconv"
	"strings"

	"decodegap/cmd/internal/assemble"
	"decodegap/reports"
)

// thisRank is this process's place in a launcher's job, nil for none.
func thisRank() *reports.Rank {
	host, _ := os.Hostname()
	return assemble.Rank(os.Getenv, host)
}

// ofRank is the file that a rank writes: %r stands for its number. It is false
// where every rank would write the same file.
func ofRank(file string, rank *reports.Rank) (string, bool) {
	index := 0
	if rank != nil {
		index = rank.Index
	}
	own := strings.ReplaceAll(file, "%r", strconv.Itoa(index))
	return own, rank == nil || own != file || file == "-" || strings.HasPrefix(file, "/dev/")
}
