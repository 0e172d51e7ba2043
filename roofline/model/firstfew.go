package model

import (
	"fmt"
	"sort"
	"strings"
)

// firstFew counts names and keeps the first of them, for a message that stays
// short however many there are.
type firstFew struct {
	count int
	names []string
}

// mostNamed is how many of many names a message has.
const mostNamed = 4

func (f *firstFew) add(name string) {
	f.count++
	if len(f.names) < mostNamed {
		f.names = append(f.names, name)
	}
}

// String names the first and says how many more there are.
func (f firstFew) String() string {
	s := strings.Join(f.names, ", ")
	if more := f.count - len(f.names); more > 0 {
		s += fmt.Sprintf(" and %d more", more)
	}
	return s
}

// few names the first of many.
func few(list []string) string {
	return firstFew{len(list), list[:min(len(list), mostNamed)]}.String()
}

func sortedKeys[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
