package safetensors

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"decodegap/roofline/model/hostile"
)

const (
	single      = "model.safetensors"
	suffix      = ".safetensors"
	indexSuffix = suffix + ".index.json"
)

// ReadFolder reads the headers of the checkpoint in a folder: what its index
// names, else model.safetensors, else model-00001-of-0000N.safetensors and its
// fellows, else its only .safetensors file. Other files beside those are left
// alone, but a folder in which two of these could be meant is refused.
func ReadFolder(dir string) (*Header, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("checkpoint folder %s: %w", hostile.Shown(dir), hostile.Bare(err))
	}
	var indexes, files []string
	shards := make(map[shardSet]bool)
	for _, e := range entries {
		switch name := e.Name(); {
		case strings.HasSuffix(name, indexSuffix):
			indexes = append(indexes, name)
		case strings.HasSuffix(name, suffix):
			files = append(files, name)
			if set, ok := shardOf(name); ok {
				shards[set] = true
			}
		}
	}
	switch {
	case slices.Contains(indexes, single+".index.json"):
		return readIndexed(dir, single+".index.json", files)
	case len(indexes) == 1:
		return readIndexed(dir, indexes[0], files)
	case len(indexes) > 1:
		return nil, ambiguous(dir, indexes)
	case len(files) == 0:
		return nil, fmt.Errorf("checkpoint folder %s: no *%s and no *%s in it", hostile.Shown(dir), suffix, indexSuffix)
	case len(shards) == 0 && slices.Contains(files, single):
		files = []string{single}
	case len(shards) == 1 && !slices.Contains(files, single):
		for set := range shards {
			files = set.names()
		}
	case len(files) > 1:
		return nil, ambiguous(dir, files)
	}
	h, err := readSet(dir, files)
	if err != nil {
		return nil, fmt.Errorf("checkpoint folder %s: %w", hostile.Shown(dir), err)
	}
	return h, nil
}

// readIndexed reads an index, and makes sure that no other checkpoint is
// beside it that an engine might take instead.
func readIndexed(dir, name string, files []string) (*Header, error) {
	h, err := ReadIndex(filepath.Join(dir, name))
	if err != nil {
		return nil, err
	}
	if slices.Contains(files, single) && !slices.Contains(h.Files, single) {
		return nil, ambiguous(dir, []string{name, single})
	}
	return h, nil
}

func ambiguous(dir string, names []string) error {
	more := ""
	if len(names) > 4 {
		names, more = names[:4], " ..."
	}
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = hostile.Quote(n)
	}
	return fmt.Errorf("checkpoint folder %s: it may be any of %s%s; name the file to read", hostile.Shown(dir), strings.Join(quoted, ", "), more)
}

// shardSet is what the names of one checkpoint's files have in common.
type shardSet struct {
	prefix string
	count  int
}

// shardOf takes NAME-00003-of-00008.safetensors apart.
func shardOf(name string) (set shardSet, ok bool) {
	const tail = "-00000-of-00000"
	stem := strings.TrimSuffix(name, suffix)
	if len(stem) < len(tail) {
		return set, false
	}
	prefix, t := stem[:len(stem)-len(tail)], stem[len(stem)-len(tail):]
	if t[0] != '-' || t[6:10] != "-of-" {
		return set, false
	}
	number, ok := digits(t[1:6])
	count, whole := digits(t[10:])
	if !ok || !whole || number < 1 || number > count {
		return set, false
	}
	return shardSet{prefix, count}, true
}

func digits(s string) (n int, ok bool) {
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, true
}

// names are the names of all files of the set.
func (s shardSet) names() []string {
	out := make([]string, s.count)
	for i := range out {
		out[i] = fmt.Sprintf("%s-%05d-of-%05d%s", s.prefix, i+1, s.count, suffix)
	}
	return out
}
