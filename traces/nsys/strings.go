package nsys

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/ianlancetaylor/demangle"
	"github.com/ncruces/go-sqlite3"

	"decodegap/traces"
)

const (
	maxName     = 16 << 10 // bytes of a name; the rest is cut
	maxInterned = 64 << 20 // bytes of names kept, then they are read anew
)

// bounded copies a name, cut where a character ends.
func bounded(b []byte) string {
	if len(b) <= maxName {
		return strings.ToValidUTF8(string(b), "\ufffd")
	}
	b = b[:maxName]
	for len(b) > 0 && !utf8.RuneStart(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return strings.ToValidUTF8(string(b[:max(len(b)-1, 0)]), "\ufffd") + "…"
}

// interner lets equal names and launch shapes share memory.
type interner struct {
	names   map[string]string
	details map[traces.Detail]*traces.Detail
	bytes   int
}

func newInterner() *interner {
	return &interner{names: map[string]string{}, details: map[traces.Detail]*traces.Detail{}}
}

func (n *interner) name(s string) string {
	if have, ok := n.names[s]; ok {
		return have
	}
	if n.bytes += len(s) + 64; n.bytes > maxInterned {
		clear(n.names)
		n.bytes = len(s)
	}
	n.names[s] = s
	return s
}

func (n *interner) detail(d traces.Detail) *traces.Detail {
	if have, ok := n.details[d]; ok {
		return have
	}
	if len(n.details) > 100_000 {
		clear(n.details)
	}
	n.details[d] = &d
	return &d
}

// stringTable finds texts by id, each when it is first asked for: the table
// also holds what no event names.
type stringTable struct {
	db    *database
	find  *sqlite3.Stmt
	known map[int64]string
	bytes int
	fault string // the first text that could not be read
}

func newStringTable(db *database) *stringTable {
	t := &stringTable{db: db, known: map[int64]string{}}
	if !db.has("StringIds") {
		return t
	}
	// Only a look-up by row id is fast; nsys has never written another.
	if cols := db.columns["StringIds"]; !cols["id"].rowid {
		t.fault = "table StringIds: its id is not the row id: names are left out"
		return t
	}
	err := db.guard(func(ctx context.Context) (err error) {
		db.conn.SetInterrupt(ctx)
		t.find, _, err = db.conn.PrepareFlags("SELECT value FROM StringIds WHERE id=?", sqlite3.PREPARE_PERSISTENT)
		return err
	})
	if err != nil {
		t.find, t.fault = nil, "table StringIds: "+err.Error()
	}
	return t
}

func (t *stringTable) close() {
	if find := t.find; find != nil {
		t.find = nil
		_ = t.db.guard(func(context.Context) error { return find.Close() })
	}
}

// get is the text of id, "" where there is none.
func (t *stringTable) get(id int64) string {
	if s, ok := t.known[id]; ok {
		return s
	}
	if t.find == nil {
		return ""
	}
	var s string
	err := t.db.guard(func(ctx context.Context) error {
		t.db.conn.SetInterrupt(ctx)
		if err := t.find.BindInt64(1, id); err != nil {
			return err
		}
		if t.find.Step() && t.find.ColumnType(0) == sqlite3.TEXT {
			s = bounded(t.find.ColumnRawText(0))
		}
		err := t.find.Err()
		if again := t.find.Reset(); err == nil {
			err = again
		}
		return err
	})
	if err != nil && t.fault == "" {
		t.fault = "table StringIds: a name could not be read: " + err.Error()
	}
	if t.bytes += len(s) + 64; t.bytes > maxInterned {
		clear(t.known)
		t.bytes = len(s)
	}
	t.known[id] = s
	return s
}

// kernel is the name of a kernel as people read it.
func (t *stringTable) kernel(ids ...int64) string {
	for _, id := range ids {
		s := t.get(id)
		if s == "" {
			continue
		}
		if strings.HasPrefix(s, "_Z") && len(s) <= 4096 {
			if plain, err := demangle.ToString(s, demangle.MaxLength(14)); err == nil {
				s = bounded([]byte(plain))
				t.known[id] = s
			}
		}
		return s
	}
	return ""
}
