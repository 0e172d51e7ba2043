package audit

import (
	"bytes"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// secretWords mark a flag whose value is never kept, as a whole part of its
// name: --hf-token, not --max-num-batched-tokens.
var secretWords = []string{"token", "key", "keys", "secret", "secrets", "password", "passwd", "passphrase", "auth",
	"cred", "creds", "credential", "credentials", "ssl", "cookie", "bearer"}

func secretFlag(name string) bool {
	for _, part := range strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r == '-' || r == '_' || r == '.' }) {
		if slices.Contains(secretWords, part) {
			return true
		}
	}
	return false
}

// placeWords end the names of flags whose value is a path or a host.
var placeWords = []string{"host", "hosts", "addr", "address", "ip", "url", "urls", "uri", "endpoint", "path", "dir", "dirs", "file",
	"folder", "interface", "ifname", "origins", "headers", "prefix", "tools", "template"}

// flagValue is what is kept of a flag's value: switches, numbers and names out
// of an engine's own vocabulary, and JSON of these.
func flagValue(name, text string) string {
	if i := strings.LastIndexAny(name, "-_."); slices.Contains(placeWords, name[i+1:]) {
		return NotKept
	}
	if trimmed := strings.TrimSpace(text); strings.HasPrefix(trimmed, "{") {
		return jsonValue(trimmed)
	}
	if name == "override-tensor" && len(text) <= 200 && !strings.ContainsAny(text, "/:@") {
		return printable(text, 200) // tensor name patterns, "exps=CPU"
	}
	return plainValue(text)
}

// plainValue keeps a short value of letters, digits and a little punctuation
// that is no path, host, file or secret by its looks.
func plainValue(text string) string {
	if len(text) > 400 {
		return NotKept
	}
	for _, r := range text {
		if !(r < 0x80 && (isLetter(byte(r)) || isDigit(byte(r))) || strings.ContainsRune(" .,+-=%^*;[]", r)) {
			return NotKept
		}
	}
	for _, item := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" ,=;[]", r) }) {
		if secretLooking(item) {
			return Hidden
		}
		if placeLooking(item) {
			return NotKept
		}
	}
	return strings.TrimSpace(text)
}

// secretLooking recognises well-known token prefixes and long random words.
func secretLooking(s string) bool {
	for _, prefix := range []string{"hf_", "sk-", "ghp_", "gho_", "github_pat_", "glpat-", "nvapi-", "xox", "AKIA", "AIza", "eyJ"} {
		if strings.HasPrefix(s, prefix) && len(s) > len(prefix)+4 {
			return true
		}
	}
	if len(s) < 24 {
		return false
	}
	var digits, upper, lower int
	for i := range len(s) {
		switch c := s[i]; {
		case isDigit(c):
			digits++
		case c >= 'A' && c <= 'Z':
			upper++
		case isLetter(c) && c != '_':
			lower++
		default:
			return false
		}
	}
	return digits > 2 && upper+lower > 2 && (digits > 6 || upper > 2 && lower > 2)
}

// placeLooking recognises addresses, host names and file names: labels with
// dots, the last of letters only, or four numbers.
func placeLooking(s string) bool {
	if !strings.Contains(s, ".") {
		return strings.HasPrefix(s, "GPU-") || strings.HasPrefix(s, "MIG-")
	}
	labels := strings.Split(s, ".")
	last := labels[len(labels)-1]
	letters := len(last) > 0
	for i := range len(last) {
		letters = letters && isLetter(last[i])
	}
	if letters {
		return true
	}
	return len(labels) == 4 && !slices.ContainsFunc(labels, func(l string) bool { return !allDigits([]byte(l)) })
}

// jsonValue is a JSON object with only those values that could stand alone.
func jsonValue(text string) string {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if len(text) > 1<<14 || d.Decode(&v) != nil || d.More() {
		return NotKept
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(jsonKept("", v, 0)) != nil || b.Len() > 2000 {
		return NotKept
	}
	return strings.TrimSpace(b.String())
}

func jsonKept(key string, v any, depth int) any {
	if depth > 8 {
		return NotKept
	}
	switch v := v.(type) {
	case string:
		switch {
		case secretFlag(key):
			return Hidden
		case key == "model":
			return modelValue(v)
		}
		return flagValue(key, v)
	case json.Number:
		if len(v) > 40 || secretFlag(key) {
			return Hidden
		}
	case []any:
		out := make([]any, 0, min(len(v), 200))
		for _, x := range v[:min(len(v), 200)] {
			out = append(out, jsonKept(key, x, depth+1))
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for k, x := range v {
			if plainValue(k) == k {
				out[k] = jsonKept(k, x, depth+1)
			}
		}
		return out
	}
	return v
}

// modelValue is a model's name or path as given; of an address, what could
// carry a secret is taken off.
func modelValue(text string) string {
	if strings.Contains(text, "://") {
		u, err := url.Parse(text)
		if err != nil {
			return NotKept
		}
		u.User, u.RawQuery, u.Fragment, u.RawFragment = nil, "", "", ""
		text = u.String()
	}
	return printable(text, 300)
}
