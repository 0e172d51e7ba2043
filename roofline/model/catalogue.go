package model

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

//go:embed catalogue.json
var catalogueJSON []byte

// CatalogueEntry is a model whose shapes and published totals are kept here.
type CatalogueEntry struct {
	Name      string          `json:"name"`
	Of        string          `json:"of"`    // the published checkpoint
	Class     string          `json:"class"` // ties variants of one model for public records
	Published int64           `json:"published_params,omitempty"`
	Active    int64           `json:"published_active,omitempty"`
	Source    string          `json:"source"`
	Note      string          `json:"note,omitempty"`
	Config    json.RawMessage `json:"config"`
	SideFile  json.RawMessage `json:"side_file,omitempty"`
}

// Catalogue lists the entries by name. The embedded file is checked by a
// test; a fault in it is a programming error.
func Catalogue() []CatalogueEntry {
	var all []CatalogueEntry
	if err := json.Unmarshal(catalogueJSON, &all); err != nil {
		panic(fmt.Sprintf("embedded catalogue.json: %v", err))
	}
	slices.SortFunc(all, func(a, b CatalogueEntry) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// Names lists the catalogue's names.
func Names() []string {
	var names []string
	for _, e := range Catalogue() {
		names = append(names, e.Name)
	}
	return names
}

// Entry finds a catalogue entry by name, any case.
func Entry(name string) (CatalogueEntry, bool) {
	for _, e := range Catalogue() {
		if strings.EqualFold(e.Name, name) {
			return e, true
		}
	}
	return CatalogueEntry{}, false
}

// ClassOf is the class of public records a model belongs to: the catalogue
// entry's whose name or checkpoint is nearest in spelling, "" if none is.
func ClassOf(name string) string {
	for _, e := range Catalogue() {
		if strings.EqualFold(e.Name, name) || strings.EqualFold(lastPart(e.Of), lastPart(name)) {
			return e.Class
		}
	}
	return ""
}

func lastPart(s string) string { return s[strings.LastIndexByte(s, '/')+1:] }

func (e CatalogueEntry) load(side string, opt Options) (*Loaded, error) {
	sources := []Source{{Path: "catalogue:" + e.Name, Role: "model"}}
	if side == "" && e.SideFile != nil {
		c, err := parseConfig(e.Config)
		if err != nil {
			return nil, fmt.Errorf("catalogue %s: %w", e.Name, err)
		}
		q, err := parseSideFile(e.SideFile)
		if err != nil {
			return nil, fmt.Errorf("catalogue %s: %w", e.Name, err)
		}
		d, err := build(e.Name, c, q, nil, opt)
		if err != nil {
			return nil, fmt.Errorf("catalogue %s: %w", e.Name, err)
		}
		return e.published(&Loaded{d, sources}), nil
	}
	l, err := decode(e.Name, "catalogue:"+e.Name, e.Config, sources, side, nil, opt)
	if err != nil {
		return nil, err
	}
	return e.published(l), nil
}

func (e CatalogueEntry) published(l *Loaded) *Loaded {
	l.Published, l.PublishedBy = e.Published, e.Source
	return l
}
