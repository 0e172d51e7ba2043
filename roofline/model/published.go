package model

import (
	"path/filepath"
	"slices"
	"strings"
)

// sameCount are endings of checkpoint names that leave the parameters' number
// as it is: tuning, and storage formats.
var sameCount = []string{
	"-instruct", "-it", "-chat", "-base", "-hf", "-thinking", "-2507",
	"-fp8", "-fp8-dynamic", "-nvfp4", "-bf16", "-fp16", "-awq", "-gptq", "-int4", "-int8", "-w4a16", "-w8a8",
}

// expectPublished gives a model that was read from a file the published total
// of the catalogue's model of the same name, so that a misread shows. It is
// the same model if one of its names is: the file's or folder's, the
// repository's in a hub cache, or what _name_or_path states, each compared
// with the entry's name and checkpoint without regard to case and to the
// endings in sameCount.
//
// A model with another depth or hidden size than the entry's is a reduced or
// grown variant that kept the name, and gets no total. Nothing else is
// compared: experts, widths and vocabulary are what a misread, and a pruned
// checkpoint under its parent's name, differ in, and both deserve the warning.
func expectPublished(l *Loaded, c *Config, path string) {
	for _, trim := range []func(string) string{strings.ToLower, trimmed} {
		for _, name := range statedNames(l, c, path) {
			for _, e := range Catalogue() {
				of := []string{trim(e.Name), trim(lastPart(e.Of))}
				if e.Published > 0 && slices.Contains(of, trim(name)) && e.sameShape(l) {
					l.Published = e.Published
					l.PublishedBy = e.Source + "; found by the name " + name
					return
				}
			}
		}
	}
}

// statedNames are the names a model read from path goes by, the nearest first.
func statedNames(l *Loaded, c *Config, path string) []string {
	names := []string{l.Name}
	for _, part := range strings.Split(filepath.ToSlash(path), "/") {
		if repo, ok := strings.CutPrefix(part, "models--"); ok {
			_, name, _ := strings.Cut(repo, "--") // models--OWNER--NAME
			names = append(names, name)
		}
	}
	// A path of the machine the file was written on, or a repository.
	if of := strings.TrimRight(c.String("_name_or_path"), `/\`); of != "" {
		names = append(names, of[strings.LastIndexAny(of, `/\`)+1:])
	}
	return names
}

// trimmed is a name in lower case without the endings in sameCount.
func trimmed(name string) string {
	name = strings.ToLower(name)
	for {
		was := name
		for _, end := range sameCount {
			name = strings.TrimSuffix(name, end)
		}
		if name == was {
			return name
		}
	}
}

// sameShape says whether l has the entry's depth and hidden size.
func (e CatalogueEntry) sameShape(l *Loaded) bool {
	c, err := parseConfig(e.Config)
	if err != nil {
		return false
	}
	if arch, err := find(c); err == nil {
		c.applyDefaults(arch)
	}
	return c.IntOr(0, "num_hidden_layers") == l.Layers && c.IntOr(0, "hidden_size") == l.Hidden
}
