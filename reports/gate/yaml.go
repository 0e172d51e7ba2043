package gate

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"decodegap/reports"
)

// The bounds of a policy file. A policy is a page of text; these only keep a
// hostile one from costing time, since parsing deep nesting takes quadratic
// time.
const (
	maxPolicyBytes  = 1 << 20
	maxPolicyTokens = 20_000
	maxPolicyDepth  = 16
)

// node is the plain part of YAML that a policy may use: mappings with string
// keys, lists and scalars. Anchors, aliases, tags and merge keys have no place
// in it, so that nothing a file refers to can grow when it is read.
type node struct {
	kind         kind
	line, column int
	text         string  // scalar: its text without quotes
	quoted       bool    // scalar: written as text, even if it looks like a number
	entries      []entry // mapping
	items        []node  // list
}

type entry struct {
	key          string
	line, column int
	value        node
}

type kind int

const (
	null kind = iota
	scalar
	mapping
	list
)

// parseTree reads one YAML document of at most the bounds above.
func parseTree(source string) (root node, err error) {
	// The YAML reader is third-party code on hostile text; a fault in it is a
	// broken policy to the caller, not a crash of the gate.
	defer func() {
		if r := recover(); r != nil {
			err = mistake(0, 0, "the YAML reader cannot cope with this text; simplify it")
		}
	}()
	if len(source) > maxPolicyBytes {
		return node{}, mistake(0, 0, "larger than %d MB, the limit of a policy", maxPolicyBytes>>20)
	}
	tokens := lexer.Tokenize(source)
	if err := bounded(tokens); err != nil {
		return node{}, err
	}
	file, err := parser.Parse(tokens, 0)
	if err != nil {
		return node{}, syntaxError(err)
	}
	var docs []ast.Node
	for _, d := range file.Docs {
		if d.Body != nil {
			docs = append(docs, d.Body)
		}
	}
	switch len(docs) {
	case 0:
		return node{}, mistake(0, 0, "empty: expected a policy; decodegap gate init RUN writes one to start from")
	case 1:
		return convert(docs[0], 0)
	}
	line, column := place(docs[1])
	return node{}, mistake(line, column, "a second YAML document: expected one policy in the file")
}

// bounded refuses token streams whose parse would be slow or deep.
func bounded(tokens token.Tokens) error {
	if len(tokens) > maxPolicyTokens {
		return mistake(0, 0, "more than %d YAML tokens, the limit of a policy", maxPolicyTokens)
	}
	depth, dashes, line := 0, 0, 0
	for _, t := range tokens {
		if t.Position == nil {
			continue
		}
		if t.Position.Line != line {
			line, dashes = t.Position.Line, 0
		}
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			depth++
		case token.SequenceEndType, token.MappingEndType:
			depth--
		case token.SequenceEntryType, token.MappingKeyType:
			dashes++
		}
		if max(depth, dashes) > maxPolicyDepth {
			return mistake(t.Position.Line, t.Position.Column, "nested deeper than %d levels, the limit of a policy", maxPolicyDepth)
		}
	}
	return nil
}

func syntaxError(err error) error {
	var at yaml.Error
	if errors.As(err, &at) {
		message := at.GetMessage()
		if strings.Contains(message, "\t") {
			message = "a tab where YAML wants spaces"
		}
		text := "not valid YAML: " + reports.OneLine(message, 200)
		if t := at.GetToken(); t != nil && t.Position != nil {
			return mistake(t.Position.Line, t.Position.Column, "%s", text)
		}
		return mistake(0, 0, "%s", text)
	}
	return mistake(0, 0, "not valid YAML: %s", reports.OneLine(err.Error(), 200))
}

// convert takes over the plain part of n and refuses the rest.
func convert(n ast.Node, depth int) (node, error) {
	line, column := place(n)
	if depth > maxPolicyDepth {
		return node{}, mistake(line, column, "nested deeper than %d levels, the limit of a policy", maxPolicyDepth)
	}
	out := node{line: line, column: column}
	switch n := n.(type) {
	case *ast.MappingNode:
		out.kind = mapping
		for _, v := range n.Values {
			if err := out.add(v, depth); err != nil {
				return node{}, err
			}
		}
	case *ast.MappingValueNode:
		out.kind = mapping
		if err := out.add(n, depth); err != nil {
			return node{}, err
		}
	case *ast.SequenceNode:
		out.kind = list
		for _, v := range n.Values {
			item, err := convert(v, depth+1)
			if err != nil {
				return node{}, err
			}
			out.items = append(out.items, item)
		}
	case *ast.NullNode:
	case *ast.StringNode:
		out.kind, out.text, out.quoted = scalar, n.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		out.kind, out.text = scalar, n.GetToken().Value
	case *ast.LiteralNode:
		out.kind, out.text, out.quoted = scalar, strings.TrimSpace(n.Value.Value), true
	case *ast.AnchorNode, *ast.AliasNode, *ast.MergeKeyNode:
		return node{}, mistake(line, column, "anchors, aliases and merge keys are not read in a policy; write the value out")
	case *ast.TagNode:
		return node{}, mistake(line, column, "YAML tags are not read in a policy; leave it out")
	case *ast.DirectiveNode:
		return node{}, mistake(line, column, "YAML directives are not read in a policy; leave it out")
	default:
		return node{}, mistake(line, column, "YAML of this kind is not read in a policy")
	}
	return out, nil
}

func (m *node) add(v *ast.MappingValueNode, depth int) error {
	line, column := place(v.Key)
	switch v.Key.(type) {
	case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NullNode:
	case *ast.MergeKeyNode:
		return mistake(line, column, "anchors, aliases and merge keys are not read in a policy; write the value out")
	default:
		return mistake(line, column, "expected a plain key")
	}
	e := entry{key: v.Key.GetToken().Value, line: line, column: column}
	for _, other := range m.entries {
		if other.key == e.key {
			return mistake(line, column, "key %q stands twice, first in line %d", shown(e.key), other.line)
		}
	}
	value, err := convert(v.Value, depth+1)
	if err != nil {
		return err
	}
	e.value = value
	m.entries = append(m.entries, e)
	return nil
}

// place is where n starts; a block mapping starts at its first key.
func place(n ast.Node) (line, column int) {
	switch m := n.(type) {
	case *ast.MappingNode:
		if !m.IsFlowStyle && len(m.Values) > 0 {
			return place(m.Values[0])
		}
	case *ast.MappingValueNode:
		return place(m.Key)
	}
	if t := n.GetToken(); t != nil && t.Position != nil {
		return t.Position.Line, t.Position.Column
	}
	return 0, 0
}

// mistake is an error at a position; ParsePolicy adds the file and the excerpt.
func mistake(line, column int, format string, args ...any) error {
	return &PolicyError{Line: line, Column: column, Text: fmt.Sprintf(format, args...)}
}

// shown is text of the file, short and safe for a message.
func shown(s string) string { return reports.OneLine(s, 60) }
