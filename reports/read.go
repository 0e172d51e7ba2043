package reports

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
)

// MaxRunBytes bounds a run record; the largest sweeps stay far below it.
const MaxRunBytes = 64 << 20

// ReadRun reads and checks the run record at path. Errors name the file, the
// position or field, and what was expected there.
func ReadRun(path string) (*Run, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the run record: %w", err)
	}
	defer f.Close()
	return ReadRunFrom(f, path)
}

// ReadRunFrom reads and checks one run record from r; name stands for it in
// errors. Fields it does not know are skipped, so that a later minor version
// stays readable; another schema, a second document or figures that disagree
// with each other are errors.
func ReadRunFrom(r io.Reader, name string) (*Run, error) {
	name = OneLine(name, 0)
	data, err := io.ReadAll(io.LimitReader(r, MaxRunBytes+1))
	if err != nil {
		return nil, fmt.Errorf("%s: cannot read the run record: %w", name, err)
	}
	if len(data) > MaxRunBytes {
		return nil, fmt.Errorf("%s: larger than %d MB, the limit of a run record", name, MaxRunBytes>>20)
	}
	if err := checkSchema(data); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	run := new(Run)
	if err := decode(data, run); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := run.Check(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return run, nil
}

// checkSchema looks at the document's kind before its fields, so that another
// kind of document is called what it is and not a broken run record.
func checkSchema(data []byte) error {
	var head struct {
		Schema *string `json:"schema"`
	}
	const made = "a run record is made with: decodegap diagnose MODEL … -o run.json"
	if len(bytes.TrimSpace(data)) == 0 {
		return errors.New("empty; " + made)
	}
	if err := decode(data, &head); err != nil {
		return err
	}
	switch {
	case head.Schema == nil:
		return fmt.Errorf("no \"schema\": expected a document that starts with \"schema\": %q; %s", RunSchema, made)
	case *head.Schema == RunSchema:
		return nil
	case strings.HasPrefix(*head.Schema, strings.TrimRight(RunSchema, "0123456789")):
		return fmt.Errorf("schema %q: this decodegap reads %q; use the version that wrote the record, or make it again", OneLine(*head.Schema, 60), RunSchema)
	}
	return fmt.Errorf("schema %q: expected %q; %s", OneLine(*head.Schema, 60), RunSchema, made)
}

// decode reads exactly one JSON value into v and turns byte offsets into
// positions people can find.
func decode(data []byte, v any) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	if err := dec.Decode(v); err != nil {
		return located(data, err)
	}
	rest := data[dec.InputOffset():]
	if trail := bytes.TrimLeft(rest, " \t\r\n"); len(trail) > 0 {
		line, column := position(data, int64(len(data)-len(trail)))
		return fmt.Errorf("line %d, column %d: text after the end of the document; expected one JSON document", line, column)
	}
	return nil
}

func located(data []byte, err error) error {
	var syntax *json.SyntaxError
	var typed *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		line, column := position(data, int64(len(data)))
		return fmt.Errorf("line %d, column %d: the document ends early; the file may be cut off", line, column)
	case errors.As(err, &syntax):
		line, column := position(data, syntax.Offset-1)
		return fmt.Errorf("line %d, column %d: not valid JSON: %s", line, column, OneLine(syntax.Error(), 200))
	case errors.As(err, &typed):
		line, column := position(data, typed.Offset-1)
		where := ""
		if typed.Field != "" {
			where = OneLine(typed.Field, 200) + ": "
		}
		return fmt.Errorf("line %d, column %d: %sexpected %s, found %s", line, column, where, jsonKind(typed.Type), OneLine(typed.Value, 60))
	}
	return fmt.Errorf("not valid JSON: %s", OneLine(err.Error(), 200))
}

// jsonKind is what the JSON of a Go type is called.
func jsonKind(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	}
	return "a number"
}

// position is the line and column, both from 1, of the byte at offset.
func position(data []byte, offset int64) (line, column int) {
	offset = min(max(offset, 0), int64(len(data)))
	before := data[:offset]
	line = 1 + bytes.Count(before, []byte("\n"))
	column = len(before) - bytes.LastIndexByte(before, '\n')
	return line, column
}
