package bench

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// Limits on what a file may ask for.
const (
	maxFile    = 256 << 20 // bytes
	sniffBytes = 64 << 10  // bytes an importer may look at to recognise its format
	maxResults = 10_000    // results of one file
)

// ErrTooLarge is wrapped by the error for a file above the size limit.
var ErrTooLarge = errors.New("larger than 256 MB")

// ReadFile reads the benchmark results of one file. Directories are refused.
func ReadFile(path string) ([]Result, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read benchmark file: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("cannot read benchmark file: %w", err)
	}
	if info.IsDir() {
		return nil, fmt.Errorf("%s is a directory: name the benchmark result files in it", path)
	}
	return Read(f, path)
}

// Read recognises the format by its content and reads all results; name is for
// messages only. The error of an unknown format says what was looked for.
func Read(r io.Reader, name string) ([]Result, error) {
	in := bufio.NewReaderSize(&capped{r: r, left: maxFile}, sniffBytes)
	head, err := in.Peek(sniffBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("cannot read %s: %w", name, err)
	}
	if len(bytes.TrimSpace(head)) == 0 {
		return nil, fmt.Errorf("%s is empty: expected the result file of a benchmark", name)
	}
	if bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")) {
		return nil, fmt.Errorf("%s is UTF-16 text: save it as UTF-8", name)
	}
	importer := recognise(head)
	if importer == nil {
		return nil, fmt.Errorf("%s: not a benchmark result that is known here; looked for%s", name, wanted())
	}
	results, err := importer.Read(in)
	if err != nil {
		return nil, fmt.Errorf("%s (read as %s): %w", name, importer.Name, err)
	}
	return results, nil
}

// recognise finds the importer for content that starts with head. Text whose
// result block may come later, as in a console log, goes to the text reader,
// which tells the tools apart by itself.
func recognise(head []byte) *Importer {
	for i := range All {
		if All[i].Sniff(head) {
			return &All[i]
		}
	}
	if isText(head) && len(head) == sniffBytes {
		return &SGLangText
	}
	return nil
}

// isText says that head holds neither NUL bytes nor JSON.
func isText(head []byte) bool {
	trimmed := bytes.TrimSpace(head)
	return !bytes.ContainsRune(head, 0) && len(trimmed) > 0 && trimmed[0] != '{' && trimmed[0] != '['
}

func wanted() string {
	var b strings.Builder
	for _, f := range All {
		b.WriteString("\n  " + f.Name + ": " + f.Looks)
	}
	return b.String()
}

// capped fails with ErrTooLarge where a longer input goes on past the limit.
type capped struct {
	r    io.Reader
	left int64
}

func (c *capped) Read(p []byte) (int, error) {
	if c.left <= 0 {
		var one [1]byte
		n, err := c.r.Read(one[:])
		if n > 0 {
			return 0, ErrTooLarge
		}
		return 0, err
	}
	if int64(len(p)) > c.left {
		p = p[:c.left]
	}
	n, err := c.r.Read(p)
	c.left -= int64(n)
	return n, err
}

// none is the error of a file whose format was recognised but that holds no
// figure to use.
func none(looked string) error {
	return fmt.Errorf("no benchmark result in it: expected %s", looked)
}
