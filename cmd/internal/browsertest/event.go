package browsertest

import "strings"

// The parts we read of the protocol's events.
type (
	thrown struct {
		Details exception `json:"exceptionDetails"`
	}
	exception struct {
		Text      string `json:"text"`
		Line      int    `json:"lineNumber"`
		Column    int    `json:"columnNumber"`
		Exception struct {
			Description string `json:"description"`
		} `json:"exception"`
	}
	logged struct {
		Type string `json:"type"`
		Args []struct {
			Value       any    `json:"value"`
			Description string `json:"description"`
		} `json:"args"`
	}
	entry struct {
		Entry struct {
			Source string `json:"source"`
			Level  string `json:"level"`
			Text   string `json:"text"`
			URL    string `json:"url"`
		} `json:"entry"`
	}
	request struct {
		Request struct {
			URL string `json:"url"`
		} `json:"request"`
	}
	socket struct {
		URL string `json:"url"`
	}
)

func (l logged) text() string {
	var words []string
	for _, a := range l.Args {
		if s, ok := a.Value.(string); ok {
			words = append(words, s)
		} else {
			words = append(words, a.Description)
		}
	}
	return strings.Join(words, " ")
}
