package safetensors

// dtype is an element type of the format and its size.
type dtype struct {
	name string
	bits int64
}

// dtypes are the element types of the reference implementation (enum Dtype
// and bitsize in safetensors/src/tensor.rs, release of May 2026).
var dtypes = []dtype{
	{"F64", 64}, {"F32", 32}, {"F16", 16}, {"BF16", 16},
	{"F8_E4M3", 8}, {"F8_E5M2", 8}, {"F8_E8M0", 8},
	{"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8},
	{"F6_E2M3", 6}, {"F6_E3M2", 6}, {"F4", 4},
	{"I64", 64}, {"I32", 32}, {"I16", 16}, {"I8", 8},
	{"U64", 64}, {"U32", 32}, {"U16", 16}, {"U8", 8},
	{"BOOL", 8}, {"C64", 64},
}

const (
	maxDType  = 32  // bytes of a type's name
	maxDTypes = 256 // distinct types: a row of the table has one byte for them
)

// dtypeOf is the place of a type in the table's list; a type that is not known
// is added, since the offsets give the size of its tensors.
func (t *table) dtypeOf(name []byte) (index int, ok bool) {
	if t.dtypes == nil {
		t.dtypes = append([]dtype(nil), dtypes...)
	}
	for i := range t.dtypes {
		if t.dtypes[i].name == string(name) {
			return i, true
		}
	}
	if len(t.dtypes) == maxDTypes || !isWord(name) {
		return 0, false
	}
	t.dtypes = append(t.dtypes, dtype{name: string(name)})
	return len(t.dtypes) - 1, true
}

// isWord says whether a type's name is letters, digits and underscores.
func isWord(b []byte) bool {
	for _, c := range b {
		if c != '_' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			return false
		}
	}
	return len(b) > 0
}
