package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// outputFile is a file to be written, whole.
type outputFile struct {
	path string
	data []byte
}

// checkOutputs refuses outputs that would overwrite each other or an input.
func checkOutputs(outputs, inputs []string) error {
	for i, out := range outputs {
		if out == "" {
			return fmt.Errorf("an output file has an empty name")
		}
		for _, other := range outputs[i+1:] {
			if sameFile(out, other) {
				return fmt.Errorf("two outputs go to %s: give each its own name", out)
			}
		}
		for _, in := range inputs {
			if sameFile(out, in) {
				return fmt.Errorf("%s is an input: give the output another name", out)
			}
		}
	}
	return nil
}

// sameFile says whether two paths are, or would be, one regular file.
func sameFile(a, b string) bool {
	if infoA, err := os.Stat(a); err == nil {
		if infoB, err := os.Stat(b); err == nil {
			return infoA.Mode().IsRegular() && os.SameFile(infoA, infoB)
		}
	}
	absA, errA := filepath.Abs(a)
	absB, errB := filepath.Abs(b)
	return errA == nil && errB == nil && absA == absB
}

// writeFiles writes all files or none: each under a temporary name beside its
// place, renamed once all are complete, so that no reader sees half a report.
// What is no regular file (a device, a pipe) is written as it is, last.
func writeFiles(files []outputFile) (err error) {
	var staged []stagedFile
	defer func() {
		for _, s := range staged {
			os.Remove(s.temporary)
		}
	}()
	var direct []outputFile
	for _, f := range files {
		target, special, err := place(f.path)
		if err != nil {
			return err
		}
		if special {
			direct = append(direct, f)
			continue
		}
		s, err := stage(target, f)
		if err != nil {
			return err
		}
		staged = append(staged, s)
	}
	for _, s := range staged {
		if err := os.Rename(s.temporary, s.target); err != nil {
			return fmt.Errorf("cannot write %s: %w", s.target, err)
		}
	}
	for _, f := range direct {
		if err := writeSpecial(f); err != nil {
			return err
		}
	}
	return nil
}

// place follows symbolic links to where a file really goes, and says whether
// that is something else than a regular file.
func place(path string) (target string, special bool, err error) {
	target = path
	if real, err := filepath.EvalSymlinks(path); err == nil {
		target = real
	} else if to, err := os.Readlink(path); err == nil { // a link to what is not there yet
		if target = to; !filepath.IsAbs(to) {
			target = filepath.Join(filepath.Dir(path), to)
		}
	}
	info, err := os.Stat(target)
	switch {
	case err == nil && info.IsDir():
		return "", false, fmt.Errorf("cannot write %s: it is a folder", path)
	case err == nil && !info.Mode().IsRegular():
		return path, true, nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return "", false, fmt.Errorf("cannot write %s: %w", path, err)
	}
	dir := filepath.Dir(target)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", false, fmt.Errorf("cannot write %s: there is no folder %s", path, dir)
	}
	return target, false, nil
}

// checkPlace refuses a file that could not be written, before the work whose
// result is to go there.
func checkPlace(path string) error {
	target, special, err := place(path)
	if err != nil || special {
		return err
	}
	s, err := stage(target, outputFile{path: path})
	if err != nil {
		return err
	}
	return os.Remove(s.temporary)
}

// writeFile writes one file whole or not at all.
func writeFile(path string, data []byte) error {
	return writeFiles([]outputFile{{path, data}})
}

// stagedFile is a complete file under its temporary name.
type stagedFile struct{ temporary, target string }

func stage(target string, f outputFile) (stagedFile, error) {
	mode := fs.FileMode(0o666) // the umask narrows it
	if info, err := os.Stat(target); err == nil {
		mode = info.Mode().Perm()
	}
	name := filepath.Join(filepath.Dir(target), fmt.Sprintf(".%s.%08x", filepath.Base(target), rand.Uint32()))
	tmp, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return stagedFile{}, fmt.Errorf("cannot write %s: %w", f.path, err)
	}
	_, err = tmp.Write(f.data)
	if e := tmp.Close(); err == nil {
		err = e
	}
	if err != nil {
		os.Remove(name)
		return stagedFile{}, fmt.Errorf("cannot write %s: %w", f.path, err)
	}
	return stagedFile{name, target}, nil
}

func writeSpecial(f outputFile) error {
	out, err := os.OpenFile(f.path, os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", f.path, err)
	}
	_, err = out.Write(f.data)
	if e := out.Close(); err == nil {
		err = e
	}
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", f.path, err)
	}
	return nil
}
