// Command licenses writes THIRD_PARTY from the modules that are really linked:
// what they are, under which licence, why we take them, and the licence texts.
// It refuses a licence it does not know and a module nobody gave a reason for;
// it never guesses a licence from a module's name.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "licenses: "+err.Error())
		os.Exit(1)
	}
}

func run() error {
	check := flag.Bool("check", false, "only say whether THIRD_PARTY is current")
	root := flag.String("root", ".", "the module's root `folder`")
	flag.Parse()
	text, err := generate(*root)
	if err != nil {
		return err
	}
	file := filepath.Join(*root, "THIRD_PARTY")
	if !*check {
		return os.WriteFile(file, text, 0o644)
	}
	have, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if !bytes.Equal(have, text) {
		return fmt.Errorf("%s is out of date: run make licenses and commit it", file)
	}
	return nil
}
