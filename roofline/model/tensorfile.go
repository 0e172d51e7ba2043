package model

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"decodegap/roofline"
	"decodegap/roofline/model/safetensors"
)

// tensorFile is what a checkpoint's tensor files say, whatever their format.
type tensorFile struct {
	tensors []tensor
	absent  []safetensors.Absent // tensors in files that are not at hand
	sources []Source
	notes   []string
}

// readHeaders reads the tensor headers of a checkpoint's folder, nil if it
// holds no tensor file.
func readHeaders(dir string) (*tensorFile, error) {
	found, err := filepath.Glob(filepath.Join(glob1(dir), "*.safetensors*"))
	if err != nil || len(found) == 0 {
		return nil, nil
	}
	h, err := safetensors.ReadFolder(dir)
	if err != nil {
		return nil, err
	}
	return fromSafetensors(dir, h), nil
}

// glob1 escapes a folder's own name for filepath.Glob.
func glob1(dir string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

// loadTensors reads a tensor file or index with the config.json beside it.
func loadTensors(path, side string, opt Options) (*Loaded, error) {
	dir := filepath.Dir(path)
	read := safetensors.ReadFile
	if strings.HasSuffix(path, ".json") {
		read = safetensors.ReadIndex
	}
	h, err := read(path)
	if err != nil {
		return nil, err
	}
	config := filepath.Join(dir, "config.json")
	if _, err := os.Stat(config); err != nil {
		return nil, fmt.Errorf("%s: no config.json beside it; tensor headers do not say the shape of attention", path)
	}
	return loadConfig(config, side, fromSafetensors(dir, h), opt)
}

func fromSafetensors(dir string, h *safetensors.Header) *tensorFile {
	f := &tensorFile{tensors: h.Tensors, absent: h.Absent}
	for _, name := range h.Files {
		f.sources = append(f.sources, Source{Path: filepath.Join(dir, name), Role: "tensors"})
	}
	if len(h.Missing) > 0 {
		note := fmt.Sprintf("%d of the checkpoint's files are missing (%s)", len(h.Missing), few(h.Missing))
		if n := len(h.Absent); n > 0 {
			note += fmt.Sprintf(": %d tensors are counted from the configuration", n)
		}
		f.notes = append(f.notes, note)
	}
	if len(h.Truncated) > 0 {
		f.notes = append(f.notes, "files that end before their data, as a download cut short does: "+few(h.Truncated))
	}
	return f
}

// differences names the components whose exact bytes are over 0.1 % from what
// the configuration implies.
func differences(implied, exact *roofline.Decoder) []string {
	sums := map[roofline.Component][2]float64{}
	example := map[roofline.Component]string{}
	for side, d := range []*roofline.Decoder{implied, exact} {
		for _, t := range d.Tensors {
			s := sums[t.Component]
			s[side] += float64(t.Bytes) * float64(t.Repeat)
			sums[t.Component] = s
			example[t.Component] = t.Name
		}
	}
	var notes []string
	for _, c := range roofline.Components {
		s, ok := sums[c.Name]
		if ok && math.Abs(s[1]-s[0]) > 0.001*s[0] {
			notes = append(notes, fmt.Sprintf("%s: the headers hold %.4g GB, the %s implies %.4g GB (%+.2f %%), such as %s",
				c.Name, s[1]/1e9, implied.BytesSource, s[0]/1e9, 100*(s[1]/s[0]-1), example[c.Name]))
		}
	}
	return notes
}
