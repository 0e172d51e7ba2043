package probes

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"decodegap/roofline/nearest"
)

// Choose picks probes by name, all of them for no name. A name may be whole
// ("cpu/read"), without its device ("read"), the beginning of one ("gemv"), or
// a pattern ("cpu/gemv_*"). One that fits none is an error that suggests some.
func Choose(all []Probe, names []string) ([]Probe, error) {
	if len(names) == 0 {
		return all, nil
	}
	var known []string
	for _, p := range all {
		known = append(known, p.Name)
	}
	wanted := map[string]bool{}
	for _, name := range names {
		found := matching(known, name)
		if len(found) == 0 {
			if len(all) == 0 {
				return nil, fmt.Errorf("no probe %q: this device has none", shorten(name))
			}
			return nil, fmt.Errorf("no probe %q; %s", shorten(name), suggest(name, known))
		}
		for _, f := range found {
			wanted[f] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(p Probe) bool { return !wanted[p.Name] }), nil
}

// matching are the known names that one argument means; a whole name means
// itself only, even where others begin with it.
func matching(known []string, name string) []string {
	var exact, begins []string
	for _, k := range known {
		_, short, _ := strings.Cut(k, "/")
		switch {
		case k == name || short == name:
			exact = append(exact, k)
		case name == "":
		case strings.HasPrefix(k, name), strings.HasPrefix(short, name), like(name, k), like(name, short):
			begins = append(begins, k)
		}
	}
	if len(exact) > 0 {
		return exact
	}
	return begins
}

func like(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return err == nil && ok
}

// suggest names the nearest, with or without the device.
func suggest(name string, known []string) string {
	if hint := nearest.Hint(name, known); strings.HasPrefix(hint, "did you mean") {
		return hint
	}
	for i, k := range known {
		_, short, _ := strings.Cut(k, "/")
		if near := nearest.Names(name, []string{short}); len(near) > 0 {
			return "did you mean " + known[i] + "?"
		}
	}
	if hint := nearest.Hint(name, known); hint != "" {
		return hint
	}
	return "see `decodegap list probes`"
}

// shorten keeps a long argument from filling the screen.
func shorten(s string) string {
	const most = 80
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}
