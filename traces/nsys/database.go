package nsys

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/vfs/readervfs"
)

// Bounds on what a file can make the database do.
const (
	maxMemory  = 96 << 20 // bytes of SQLite's own memory
	maxValue   = 1 << 20  // bytes of one text or row
	maxTables  = 4096
	maxColumns = 2000
	stall      = 30 * time.Second // in which a batch of rows must have come
	batch      = 256              // rows
)

// database is an export opened for reading, of which only the real tables are
// known.
type database struct {
	conn     *sqlite3.Conn
	key      string
	columns  map[string]map[string]column // of the real tables
	cut, wal bool
	rowsLeft int64
	broken   bool // the library gave up; the connection cannot even be closed
}

type column struct {
	rowid bool // another name of the row id, so that a look-up is fast
}

// openDatabase opens file without writing anything.
func openDatabase(file io.ReaderAt, size int64) (*database, error) {
	src, cut, wal, err := newSource(file, size)
	if err != nil {
		return nil, err
	}
	d := &database{key: rand.Text(), cut: cut, wal: wal, columns: map[string]map[string]column{}}
	// A row takes eight bytes at the least; more rows than fit mean pages that
	// point at each other.
	d.rowsLeft = size/8*4 + 1000
	readervfs.Create(d.key, src)
	err = d.guard(func(ctx context.Context) error {
		d.conn, err = sqlite3.OpenContext(sqlite3.WithMaxMemory(ctx, maxMemory), "file:"+d.key+"?vfs=reader&mode=ro&immutable=1")
		if err != nil {
			return err
		}
		d.conn.SetInterrupt(ctx)
		return d.prepare()
	})
	if err != nil {
		d.close()
		return nil, fmt.Errorf("reading the SQLite schema: %w; %s", err, exportAgain)
	}
	return d, nil
}

// prepare makes the connection safe for a file from anywhere and lists its
// real tables.
func (d *database) prepare() error {
	for _, l := range []struct {
		id    sqlite3.LimitCategory
		value int
	}{{sqlite3.LIMIT_LENGTH, maxValue}, {sqlite3.LIMIT_SQL_LENGTH, maxValue}, {sqlite3.LIMIT_ATTACHED, 0},
		{sqlite3.LIMIT_TRIGGER_DEPTH, 1}, {sqlite3.LIMIT_EXPR_DEPTH, 100}, {sqlite3.LIMIT_VDBE_OP, 25_000}} {
		d.conn.Limit(l.id, l.value)
	}
	for _, c := range []struct {
		op sqlite3.DBConfig
		on bool
	}{{sqlite3.DBCONFIG_DEFENSIVE, true}, {sqlite3.DBCONFIG_TRUSTED_SCHEMA, false},
		{sqlite3.DBCONFIG_ENABLE_TRIGGER, false}, {sqlite3.DBCONFIG_ENABLE_VIEW, false}} {
		if _, err := d.conn.Config(c.op, c.on); err != nil {
			return err
		}
	}
	for _, pragma := range []string{"PRAGMA temp_store=MEMORY", "PRAGMA cell_size_check=ON", "PRAGMA mmap_size=0", "PRAGMA query_only=ON"} {
		if err := d.conn.Exec(pragma); err != nil {
			return err
		}
	}
	var names []string
	err := d.each("SELECT name FROM sqlite_schema WHERE type='table' AND rootpage>0", func(s *sqlite3.Stmt) error {
		if len(names) == maxTables {
			return fmt.Errorf("more than %d tables", maxTables)
		}
		names = append(names, s.ColumnText(0))
		return nil
	})
	if err != nil {
		return err
	}
	for _, n := range names {
		if !wanted(n) {
			continue
		}
		cols := map[string]column{}
		keys, rowid := 0, ""
		err := d.each("PRAGMA table_info("+sqlite3.Quote(n)+")", func(s *sqlite3.Stmt) error {
			if len(cols) == maxColumns {
				return fmt.Errorf("more than %d columns", maxColumns)
			}
			cols[s.ColumnText(1)] = column{}
			if s.ColumnInt(5) > 0 {
				if keys++; s.ColumnText(2) == "INTEGER" {
					rowid = s.ColumnText(1)
				}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("table %s: %w", n, err)
		}
		if keys == 1 && rowid != "" {
			cols[rowid] = column{rowid: true}
		}
		d.columns[n] = cols
	}
	return nil
}

func (d *database) has(table string) bool { return d.columns[table] != nil }

// each runs a query of our own and hands on each row.
func (d *database) each(sql string, use func(*sqlite3.Stmt) error) error {
	s, _, err := d.conn.Prepare(sql)
	if err != nil {
		return err
	}
	defer s.Close()
	for s.Step() {
		if err := use(s); err != nil {
			return err
		}
	}
	return s.Err()
}

// guard runs work with a deadline, and turns the library giving up on broken
// pages into an error.
func (d *database) guard(work func(context.Context) error) (err error) {
	if d.broken {
		return errors.New("the database could not be read further")
	}
	ctx, cancel := context.WithTimeout(context.Background(), stall)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			d.broken = true
			err = errors.New("the database is damaged beyond what SQLite reads")
		}
	}()
	err = work(ctx)
	if d.conn != nil {
		d.conn.SetInterrupt(context.Background())
	}
	if ctx.Err() != nil && err != nil {
		return fmt.Errorf("no rows within %v: %w", stall, err)
	}
	return err
}

// query is guard for each.
func (d *database) query(sql string, use func(*sqlite3.Stmt) error) error {
	return d.guard(func(ctx context.Context) error {
		d.conn.SetInterrupt(ctx)
		return d.each(sql, use)
	})
}

func (d *database) close() error {
	readervfs.Delete(d.key)
	if d.conn == nil || d.broken {
		return nil
	}
	conn := d.conn
	d.conn = nil
	err := d.guard(func(context.Context) error { return conn.Close() })
	d.broken = true
	return err
}
