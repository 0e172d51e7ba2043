package safetensors

import (
	"fmt"

	"decodegap/roofline/model/hostile"
)

const (
	maxValue    = 64 << 10 // bytes of one value that is kept
	maxMetadata = 1 << 20  // bytes of all that are kept
)

// metadata is the string map of a file.
type metadata struct {
	kept map[string]string
	size int
}

// read reads __metadata__: strings by name. The reference implementation
// takes null for none.
func (m *metadata) read(s *scanner) error {
	if s.space(); s.peek() == 'n' {
		return s.word("null")
	}
	return s.object(maxName, "__metadata__: an object of strings", func() error {
		key, whole := string(s.text), s.fits
		if err := s.string(maxValue, "a string"); err != nil {
			return fmt.Errorf("__metadata__ %s: %w", hostile.Quote(key), err)
		}
		if _, twice := m.kept[key]; twice && whole {
			return s.fail("__metadata__ %s is there twice", hostile.Quote(key))
		}
		if whole && s.fits {
			m.put(key, s.text)
		}
		return nil
	})
}

// put keeps a value if there is room for it.
func (m *metadata) put(key string, value []byte) {
	// An entry costs more than its text.
	cost := len(key) + len(value) + 64
	if m.size+cost > maxMetadata {
		m.size = maxMetadata // the first that does not fit ends it
		return
	}
	if m.kept == nil {
		m.kept = make(map[string]string)
	}
	m.kept[key] = string(value)
	m.size += cost
}
