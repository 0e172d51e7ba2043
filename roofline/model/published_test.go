package model

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPublishedTotalOfFiles says which files get the total of the catalogue's
// model of their name.
func TestPublishedTotalOfFiles(t *testing.T) {
	const scout, r1 = 109e9, 671e9
	for _, c := range []struct {
		name, path, entry string
		changes           map[string]any
		want              int64
	}{
		{"the entry's name", "llama-4-scout.json", "llama-4-scout", nil, scout},
		{"any case", "LLAMA-4-Scout.json", "llama-4-scout", nil, scout},
		{"the checkpoint's folder", "Llama-4-Scout-17B-16E/config.json", "llama-4-scout", nil, scout},
		{"a tuned one", "Llama-4-Scout-17B-16E-Instruct/config.json", "llama-4-scout", nil, scout},
		{"tuned and quantized", "Llama-4-Scout-17B-16E-Instruct-FP8-dynamic/config.json", "llama-4-scout", nil, scout},
		{"a hub cache", "models--meta-llama--Llama-4-Scout-17B-16E/snapshots/0a1b/config.json", "llama-4-scout", nil, scout},
		{"what it was made from", "mine/config.json", "llama-4-scout", map[string]any{"_name_or_path": "meta-llama/Llama-4-Scout-17B-16E"}, scout},
		{"a path it was made from", "mine/config.json", "llama-4-scout", map[string]any{"_name_or_path": `C:\models\llama-4-scout\`}, scout},
		{"the nearer name first", "deepseek-r1.json", "deepseek-r1", map[string]any{"_name_or_path": "zai-org/GLM-5"}, r1},
		{"other experts are no other model", "llama-4-scout.json", "llama-4-scout", map[string]any{"text_config.num_local_experts": 8}, scout},
		{"another name", "mine.json", "llama-4-scout", nil, 0},
		{"part of a name", "llama-4-scout-draft.json", "llama-4-scout", nil, 0},
		{"a name that is no text", "mine.json", "llama-4-scout", map[string]any{"_name_or_path": 3}, 0},
		{"fewer layers", "llama-4-scout.json", "llama-4-scout", map[string]any{"text_config.num_hidden_layers": 4}, 0},
		{"another hidden size", "llama-4-scout.json", "llama-4-scout", map[string]any{"text_config.hidden_size": 2560}, 0},
		{"no total was published", "glm-4.7.json", "glm-4.7", nil, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), filepath.FromSlash(c.path))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, edited(t, c.entry, c.changes), 0o644); err != nil {
				t.Fatal(err)
			}
			l, err := Load(path, "", Options{})
			if err != nil {
				t.Fatal(err)
			}
			if l.Published != c.want {
				t.Errorf("published total %d, want %d", l.Published, c.want)
			}
			if found := strings.Contains(l.PublishedBy, "found by the name"); found != (c.want > 0) {
				t.Errorf("source %q does not fit the total %d", l.PublishedBy, l.Published)
			}
		})
	}
}

// edited is an entry's configuration with fields changed; those of the nested
// text model are named "text_config.FIELD".
func edited(t *testing.T, entry string, changes map[string]any) []byte {
	t.Helper()
	e, ok := Entry(entry)
	if !ok {
		t.Fatalf("no catalogue entry %s", entry)
	}
	var c map[string]any
	if err := json.Unmarshal(e.Config, &c); err != nil {
		t.Fatal(err)
	}
	for k, v := range changes {
		at := c
		if rest, ok := strings.CutPrefix(k, "text_config."); ok {
			if nested, ok := c["text_config"].(map[string]any); ok {
				at = nested
			}
			k = rest
		}
		at[k] = v
	}
	data, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
