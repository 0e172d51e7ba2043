package all

import "fmt"

// box reads a word's corners from a line of pdftotext -bbox.
func box(line string, x0, y0, x1, y1 *float64) bool {
	n, err := fmt.Sscanf(line, " <word xMin=%q yMin=%q xMax=%q yMax=%q", number{x0}, number{y0}, number{x1}, number{y1})
	return err == nil && n == 4
}

// number scans a quoted number.
type number struct{ v *float64 }

func (n number) Scan(s fmt.ScanState, _ rune) error {
	token, err := s.Token(true, func(r rune) bool { return r != ' ' && r != '>' })
	if err != nil {
		return err
	}
	_, err = fmt.Sscanf(string(token), `"%g"`, n.v)
	return err
}
