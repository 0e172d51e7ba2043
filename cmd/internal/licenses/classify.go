package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// license is one licence file of a module.
type license struct {
	Name string // SPDX identifier; "NOTICE" for a notice that goes with one
	Text string
}

// known are the licences we accept, each by phrases its text must hold, white
// space and case aside. Order matters: the first whose phrases all occur wins,
// so a text that holds another's phrases comes first.
var known = []struct {
	name    string
	phrases []string
}{
	{"Apache-2.0", []string{"apache license", "version 2.0, january 2004", "grant of patent license"}},
	{"OFL-1.1", []string{"sil open font license version 1.1", "reserved font name"}},
	{"BSD-3-Clause", []string{
		"redistribution and use in source and binary forms, with or without modification, are permitted",
		"redistributions in binary form must reproduce",
		"may be used to endorse or promote products derived from this software without specific prior written permission"}},
	{"BSD-2-Clause", []string{
		"redistribution and use in source and binary forms, with or without modification, are permitted",
		"redistributions in binary form must reproduce"}},
	{"MIT", []string{
		"permission is hereby granted, free of charge, to any person obtaining a copy of this software",
		"the above copyright notice and this permission notice shall be included in all copies"}},
	{"MIT-0", []string{
		"mit no attribution license",
		"permission is hereby granted, free of charge, to any person obtaining a copy of this software"}},
	{"ISC", []string{"permission to use, copy, modify, and/or distribute this software for any purpose"}},
}

// classify names the licence of text, or says it is none of the known ones.
func classify(text string) (string, bool) {
	flat := strings.ToLower(strings.Join(strings.Fields(text), " "))
	for _, k := range known {
		if !slices.ContainsFunc(k.phrases, func(p string) bool { return !strings.Contains(flat, p) }) {
			return k.name, true
		}
	}
	return "", false
}

// licenses reads every licence and notice file at the top of a module.
func licenses(m module) ([]license, error) {
	if m.Dir == "" {
		return nil, fmt.Errorf("module %s is not in the module cache: run go mod download", m.Path)
	}
	entries, err := os.ReadDir(m.Dir)
	if err != nil {
		return nil, fmt.Errorf("module %s: %w", m.Path, err)
	}
	var found []license
	licensed := false
	for _, e := range entries {
		name := strings.ToUpper(e.Name())
		notice := strings.HasPrefix(name, "NOTICE")
		if !notice && !strings.HasPrefix(name, "LICENSE") && !strings.HasPrefix(name, "LICENCE") && !strings.HasPrefix(name, "COPYING") {
			continue
		}
		if e.IsDir() {
			return nil, fmt.Errorf("module %s: a folder %s: read what it holds and add it to known in classify.go", m.Path, e.Name())
		}
		data, err := os.ReadFile(filepath.Join(m.Dir, e.Name()))
		if err != nil {
			return nil, fmt.Errorf("module %s: %w", m.Path, err)
		}
		l := license{Name: "NOTICE", Text: tidy(string(data))}
		if !notice {
			spdx, ok := classify(l.Text)
			if !ok {
				return nil, fmt.Errorf("module %s: %s is under none of the accepted licences; drop the module, or add the licence to known in classify.go", m.Path, e.Name())
			}
			l.Name, licensed = spdx, true
		}
		found = append(found, l)
	}
	if !licensed {
		return nil, fmt.Errorf("module %s: no LICENSE, LICENCE or COPYING file at its top", m.Path)
	}
	return found, nil
}

// tidy makes line ends and margins uniform, so that equal texts compare equal.
func tidy(text string) string {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " \t")
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n\ufeff") + "\n"
}
