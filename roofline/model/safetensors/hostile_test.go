package safetensors

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"strings"
	"testing"
)

func TestHostileHeaders(t *testing.T) {
	one := func(fields string) string { return `{"t":{` + fields + `}}` }
	for _, c := range []struct {
		name   string
		header string
		data   int64
		want   string
	}{
		{"not JSON", "\x80\x04pickle", 0, "expected { at the start"},
		{"starts with a space", " {}", 0, "expected { at the start"},
		{"an array", "[]", 0, "expected { at the start"},
		{"no header", "", 0, "expected { at the start of the header; is it a safetensors file?, but the header ends"},
		{"text after it", "{}x", 0, "nothing but white space"},
		{"zeros after it", "{}\x00\x00", 0, "nothing but white space"},
		{"cut", `{"t":{"dtype":"U8"`, 0, "the header ends"},
		{"cut in a name", `{"t`, 0, "the header ends within a string"},
		{"comma at the end", `{"t":{"dtype":"U8","shape":[],"data_offsets":[0,1]},}`, 1, "a key in double quotes"},
		{"no colon", `{"t" 1}`, 0, "a colon"},
		{"not an object", `{"t":[]}`, 0, "an object with dtype"},
		{"no dtype", one(`"shape":[1],"data_offsets":[0,1]`), 1, "dtype is missing"},
		{"no shape", one(`"dtype":"U8","data_offsets":[0,1]`), 1, "shape is missing"},
		{"no offsets", one(`"dtype":"U8","shape":[1]`), 1, "data_offsets is missing"},
		{"dtype twice", one(`"dtype":"U8","dtype":"I8","shape":[1],"data_offsets":[0,1]`), 1, "dtype is there twice"},
		{"shape twice", one(`"dtype":"U8","shape":[1],"shape":[1],"data_offsets":[0,1]`), 1, "shape is there twice"},
		{"one offset", one(`"dtype":"U8","shape":[1],"data_offsets":[0]`), 1, "1 numbers, expected begin and end"},
		{"three offsets", one(`"dtype":"U8","shape":[1],"data_offsets":[0,0,1]`), 1, "3 numbers, expected begin and end"},
		{"end before begin", one(`"dtype":"U8","shape":[1],"data_offsets":[1,0]`), 1, "expected the end not before"},
		{"negative dimension", one(`"dtype":"U8","shape":[-1],"data_offsets":[0,1]`), 1, "shape: at byte 36: expected a whole number of 0 or more"},
		{"negative offset", one(`"dtype":"U8","shape":[1],"data_offsets":[-1,0]`), 1, "data_offsets: at byte"},
		{"fraction", one(`"dtype":"U8","shape":[1.0],"data_offsets":[0,1]`), 1, "without fraction or exponent"},
		{"exponent", one(`"dtype":"U8","shape":[1],"data_offsets":[0,1e0]`), 1, "without fraction or exponent"},
		{"leading zero", one(`"dtype":"U8","shape":[01],"data_offsets":[0,1]`), 1, "may not start with 0"},
		{"text as number", one(`"dtype":"U8","shape":["1"],"data_offsets":[0,1]`), 1, "expected a whole number"},
		{"2^63", one(`"dtype":"U8","shape":[9223372036854775808],"data_offsets":[0,1]`), 1, "the number is over"},
		{"product overflows", one(`"dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,0]`), 0, "has over 9223372036854775807 elements"},
		{"bits overflow", one(`"dtype":"F64","shape":[1152921504606846976],"data_offsets":[0,0]`), 0, "bits"},
		{"half a byte", one(`"dtype":"F4","shape":[3],"data_offsets":[0,2]`), 2, "expected whole bytes"},
		{"too few bytes", one(`"dtype":"F32","shape":[2],"data_offsets":[0,4]`), 4, "F32 of shape [2] is 8 bytes, but data_offsets [0, 4] has room for 4"},
		{"type as number", one(`"dtype":1,"shape":[1],"data_offsets":[0,1]`), 1, "name of an element type"},
		{"type with spaces", one(`"dtype":"U 8","shape":[1],"data_offsets":[0,1]`), 1, "name of an element type"},
		{"long type", one(`"dtype":"` + strings.Repeat("U", 33) + `","shape":[1],"data_offsets":[0,1]`), 1, "name of an element type"},
		{"65 dimensions", one(`"dtype":"U8","shape":[1` + strings.Repeat(",1", 64) + `],"data_offsets":[0,1]`), 1, "over 64 dimensions"},
		{"overlap", `{"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"b":{"dtype":"U8","shape":[4],"data_offsets":[2,6]}}`, 6, `tensor "b" begins at byte 2 of the data, but tensor "a" ends at 4: they overlap`},
		{"same place", `{"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"b":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}}`, 4, "they overlap"},
		{"empty within another", `{"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"b":{"dtype":"U8","shape":[0],"data_offsets":[2,2]}}`, 4, "they overlap"},
		{"hole", `{"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"b":{"dtype":"U8","shape":[4],"data_offsets":[5,9]}}`, 9, `tensor "b" begins at byte 5 of the data, expected 4`},
		{"hole at the start", one(`"dtype":"U8","shape":[1],"data_offsets":[1,2]`), 2, "begins at byte 1 of the data, expected 0"},
		{"bytes of no tensor", one(`"dtype":"U8","shape":[1],"data_offsets":[0,1]`), 2, "2 bytes follow"},
		{"far beyond the file, with a hole", one(`"dtype":"U8","shape":[1],"data_offsets":[9223372036854775806,9223372036854775807]`), 1, "belong to no tensor"},
		{"name twice", `{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}`, 2, `tensor "a" is there twice`},
		{"name twice, escaped", `{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"\u0061":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}`, 2, `tensor "a" is there twice`},
		{"empty name", `{"":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`, 1, "empty name"},
		{"name not UTF-8", "{\"a\xff\":{}}", 0, "not valid UTF-8"},
		{"name cut in a character", "{\"a\xe2\x82", 0, "not valid UTF-8"},
		{"value not UTF-8", "{\"__metadata__\":{\"a\":\"\xc3\x28\"}}", 0, "not valid UTF-8"},
		{"control character", "{\"a\nb\":{}}", 0, "control character 0x0a"},
		{"half a pair", `{"\ud83d":{}}`, 0, "half a surrogate pair"},
		{"the other half", `{"\ude00":{}}`, 0, "half a surrogate pair"},
		{"pair of one kind", `{"\ud83d\ud83d":{}}`, 0, "half a surrogate pair"},
		{"bad escape", `{"\x41":{}}`, 0, "unknown escape"},
		{"bad digits", `{"\u00g1":{}}`, 0, "four hexadecimal digits"},
		{"long name", `{"` + strings.Repeat("n", maxName+1) + `":{}}`, 0, "at most 1024 bytes"},
		{"name of 1 MB", `{"` + strings.Repeat("n", 1<<20) + `":{}}`, 0, "at most 1024 bytes"},
		{"deep nesting", one(`"x":` + strings.Repeat("[", 1_000_000)), 0, "nested over 64 deep"},
		{"deep objects", one(`"x":` + strings.Repeat(`{"a":`, 200_000)), 0, "nested over 64 deep"},
		{"metadata twice", `{"__metadata__":{},"__metadata__":{}}`, 0, "__metadata__ is there twice"},
		{"metadata key twice", `{"__metadata__":{"a":"1","a":"2"}}`, 0, `__metadata__ "a" is there twice`},
		{"metadata of numbers", `{"__metadata__":{"a":1}}`, 0, "expected a string"},
		{"metadata nested", `{"__metadata__":{"a":{}}}`, 0, "expected a string"},
		{"bare word", one(`"x":NaN`), 0, "a JSON value"},
		{"bad number", one(`"x":-`), 0, "a digit"},
		{"bad number 2", one(`"x":1.`), 0, "a digit"},
		{"bad number 3", one(`"x":1e`), 0, "a digit"},
		{"bad word", one(`"x":trux`), 0, "expected true"},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := fileOf(c.header, c.data)
			err := allocates(t, 1<<20, func() error {
				_, err := Read(bytes.NewReader(file), int64(len(file)), "x.safetensors")
				return err
			})
			checkError(t, err, "safetensors file x.safetensors: ", c.want)
		})
	}
}

func TestHostileLengths(t *testing.T) {
	for _, c := range []struct {
		length uint64
		size   int64
		want   string
	}{
		{1 << 63, 100, "header length 9223372036854775808, expected at most 100000000"},
		{1<<64 - 1, 100, "expected at most 100000000"},
		{1<<64 - 8, 100, "expected at most 100000000"},
		{maxHeader + 1, 1 << 62, "expected at most 100000000"},
		{maxHeader, 1000, "only 992 bytes follow it"},
		{93, 100, "only 92 bytes follow it"},
	} {
		file := binary.LittleEndian.AppendUint64(nil, c.length)
		err := allocates(t, 1<<20, func() error {
			_, err := Read(bytes.NewReader(append(file, make([]byte, 92)...)), c.size, "x")
			return err
		})
		checkError(t, err, c.want)
	}
	// The file shrank after its size was asked for.
	file := binary.LittleEndian.AppendUint64(nil, maxHeader)
	_, err := Read(bytes.NewReader(append(file, `{"a"`...)), 1<<40, "x")
	checkError(t, err, "unexpected EOF")
	_, err = Read(bytes.NewReader(nil), 1<<40, "x")
	checkError(t, err, "unexpected EOF")
}

// allocates runs f and checks how many bytes it allocated in all, freed or
// not.
func allocates(t *testing.T, limit uint64, f func() error) error {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := f()
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > limit {
		t.Errorf("allocated %d bytes, expected at most %d", got, limit)
	}
	return err
}
