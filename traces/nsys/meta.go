package nsys

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ncruces/go-sqlite3"

	"decodegap/traces"
)

// readMeta takes what is on the allow-list: versions, the graph option of the
// capture, device names, the start of the session. A table that cannot be read
// leaves its facts out.
func (r *reader) readMeta() {
	for _, t := range []string{"META_DATA_EXPORT", "EXPORT_META_DATA"} {
		if !r.hasColumns(t, "name", "value") {
			continue
		}
		for _, f := range [][2]string{{"EXPORT_PRODUCT_VERSION", "nsys_version"}, {"EXPORT_SCHEMA_VERSION", "nsys_schema"}} {
			r.fact(f[1], "SELECT value FROM "+t+" WHERE name='"+f[0]+"' LIMIT 1")
		}
	}
	if r.hasColumns("META_DATA_CAPTURE", "name", "value") {
		r.fact("cuda_graph_trace", "SELECT value FROM META_DATA_CAPTURE WHERE name='CUDA_GRAPH_TRACE_OPTIONS:MODE' OR name LIKE 'PROCESS_%:CUDA_GRAPH_TRACE_OPTIONS:MODE' LIMIT 1")
		r.graphMode = r.meta.Facts["cuda_graph_trace"]
		// Only whether there are such rows; their values are never asked for.
		_ = r.db.query("SELECT 1 FROM META_DATA_CAPTURE WHERE name LIKE '%ENVIRONMENT%' LIMIT 1", func(*sqlite3.Stmt) error {
			r.meta.Environment = true
			return nil
		})
	}
	if r.hasColumns("TARGET_INFO_SESSION_START_TIME", "utcEpochNs") {
		_ = r.db.query("SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME LIMIT 1", func(s *sqlite3.Stmt) error {
			if s.ColumnType(0) == sqlite3.INTEGER {
				r.meta.Base = max(s.ColumnInt64(0), 0)
			}
			return nil
		})
	}
	r.readDevices()
}

func (r *reader) hasColumns(table string, columns ...string) bool {
	have := r.db.columns[table]
	for _, c := range columns {
		if _, ok := have[c]; !ok {
			return false
		}
	}
	return have != nil
}

// fact keeps a value that looks like a version or an option, nothing else.
func (r *reader) fact(key, sql string) {
	_ = r.db.query(sql, func(s *sqlite3.Stmt) error {
		if v := s.ColumnText(0); plain(v) {
			r.meta.Facts[key] = v
		}
		return nil
	})
}

func plain(v string) bool {
	if v == "" || len(v) > 32 {
		return false
	}
	return !strings.ContainsFunc(v, func(c rune) bool {
		return (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '.' && c != '-'
	})
}

// readDevices names the devices by CUDA's numbers, which the events use; the
// system's own numbers may differ. A number that stands for cards of different
// names in different processes has none.
func (r *reader) readDevices() {
	if !r.hasColumns("TARGET_INFO_GPU", "id", "name") {
		return
	}
	number := "id"
	if r.hasColumns("TARGET_INFO_GPU", "cuDevice") {
		number = "cuDevice"
	}
	system, cuda := map[int64]string{}, map[int]string{}
	_ = r.db.query("SELECT id,"+number+",name FROM TARGET_INFO_GPU LIMIT 4096", func(s *sqlite3.Stmt) error {
		name := bounded(s.ColumnRawText(2))
		if len(name) > 200 || name == "" {
			return nil
		}
		system[s.ColumnInt64(0)] = name
		nameDevice(cuda, s.ColumnInt64(1), name)
		return nil
	})
	if r.hasColumns("TARGET_INFO_CUDA_DEVICE", "gpuId", "cudaId") {
		seen := map[int]string{}
		_ = r.db.query("SELECT gpuId,cudaId FROM TARGET_INFO_CUDA_DEVICE LIMIT 4096", func(s *sqlite3.Stmt) error {
			if name, ok := system[s.ColumnInt64(0)]; ok {
				nameDevice(seen, s.ColumnInt64(1), name)
			}
			return nil
		})
		if len(seen) > 0 {
			cuda = seen
		}
	}
	for n, name := range cuda {
		if name != "" {
			r.meta.Devices[n] = name
		}
	}
}

func nameDevice(names map[int]string, number int64, name string) {
	if number < 0 || number >= maxDevice {
		return
	}
	if have, ok := names[int(number)]; ok && have != name {
		name = ""
	}
	names[int(number)] = name
}

const maxProcesses = 4096

// numberProcesses gives each process that used a GPU a number in place of the
// rank, which the export does not hold: by device, then by process id.
func (r *reader) numberProcesses() {
	device := map[uint64]int64{}
	for _, t := range []string{"CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"} {
		if !r.hasColumns(t, "globalPid", "deviceId") {
			continue
		}
		left := r.db.rowsLeft
		// A fault here comes again, and is told, when the events are read.
		_ = r.db.scan(t, []string{"globalPid", "deviceId"}, func(w row) bool {
			if !w.known[0] {
				return true
			}
			p, d := uint64(w.ints[0]), w.int(1, math.MaxInt32)
			if have, ok := device[p]; !ok || d < have {
				device[p] = d
			}
			return len(device) <= maxProcesses
		})
		r.db.rowsLeft = left
	}
	if len(device) < 2 || len(device) > maxProcesses {
		return
	}
	list := make([]uint64, 0, len(device))
	for p := range device {
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b uint64) int {
		return cmp.Or(cmp.Compare(device[a], device[b]), cmp.Compare(a, b))
	})
	r.ranks = map[uint64]int{}
	for i, p := range list {
		r.ranks[p] = i
		r.meta.Ranks = append(r.meta.Ranks, i)
	}
	r.meta.Warnings = append(r.meta.Warnings, traces.Warning{Code: "ranks-assumed",
		Text: fmt.Sprintf("%d processes used GPUs; the export does not say their ranks: they are numbered by device, then by process id", len(list))})
}
