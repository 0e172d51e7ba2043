package gate

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"decodegap/reports"
	"decodegap/roofline/unit"
)

// ReadPolicy reads the policy file at path; its errors are *PolicyError or say
// why the file cannot be read.
func ReadPolicy(path string) (*Policy, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read the policy: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxPolicyBytes+1))
	if err != nil {
		return nil, fmt.Errorf("cannot read the policy: %w", err)
	}
	return ParsePolicy(path, data)
}

// ParsePolicy reads a policy; name stands for its file in errors. Every key it
// does not know is an error: a mistyped limit must not silently go unjudged.
func ParsePolicy(name string, data []byte) (*Policy, error) {
	source := string(data)
	root, err := parseTree(source)
	if err == nil {
		var p *Policy
		if p, err = decodePolicy(root); err == nil {
			return p, nil
		}
	}
	var at *PolicyError
	if errors.As(err, &at) {
		at.File = reports.OneLine(name, 0)
		at.Excerpt = excerpt(source, at.Line, at.Column)
	}
	return nil, err
}

func decodePolicy(root node) (*Policy, error) {
	p := &Policy{Fingerprint: Fingerprint{Mode: FingerprintModes[0]}}
	named := false
	err := root.fields("the policy", []field{
		{"schema", func(n node) error { return n.choice([]string{PolicySchema}, new(string)) }},
		{"floor", func(n node) error { named = true; return decodeFloor(n, &p.Floor) }},
		{"min_efficiency", func(n node) error { return n.share(0, 1, &p.MinEfficiency) }},
		{"points", func(n node) error { return decodePoints(n, &p.Points) }},
		{"regression", func(n node) error { return decodeRegression(n, &p.Regression) }},
		{"max_unattributed", func(n node) error { return n.share(-1, 1, &p.MaxUnattributed) }},
		{"require", func(n node) error { return n.names(requirementNames(), &p.Require) }},
		{"fingerprint", func(n node) error { return decodeFingerprint(n, &p.Fingerprint) }},
	})
	if err == nil && !named {
		err = mistake(root.line, root.column, "no floor: an efficiency means nothing without one; add floor: {kind: layout, basis: sheet}")
	}
	return p, err
}

func decodeFloor(n node, out *reports.FloorName) error {
	err := n.fields("floor", []field{
		{"kind", func(n node) error { return n.choice(reports.FloorKinds, &out.Kind) }},
		{"basis", func(n node) error { return n.choice(reports.Bases, &out.Basis) }},
	})
	if err == nil && (out.Kind == "" || out.Basis == "") {
		err = mistake(n.line, n.column, "floor: expected both kind (%s) and basis (%s)",
			strings.Join(reports.FloorKinds, ", "), strings.Join(reports.Bases, ", "))
	}
	return err
}

// maxPoints bounds the points a policy may name.
const maxPoints = 1000

func decodePoints(n node, out *[]Point) error {
	if n.kind != list || len(n.items) == 0 {
		return mistake(n.line, n.column, "points: expected a list such as [{batch: 1, min_efficiency: 50%%}]; leave it out to gate every point")
	}
	if len(n.items) > maxPoints {
		return mistake(n.line, n.column, "points: %d entries, above the limit of %d", len(n.items), maxPoints)
	}
	first := make(map[string]int)
	for _, item := range n.items {
		var p Point
		err := item.fields("a point", []field{
			{"batch", func(n node) error { return n.whole(1, &p.Batch) }},
			{"context", func(n node) error { p.Context = new(int); return n.tokens(p.Context) }},
			{"label", func(n node) error { p.Label = new(string); return n.plain(p.Label) }},
			{"min_efficiency", func(n node) error { return n.share(0, 1, &p.MinEfficiency) }},
		})
		if err != nil {
			return err
		}
		if p.Batch == 0 {
			return mistake(item.line, item.column, "a point needs its batch, such as batch: 1")
		}
		if line, ok := first[p.String()]; ok {
			return mistake(item.line, item.column, "the same point as in line %d", line)
		}
		first[p.String()] = item.line
		*out = append(*out, p)
	}
	return nil
}

func decodeRegression(n node, out **Regression) error {
	r := new(Regression)
	err := n.fields("regression", []field{
		{"relative", func(n node) error { return n.share(-1, 10, &r.Relative) }},
		{"absolute", func(n node) error {
			var text string
			if err := n.plain(&text); err != nil {
				return err
			}
			v, err := unit.ParseSeconds(text)
			if err != nil {
				return mistake(n.line, n.column, "%s", reports.OneLine(err.Error(), 200))
			}
			r.Absolute = &v
			return nil
		}},
	})
	if err == nil && r.Relative == nil && r.Absolute == nil {
		err = mistake(n.line, n.column, "regression: expected limits such as {relative: 5%%, absolute: 0.5ms}")
	}
	*out = r
	return err
}

func decodeFingerprint(n node, out *Fingerprint) error {
	if n.kind != mapping {
		return n.choice(FingerprintModes, &out.Mode)
	}
	return n.fields("fingerprint", []field{
		{"mode", func(n node) error { return n.choice(FingerprintModes, &out.Mode) }},
		{"ignore", func(n node) error { return n.names(nil, &out.Ignore) }},
	})
}
