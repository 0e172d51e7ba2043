package nsys

import (
	"context"
	"errors"
	"strings"

	"github.com/ncruces/go-sqlite3"
)

// row is what a table holds of one event; a value that is missing, NULL or no
// integer is unknown.
type row struct {
	ints  []int64
	known []bool
	text  string // of the column called text, where it is asked for
	named bool   // text is not NULL
}

// int is the value of column i, or otherwise.
func (w row) int(i int, otherwise int64) int64 {
	if !w.known[i] {
		return otherwise
	}
	return w.ints[i]
}

const textColumn = "text"

// scan reads the columns of a table that it has, row by row as they are
// stored, until use says no.
func (d *database) scan(table string, columns []string, use func(row) bool) error {
	have := d.columns[table]
	list, text := make([]string, len(columns)), -1
	for i, c := range columns {
		list[i] = "NULL"
		if _, ok := have[c]; ok {
			list[i] = sqlite3.QuoteIdentifier(c)
			if c == textColumn {
				text = i
			}
		}
	}
	var s *sqlite3.Stmt
	err := d.guard(func(ctx context.Context) (err error) {
		d.conn.SetInterrupt(ctx)
		s, _, err = d.conn.Prepare("SELECT " + strings.Join(list, ",") + " FROM " + sqlite3.QuoteIdentifier(table) + " NOT INDEXED")
		return err
	})
	if err != nil {
		return err
	}
	defer func() {
		_ = d.guard(func(context.Context) error { return s.Close() })
	}()
	rows := make([]row, batch)
	for i := range rows {
		rows[i] = row{ints: make([]int64, len(columns)), known: make([]bool, len(columns))}
	}
	for more := true; more; {
		n := 0
		err := d.guard(func(ctx context.Context) error {
			d.conn.SetInterrupt(ctx)
			for n < batch {
				if more = s.Step(); !more {
					return s.Err()
				}
				rows[n].take(s, text)
				n++
			}
			return nil
		})
		for _, w := range rows[:n] {
			if d.rowsLeft--; d.rowsLeft < 0 {
				return errors.New("more rows than the file has room for: its pages point at each other")
			}
			if !use(w) {
				return nil
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *row) take(s *sqlite3.Stmt, text int) {
	w.text, w.named = "", false
	for i := range w.ints {
		if i == text {
			if w.named = s.ColumnType(i) == sqlite3.TEXT; w.named {
				w.text = bounded(s.ColumnRawText(i))
			}
			continue
		}
		if w.known[i] = s.ColumnType(i) == sqlite3.INTEGER; w.known[i] {
			w.ints[i] = s.ColumnInt64(i)
		}
	}
}
