package nsys

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ncruces/go-sqlite3"
)

// build makes a database out of SQL and returns its bytes.
func build(t testing.TB, statements ...string) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "export.sqlite")
	db, err := sqlite3.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range statements {
		if err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Parts of exports, as each family of schemas writes them.
const (
	texts = `CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
INSERT INTO StringIds VALUES (1,'cudaLaunchKernel_v7000'),(2,'cudaGraphLaunch_v10000'),(3,'cudaStreamSynchronize_v3020'),
(10,'void gemm<(int)4>(T1 *)'),(11,'gemm'),(12,'_Z4gemmPf'),(13,'rms_norm'),(20,'execute_context_0(0)_generation_32(32)'),(21,'cudaStreamBeginCapture_v10000')`
	version325 = `CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT);
INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PRODUCT_VERSION','2026.2.1.210'),('EXPORT_SCHEMA_VERSION','3.25.0'),('EXPORT_PLATFORM','linux')`
	kernels325 = `CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL,
greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL,
mangledName INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER, graphNodeId INTEGER, graphId INTEGER)`
	runtime = `CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER, globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER)`
)

// Two processes, 0x64 and 0x65, as globalPid.
const (
	pidA = 281474976710656 + 0x64<<24
	pidB = 281474976710656 + 0x65<<24
)
