// Package hostile is what readers of weight files share against files from
// anywhere: it opens only what can be read to an end, and quotes names for
// messages. It refuses to know any format.
package hostile

import (
	"errors"
	"io/fs"
	"os"
)

// Open opens a file whose header is to be read. Only a regular file will do:
// opening a named pipe would wait for ever. Links are followed: downloads are
// often links into a cache.
func Open(path string) (*os.File, int64, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, 0, Bare(err)
	}
	if info.IsDir() {
		return nil, 0, errors.New("a folder, expected a file")
	}
	if !info.Mode().IsRegular() {
		return nil, 0, errors.New("not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, Bare(err)
	}
	info, err = f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	if err != nil {
		f.Close()
		return nil, 0, Bare(err)
	}
	return f, info.Size(), nil
}

// Bare takes the path out of an error that is to be told with the path.
func Bare(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
