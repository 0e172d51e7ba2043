package kineto_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestSecretsAreWarnedAboutAndNotRead: a member that holds the environment or
// one of its secrets, as text or as an object, anywhere in the metadata.
func TestSecretsAreWarnedAboutAndNotRead(t *testing.T) {
	for member, want := range map[string]bool{
		`"env":{"A":"hidden"}`: true, `"environment":"A=hidden"`: true, `"os_environ":["A=hidden"]`: true, `"process_env":{"A":"hidden"}`: true,
		`"metadata":{"run":{"HF_TOKEN":"hidden"}}`: true, `"WANDB_API_KEY":"hidden"`: true, `"metadata":{"db_password":"hidden"}`: true,
		`"env":1`: false, `"max_tokens":512`: false, `"tokenizer":"hidden"`: false, `"hf_token":null`: false, `"key":"hidden"`: false,
	} {
		got := read(t, []byte(`{`+member+`,"traceEvents":[`+kernelEvent("a", 1)+`]}`))
		if slices.Contains(got.codes(), "environment") != want || got.meta.Environment != want {
			t.Errorf("%s: warnings %v, want a warning: %v", member, got.codes(), want)
		}
		if text := fmt.Sprintf("%+v", got); strings.Contains(text, "hidden") {
			t.Errorf("%s: its value is passed on", member)
		}
	}
}
