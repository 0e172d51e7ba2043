package safetensors

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"decodegap/roofline/model/hostile"
)

const (
	maxIndex  = 512 << 20 // bytes of an index file
	maxShards = 1 << 16
)

// ReadIndex reads a *.safetensors.index.json and the headers of the files
// beside it that it names. Files that are not there are reported in Missing,
// their tensors in Absent.
func ReadIndex(path string) (*Header, error) {
	x, err := readIndex(path)
	if err != nil {
		return nil, fmt.Errorf("safetensors index %s: %w", hostile.Shown(path), err)
	}
	h, err := readSet(filepath.Dir(path), x.files)
	if err != nil {
		return nil, fmt.Errorf("safetensors index %s: %w", hostile.Shown(path), err)
	}
	h.Metadata = x.metadata.kept
	if err := x.compare(h); err != nil {
		return nil, fmt.Errorf("safetensors index %s: %w", hostile.Shown(path), err)
	}
	return h, nil
}

// index is which file holds which tensor; row.file counts in files.
type index struct {
	table    table
	files    []string
	metadata metadata
}

func readIndex(path string) (*index, error) {
	f, size, err := hostile.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if size > maxIndex {
		return nil, fmt.Errorf("%d bytes, expected at most %d", size, maxIndex)
	}
	x := &index{table: table{limit: maxTableText}}
	s := &scanner{src: f, stop: size}
	seen := false
	err = s.object(maxDType, "an object with weight_map", func() error {
		switch {
		case string(s.text) == "metadata":
			return x.readMetadata(s)
		case string(s.text) != "weight_map":
			return s.skip(0)
		case seen:
			return s.fail("weight_map is there twice")
		}
		seen = true
		return x.readMap(s)
	})
	if err == nil {
		err = s.close()
	}
	if err == nil && !seen {
		err = errors.New("no weight_map in it; expected the file of each tensor by name")
	}
	if err == nil {
		err = x.table.sort(x.files)
	}
	return x, err
}

// readMap reads weight_map: the file of each tensor.
func (x *index) readMap(s *scanner) error {
	number := make(map[string]uint32)
	var name []byte
	return s.object(maxName, "weight_map: an object of file names", func() error {
		name = append(name[:0], s.text...)
		if !s.fits || len(name) == 0 {
			return s.fail("tensor %s: expected a name of 1 to %d bytes", hostile.Quote(name), maxName)
		}
		if err := s.string(maxName, "a file name"); err != nil {
			return fmt.Errorf("tensor %s: %w", hostile.Quote(name), err)
		}
		file, ok := number[string(s.text)]
		if !ok {
			if err := beside(string(s.text), s.fits); err != nil {
				return s.fail("tensor %s: file %s: %v", hostile.Quote(name), hostile.Quote(s.text), err)
			}
			if len(x.files) == maxShards {
				return s.fail("over %d files", maxShards)
			}
			file = uint32(len(x.files))
			x.files = append(x.files, string(s.text))
			number[x.files[file]] = file
		}
		return x.table.add(name, nil, file)
	})
}

// beside checks that a name from an index is that of a file in the same
// folder, on any system.
func beside(name string, whole bool) error {
	switch {
	case !whole || len(name) > 255:
		return errors.New("expected a name of at most 255 bytes")
	case strings.ContainsAny(name, `/\:`) || !filepath.IsLocal(name):
		return errors.New("expected a file beside the index, without a folder")
	case strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return errors.New("expected no control character")
	case !strings.HasSuffix(name, ".safetensors"):
		return errors.New("expected a .safetensors file")
	}
	return nil
}

// readMetadata keeps strings and numbers of the index's metadata; total_size
// is the only common one. Other values are skipped.
func (x *index) readMetadata(s *scanner) error {
	if s.space(); s.peek() != '{' {
		return s.skip(0)
	}
	return s.object(maxName, "metadata: an object", func() (err error) {
		key, whole := string(s.text), s.fits
		s.space()
		switch c := s.peek(); {
		case c == '"':
			err = s.string(maxValue, "a string")
		case c == '-' || c >= '0' && c <= '9':
			err = s.number()
		default:
			return s.skip(0)
		}
		if whole && s.fits && err == nil {
			x.metadata.put(key, s.text)
		}
		return err
	})
}

// readSet reads the headers of those files that are in the folder.
func readSet(dir string, files []string) (*Header, error) {
	var s set
	var missing []string
	for _, name := range files {
		switch err := s.addFile(filepath.Join(dir, name), name); {
		case errors.Is(err, fs.ErrNotExist):
			missing = append(missing, name)
		case err != nil:
			return nil, fmt.Errorf("%s: %w", hostile.Shown(name), err)
		}
	}
	h, err := s.header()
	if err != nil {
		return nil, err
	}
	h.Missing = missing
	return h, nil
}

func (s *set) addFile(path, name string) error {
	f, size, err := hostile.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return s.add(f, size, name)
}

// compare walks the names of index and headers, both sorted, side by side.
func (x *index) compare(h *Header) error {
	missing := make(map[string]bool, len(h.Missing))
	for _, f := range h.Missing {
		missing[f] = true
	}
	rest := h.Tensors
	for _, r := range x.table.rows {
		name, file := x.table.name(r), x.files[r.file]
		for len(rest) > 0 && rest[0].Name < name {
			h.Unlisted = append(h.Unlisted, rest[0].Name)
			rest = rest[1:]
		}
		switch found := len(rest) > 0 && rest[0].Name == name; {
		case found && rest[0].File != file:
			return fmt.Errorf("tensor %s should be in %s, but is in %s", hostile.Quote(name), hostile.Shown(file), hostile.Shown(rest[0].File))
		case found:
			rest = rest[1:]
		case missing[file]:
			h.Absent = append(h.Absent, Absent{Name: name, File: file})
		default:
			return fmt.Errorf("tensor %s should be in %s, but is not", hostile.Quote(name), hostile.Shown(file))
		}
	}
	for _, t := range rest {
		h.Unlisted = append(h.Unlisted, t.Name)
	}
	return nil
}
