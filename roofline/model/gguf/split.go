package gguf

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"decodegap/roofline/model/hostile"
)

// split is what a file says of the model it is a part of (split.no,
// split.count and split.tensors.count in llama.cpp's src/llama-arch.cpp).
type split struct {
	part    int   // from 1 on
	parts   int   // 1: not split
	tensors int64 // of all parts
}

const maxParts = 65535 // split.count has 16 bits

func (m *metadata) split() (split, error) {
	count, ok := m.values["split.count"]
	if !ok {
		return split{part: 1, parts: 1}, nil
	}
	parts, ok := count.v.(int64)
	if !ok || parts < 0 || parts > maxParts {
		return split{}, fmt.Errorf("split.count is %s, expected 0 to %d", count, maxParts)
	}
	if parts <= 1 {
		return split{part: 1, parts: 1}, nil
	}
	part, ok := m.values["split.no"].v.(int64)
	if !ok || part < 0 || part >= parts {
		return split{}, fmt.Errorf("split.no is %s, expected 0 to %d", orAbsent(m.values, "split.no"), parts-1)
	}
	tensors, ok := m.values["split.tensors.count"].v.(int64)
	if !ok || tensors < 0 || tensors > maxTensors {
		return split{}, fmt.Errorf("split.tensors.count is %s, expected 0 to %d", orAbsent(m.values, "split.tensors.count"), maxTensors)
	}
	return split{int(part) + 1, int(parts), tensors}, nil
}

func orAbsent(values map[string]value, key string) string {
	if v, ok := values[key]; ok {
		return v.String()
	}
	return "absent"
}

// readParts reads a file and the other parts of its model.
func readParts(path string) (*File, error) {
	first := new(File)
	s, err := first.addFile(path)
	if err != nil {
		return nil, err
	}
	dir, base := filepath.Split(path)
	prefix, part, parts, named := partOf(base)
	switch {
	case s.parts == 1 && named && parts > 1:
		return nil, fmt.Errorf("the name says it is part %d of %d, but split.count is absent or 1; join the pieces or rename the file", part, parts)
	case s.parts == 1:
		return first, first.sortTensors()
	case !named || part != s.part || parts != s.parts:
		return nil, fmt.Errorf("it says it is part %d of %d, expected a name that ends in %s; rename it", s.part, s.parts, partName("", s.part, s.parts))
	}
	f := new(File)
	for i := 1; i <= parts; i++ {
		name := partName(prefix, i, parts)
		t, err := f.addFile(dir + name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			f.Missing = append(f.Missing, name)
			continue
		case err != nil:
			return nil, fmt.Errorf("part %s: %w", hostile.Shown(name), err)
		case t != split{i, parts, s.tensors}:
			return nil, fmt.Errorf("part %s says it is part %d of %d with %d tensors in all, expected %d of %d with %d",
				hostile.Shown(name), t.part, t.parts, t.tensors, i, parts, s.tensors)
		}
	}
	f.MissingTensors = s.tensors - int64(len(f.Tensors))
	if f.MissingTensors < 0 || f.MissingTensors > 0 && len(f.Missing) == 0 {
		return nil, fmt.Errorf("%d tensors in %d of %d parts, but split.tensors.count is %d", len(f.Tensors), len(f.Files), parts, s.tensors)
	}
	return f, f.sortTensors()
}

func (f *File) addFile(path string) (split, error) {
	file, size, err := hostile.Open(path)
	if err != nil {
		return split{}, err
	}
	defer file.Close()
	return f.add(file, size, filepath.Base(path))
}

func partName(prefix string, part, parts int) string {
	return fmt.Sprintf("%s-%05d-of-%05d.gguf", prefix, part, parts)
}

// partOf takes NAME-00003-of-00008.gguf apart.
func partOf(name string) (prefix string, part, parts int, ok bool) {
	stem, ok := strings.CutSuffix(name, ".gguf")
	at := len(stem) - len("-00000-of-00000")
	if !ok || at < 0 {
		return "", 0, 0, false
	}
	for _, c := range []byte(stem[at+1:at+6] + stem[at+10:]) {
		if c < '0' || c > '9' {
			return "", 0, 0, false
		}
	}
	if _, err := fmt.Sscanf(stem[at:], "-%05d-of-%05d", &part, &parts); err != nil || part < 1 || part > parts {
		return "", 0, 0, false
	}
	return stem[:at], part, parts, true
}
