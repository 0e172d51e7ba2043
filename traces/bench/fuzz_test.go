package bench

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"
)

// fuzzImporter feeds one importer with all fixtures and their mutations: no
// panic, no number that JSON cannot hold, no result without a figure.
func fuzzImporter(f *testing.F, importer Importer) {
	for _, path := range fixtures(f) {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		importer.Sniff(data[:min(len(data), sniffBytes)])
		results, err := importer.Read(bytes.NewReader(data))
		if (err == nil) != (len(results) > 0) {
			t.Fatalf("%d results with error %v", len(results), err)
		}
		if _, err := json.Marshal(results); err != nil {
			t.Fatal(err)
		}
		for _, r := range results {
			if m := r.TPOT.Mean; m != nil && !(*m > 0) {
				t.Fatalf("mean TPOT %g", *m)
			}
			for k, v := range r.Facts {
				if cleaned(v) != v && len(v) < maxText {
					t.Fatalf("fact %s = %q is not clean", k, v)
				}
			}
		}
	})
}

func FuzzSGLangJSONL(f *testing.F)       { fuzzImporter(f, SGLangJSONL) }
func FuzzVLLMJSON(f *testing.F)          { fuzzImporter(f, VLLMJSON) }
func FuzzInferenceXJSON(f *testing.F)    { fuzzImporter(f, InferenceXJSON) }
func FuzzSGLangText(f *testing.F)        { fuzzImporter(f, SGLangText) }
func FuzzVLLMText(f *testing.F)          { fuzzImporter(f, VLLMText) }
func FuzzInferenceXSummary(f *testing.F) { fuzzImporter(f, InferenceXSummary) }
