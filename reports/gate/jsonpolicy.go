package gate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// WriteJSONPolicy writes a policy's text as the JSON form of the same policy,
// which ParsePolicy reads too: JSON is YAML. Comments are lost.
func WriteJSONPolicy(w io.Writer, policy []byte) error {
	root, err := parseTree(string(policy))
	if err != nil {
		return err
	}
	if root.kind != mapping {
		return fmt.Errorf("a policy of keys and values was expected")
	}
	if len(root.entries) == 0 || root.entries[0].key != "schema" {
		schema := entry{key: "schema", value: node{kind: scalar, text: PolicySchema}}
		root.entries = append([]entry{schema}, root.entries...)
	}
	var compact, out bytes.Buffer
	if err := root.writeJSON(&compact); err != nil {
		return err
	}
	if err := json.Indent(&out, compact.Bytes(), "", "  "); err != nil {
		return err
	}
	out.WriteByte('\n')
	_, err = w.Write(out.Bytes())
	return err
}

// writeJSON writes n with its keys in their order; whole numbers become
// numbers, everything else text.
func (n node) writeJSON(b *bytes.Buffer) error {
	switch n.kind {
	case null:
		b.WriteString("null")
	case scalar:
		if !n.quoted && digits(n.text) && (n.text == "0" || n.text[0] != '0') {
			b.WriteString(n.text)
			return nil
		}
		return writeString(b, n.text)
	case list:
		b.WriteByte('[')
		for i, item := range n.items {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := item.writeJSON(b); err != nil {
				return err
			}
		}
		b.WriteByte(']')
	case mapping:
		b.WriteByte('{')
		for i, e := range n.entries {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := writeString(b, e.key); err != nil {
				return err
			}
			b.WriteByte(':')
			if err := e.value.writeJSON(b); err != nil {
				return err
			}
		}
		b.WriteByte('}')
	}
	return nil
}

func writeString(b *bytes.Buffer, s string) error {
	text, err := json.Marshal(s)
	b.Write(text)
	return err
}
