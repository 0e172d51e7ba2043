package model

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"decodegap/roofline"
	"decodegap/roofline/nearest"
)

// Source is a file a model was read from.
type Source struct {
	Path   string
	SHA256 string
	Role   string // model, side-file
}

// Loaded is a decoder and what it was read from.
type Loaded struct {
	*roofline.Decoder
	Sources []Source
}

// maxConfig bounds a configuration or side file; the largest real ones have
// some hundred kilobytes.
const maxConfig = 64 << 20

// Load reads the model ref names: a checkpoint folder, a config.json, a
// .safetensors file or index, a .gguf file, or a
// name of the catalogue ("catalogue:NAME" where a file has the same name).
// Side is the path of a quantization side file, "" for
// the one beside a checkpoint's config.json.
func Load(ref, side string, opt Options) (*Loaded, error) {
	if name, ok := strings.CutPrefix(ref, "catalogue:"); ok {
		e, ok := Entry(name)
		if !ok {
			return nil, fmt.Errorf("model %q: no such catalogue name", ref)
		}
		return e.load(side, opt)
	}
	info, err := os.Stat(ref)
	switch {
	case err == nil && info.IsDir():
		return loadFolder(ref, side, opt)
	case err == nil:
		return loadFile(ref, side, opt)
	case !errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("model %s: %w", ref, err)
	}
	if e, ok := Entry(ref); ok {
		return e.load(side, opt)
	}
	if strings.ContainsAny(ref, `/\`) || strings.HasSuffix(ref, ".json") {
		return nil, fmt.Errorf("model %s: no such file", ref)
	}
	hint := "`decodegap list models` names the catalogue"
	if near := nearest.Names(ref, Names()); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "? " + hint
	}
	return nil, fmt.Errorf("model %q: no such file and no such catalogue name; %s", ref, hint)
}

// loadFolder reads a checkpoint: its configuration, its side file and, where
// tensor files are there, their headers.
func loadFolder(dir, side string, opt Options) (*Loaded, error) {
	path := filepath.Join(dir, "config.json")
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("model folder %s: no config.json in it", dir)
	}
	if !info.Mode().IsRegular() { // a named pipe would be waited for
		return nil, fmt.Errorf("model folder %s: config.json is not a regular file", dir)
	}
	h, err := readHeaders(dir)
	if err != nil {
		return nil, err
	}
	return loadConfig(path, side, h, opt)
}

// loadFile reads what a file's name says it is.
func loadFile(path, side string, opt Options) (*Loaded, error) {
	base := filepath.Base(path)
	switch {
	case strings.HasSuffix(base, ".gguf"):
		return loadGGUF(path, opt)
	case strings.HasSuffix(base, ".safetensors"), strings.HasSuffix(base, ".safetensors.index.json"):
		return loadTensors(path, side, opt)
	}
	return loadConfig(path, side, nil, opt)
}

func loadConfig(path, side string, h *tensorFile, opt Options) (*Loaded, error) {
	data, source, err := readFile(path, "model")
	if err != nil {
		return nil, err
	}
	if side == "" && filepath.Base(path) == "config.json" {
		beside := filepath.Join(filepath.Dir(path), "hf_quant_config.json")
		if info, err := os.Stat(beside); err == nil {
			if !info.Mode().IsRegular() {
				return nil, fmt.Errorf("side-file %s: not a regular file", beside)
			}
			side = beside
		}
	}
	return decode(modelName(path), path, data, []Source{source}, side, h, opt)
}

// decode reads a configuration and, if named, its side file; h, if not nil,
// holds the checkpoint's tensor headers.
func decode(name, path string, data []byte, sources []Source, side string, h *tensorFile, opt Options) (*Loaded, error) {
	c, err := parseConfig(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var sideData []byte
	if side != "" {
		d, source, err := readFile(side, "side-file")
		if err != nil {
			return nil, err
		}
		sideData = d
		sources = append(sources, source)
		path = side
	}
	q, err := quantOf(c, sideData)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	mixed := q.mixed
	if h != nil {
		q.mixed = "" // the headers tell
	}
	d, err := build(name, c, q, nil, opt)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", sources[0].Path, err)
	}
	if h == nil {
		l := &Loaded{d, sources}
		expectPublished(l, c, sources[0].Path)
		return l, nil
	}
	exact, err := build(name, c, q, newHeaders(h.tensors, h.absent, q, d), opt)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", sources[0].Path, err)
	}
	exact.Notes = append(exact.Notes, h.notes...)
	if mixed != "" {
		exact.Notes = append(exact.Notes, fmt.Sprintf("config_groups in %s: what the headers do not hold is counted in %s", mixed, q.Default.Name))
	} else {
		exact.Notes = append(exact.Notes, differences(d, exact)...)
	}
	l := &Loaded{exact, append(sources, h.sources...)}
	expectPublished(l, c, sources[0].Path)
	return l, nil
}

// modelName is the folder's name for a config.json, else the file's stem.
func modelName(path string) string {
	base := filepath.Base(path)
	if base != "config.json" {
		return strings.TrimSuffix(base, filepath.Ext(base))
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return base
	}
	return filepath.Base(filepath.Dir(abs))
}

func readFile(path, role string) ([]byte, Source, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, Source{}, fmt.Errorf("%s %s: %w", role, path, rootCause(err))
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxConfig+1))
	if err != nil {
		return nil, Source{}, fmt.Errorf("%s %s: %w", role, path, rootCause(err))
	}
	if len(data) > maxConfig {
		return nil, Source{}, fmt.Errorf("%s %s: larger than the limit of %d MB", role, path, maxConfig>>20)
	}
	sum := sha256.Sum256(data)
	return data, Source{path, hex.EncodeToString(sum[:]), role}, nil
}

// rootCause drops the path that os errors repeat.
func rootCause(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}
