// Package lenient reads the JSON that Python writes: bare Infinity, -Infinity
// and NaN, which encoding/json refuses, become null. Everything else stays
// strict.
package lenient

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
)

// Clean returns data with bare non-numbers outside strings replaced by null.
// Infinity keeps its length, so that line and column in later errors are
// true; NaN grows by one byte. It copies only when it must change something.
func Clean(data []byte) []byte {
	var out []byte
	kept := 0 // data[:kept] is already in out
	inString := false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case inString:
			if c == '\\' {
				i++
			} else if c == '"' {
				inString = false
			}
		case c == '"':
			inString = true
		case c == 'I' || c == 'N' || c == '-':
			n := bareLength(data[i:])
			if n == 0 {
				continue
			}
			out = append(append(out, data[kept:i]...), "null"...)
			for range n - len("null") {
				out = append(out, ' ')
			}
			i += n - 1
			kept = i + 1
		}
	}
	if kept == 0 {
		return data
	}
	return append(out, data[kept:]...)
}

// bareLength is the length of a bare non-number at the start of b, else 0.
func bareLength(b []byte) int {
	for _, word := range []string{"-Infinity", "Infinity", "NaN"} {
		if bytes.HasPrefix(b, []byte(word)) && !isWord(b[len(word):]) {
			return len(word)
		}
	}
	return 0
}

func isWord(rest []byte) bool {
	return len(rest) > 0 && (rest[0] == '_' || rest[0] >= '0' && rest[0] <= '9' ||
		rest[0]|0x20 >= 'a' && rest[0]|0x20 <= 'z')
}

// Unmarshal decodes lenient JSON into v. Errors name line and column.
func Unmarshal(data []byte, v any) error {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")) // a byte-order mark
	dec := json.NewDecoder(bytes.NewReader(Clean(data)))
	if err := dec.Decode(v); err != nil {
		return position(data, err, dec.InputOffset())
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("line %s: more text after the JSON value", lineColumn(data, dec.InputOffset()))
	}
	return nil
}

// position adds line and column to a decoding error.
func position(data []byte, err error, offset int64) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("line %s: not JSON: %v", lineColumn(data, syntax.Offset-1), err)
	case errors.As(err, &kind):
		where := ""
		if kind.Field != "" {
			where = fmt.Sprintf("field %q: ", kind.Field)
		}
		return fmt.Errorf("line %s: %sexpected %s, got %s", lineColumn(data, kind.Offset), where, kindName(kind.Type), kind.Value)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return fmt.Errorf("line %s: not JSON: the file ends too early", lineColumn(data, int64(len(data))))
	}
	return fmt.Errorf("line %s: %w", lineColumn(data, offset), err)
}

// kindName is a Go type in the words of JSON.
func kindName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Pointer:
		return kindName(t.Elem())
	}
	return "a number"
}

func lineColumn(data []byte, offset int64) string {
	at := data[:min(max(offset, 0), int64(len(data)))]
	line := 1 + bytes.Count(at, []byte("\n"))
	column := len(at) - bytes.LastIndexByte(at, '\n')
	return fmt.Sprintf("%d, column %d", line, column)
}
