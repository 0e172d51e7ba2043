package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const root = "../../.."

func TestThirdPartyIsCurrent(t *testing.T) {
	want, err := generate(root)
	if err != nil {
		t.Fatal(err)
	}
	have, err := os.ReadFile(filepath.Join(root, "THIRD_PARTY"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, want) {
		t.Error("THIRD_PARTY is out of date: run make licenses and commit it")
	}
}

func TestClassify(t *testing.T) {
	const bsd2 = `Redistribution and use in source and binary forms, with or without
modification, are permitted provided that ... Redistributions in binary form must
reproduce the above copyright notice.`
	for _, c := range []struct{ name, text, want string }{
		{"two clauses", bsd2, "BSD-2-Clause"},
		{"three clauses, other line breaks", bsd2 + ` The names of its
   contributors may be used to endorse or promote products derived
   from this software without specific prior written permission.`, "BSD-3-Clause"},
		{"MIT", `Permission is hereby granted, free of charge, to any person obtaining a copy of this software
and so on. The above copyright notice and this permission notice shall be included in all copies.`, "MIT"},
		{"MIT without attribution", `MIT No Attribution License Permission is hereby granted, free of charge, to any person
obtaining a copy of this software and so on.`, "MIT-0"},
		{"GPL", "GNU GENERAL PUBLIC LICENSE Version 3, 29 June 2007", ""},
		{"Creative Commons", "This work is licensed under Creative Commons Attribution 4.0 International", ""},
		{"a name alone is no licence", "MIT License", ""},
		{"empty", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, _ := classify(c.text); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestClassifyOwnLicense(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "LICENSE"))
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := classify(string(text)); got != "Apache-2.0" {
		t.Errorf("our LICENSE is taken for %q", got)
	}
}

func TestLicensesRefuses(t *testing.T) {
	for _, c := range []struct{ name, file, text, want string }{
		{"unknown licence", "LICENSE", "All rights reserved.", "none of the accepted"},
		{"no licence", "README", "hello", "no LICENSE"},
		{"notice without licence", "NOTICE", "hello", "no LICENSE"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, c.file), []byte(c.text), 0o644); err != nil {
				t.Fatal(err)
			}
			_, err := licenses(module{Path: "example.org/m", Dir: dir})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error with %q", err, c.want)
			}
		})
	}
	if _, err := licenses(module{Path: "example.org/m"}); err == nil {
		t.Error("a module outside the cache was accepted")
	}
}

func TestReasonsParse(t *testing.T) {
	table, err := reasons()
	if err != nil {
		t.Fatal(err)
	}
	if len(table) == 0 {
		t.Error("reasons.tsv is empty")
	}
}
