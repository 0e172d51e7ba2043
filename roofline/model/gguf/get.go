package gguf

// Keys are the metadata keys, sorted.
func (f *File) Keys() []string { return f.metadata.keys() }

// String is the value of a key that holds a string. One of more than a
// mebibyte is not kept. Bytes that are not UTF-8 are replaced by U+FFFD.
func (f *File) String(key string) (string, bool) { return get[string](f, key) }

// Int is the value of a key that holds a whole number of any width.
func (f *File) Int(key string) (int64, bool) { return get[int64](f, key) }

// Float is the value of a key that holds a floating-point number.
func (f *File) Float(key string) (float64, bool) { return get[float64](f, key) }

// Bool is the value of a key that holds a truth value.
func (f *File) Bool(key string) (bool, bool) { return get[bool](f, key) }

// Strings is the value of a key that holds an array of strings. One of more
// than 4096 elements or 64 KiB is not kept: see Len.
func (f *File) Strings(key string) ([]string, bool) { return get[[]string](f, key) }

// Ints is the value of a key that holds an array of whole numbers, such as one
// per layer. One of more than 4096 is not kept. Where all layers agree, files
// hold one number instead: see Int.
func (f *File) Ints(key string) ([]int64, bool) { return get[[]int64](f, key) }

// Floats is the value of a key that holds an array of floating-point numbers,
// at most 4096.
func (f *File) Floats(key string) ([]float64, bool) { return get[[]float64](f, key) }

// Bools is the value of a key that holds an array of truth values, at most
// 4096.
func (f *File) Bools(key string) ([]bool, bool) { return get[[]bool](f, key) }

// Len is the number of elements of a key that holds an array, kept or not:
// that of tokenizer.ggml.tokens is the size of the vocabulary.
func (f *File) Len(key string) (int64, bool) {
	v, ok := f.metadata.values[key]
	return max(v.length, 0), ok && v.length >= 0
}

func get[T any](f *File, key string) (T, bool) {
	v, ok := f.metadata.values[key].v.(T)
	return v, ok
}
