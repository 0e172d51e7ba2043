package schematest

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"decodegap/reports/schema"
)

// Validate fails t if doc is not valid JSON of that document kind.
func Validate(t testing.TB, kind string, doc []byte) {
	t.Helper()
	if err := Check(kind, doc); err != nil {
		t.Errorf("not a valid %s document: %v\n%.2000s", kind, err, doc)
	}
}

// Check says why doc does not satisfy the schema of that kind, nil if it does.
func Check(kind string, doc []byte) error {
	text, err := schema.Get(kind)
	if err != nil {
		return err
	}
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("schema of %s: %w", kind, err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	const at = "urn:decodegap:test"
	if err := compiler.AddResource(at, parsed); err != nil {
		return fmt.Errorf("schema of %s: %w", kind, err)
	}
	compiled, err := compiler.Compile(at)
	if err != nil {
		return fmt.Errorf("schema of %s: %w", kind, err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
	if err != nil {
		return err
	}
	return compiled.Validate(value)
}
