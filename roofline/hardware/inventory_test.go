package hardware

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const fixtures = "../../testdata/devices"

func readFixture(t *testing.T, name string) Inventory {
	t.Helper()
	f, err := os.Open(filepath.Join(fixtures, name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	inv, err := ReadInventory(f)
	if err != nil {
		t.Fatal(err)
	}
	return inv
}

func TestInventoryMatchesCatalogue(t *testing.T) {
	for _, c := range []struct {
		fixture, device, topology string
		running                   float64 // GB/s
	}{
		{"h200_x2", "H200 SXM", NVLink, 4814.3},
		{"rtx_pro_6000_server_x8", "RTX PRO 6000 Blackwell Server", TwoSocket, 1597.6},
		{"rtx_pro_6000_workstation_x4", "RTX PRO 6000 Blackwell Workstation", PCIeSwitch, 1792.1},
		{"rtx_4090", "RTX 4090", "", 1008.1},
	} {
		inv := readFixture(t, c.fixture)
		for _, g := range inv.GPUs {
			d, err := Match(g)
			if err != nil {
				t.Fatalf("%s: %v", c.fixture, err)
			}
			if d.Name != c.device {
				t.Errorf("%s: matched %s, want %s", c.fixture, d.Name, c.device)
			}
			if got, ok := g.RunningPeak(); !ok || math.Abs(float64(got)/1e9-c.running) > 0.05 {
				t.Errorf("%s: running peak %v, want %v GB/s", c.fixture, got, c.running)
			}
		}
		name, evidence, ok := inv.Topology()
		if name != c.topology || ok != (c.topology != "") || (ok && evidence == "") {
			t.Errorf("%s: topology %q (%q), want %q", c.fixture, name, evidence, c.topology)
		}
	}
	inForce, ok := readFixture(t, "rtx_pro_6000_workstation_x4").GPUs[0].CurrentPeak()
	if !ok || math.Abs(float64(inForce)/1e9-1710.7) > 0.05 {
		t.Errorf("peak at the clock in force %v, want 1710.7 GB/s", inForce)
	}
	if _, ok := (GPU{Name: "x"}).RunningPeak(); ok {
		t.Error("a running peak without clock and width")
	}
}

func TestMatchRefuses(t *testing.T) {
	h200 := readFixture(t, "h200_x2").GPUs[0]
	size := func(mib uint64) *uint64 { b := mib << 20; return &b }
	on := true
	for _, c := range []struct {
		name string
		edit func(*GPU)
		want string
	}{
		{"another part of the family", func(g *GPU) { g.Name = "NVIDIA H200 NVL" }, "H200 SXM with 4800 GB/s is another part"},
		{"unknown", func(g *GPU) { g.Name = "NVIDIA H900" }, "not in the catalogue"},
		{"other memory", func(g *GPU) { g.MemoryBytes = size(81559) }, "79.6 GiB of memory, but H200 SXM has 141 GB"},
		{"too much memory", func(g *GPU) { g.MemoryBytes = size(160 << 10) }, "another part"},
		{"other chip", func(g *GPU) { g.ComputeCapability = "8.0" }, "compute capability"},
		{"partitioned", func(g *GPU) { g.MIG = &on }, "MIG mode is on"},
		{"hostile", func(g *GPU) { g.Name = "\x1b]0;x\a" + strings.Repeat("A", 4000) }, "not in the catalogue"},
	} {
		g := h200
		c.edit(&g)
		d, err := Match(g)
		if err == nil {
			t.Errorf("%s: matched %s", c.name, d.Name)
			continue
		}
		if !strings.Contains(err.Error(), c.want) || strings.ContainsRune(err.Error(), 0x1b) || len(err.Error()) > 600 {
			t.Errorf("%s: error %q, expected a short one with %q", c.name, err, c.want)
		}
		if c.name == "partitioned" && !errors.Is(err, ErrPartitioned) {
			t.Errorf("%v is not ErrPartitioned", err)
		}
	}
}

// TestEveryReportedNameMatches walks the catalogue with what a driver would say.
func TestEveryReportedNameMatches(t *testing.T) {
	for _, d := range Catalogue() {
		for _, name := range d.ReportedNames {
			bytes := uint64(d.MemoryGB.Lo * 0.94 * (1 << 30))
			got, err := Match(GPU{Name: name, MemoryBytes: &bytes, ComputeCapability: d.ComputeCapability.Value})
			if err != nil || got.Name != d.Name {
				t.Errorf("%q: %s, %v", name, got.Name, err)
			}
		}
		if d.CUDA() && len(d.ReportedNames) == 0 {
			t.Errorf("%s: no name that its driver reports", d.Name)
		}
	}
}

func TestTopologyNeedsEvidence(t *testing.T) {
	inv := readFixture(t, "rtx_pro_6000_server_x8")
	inv.FarthestPath = ""
	if name, _, ok := inv.Topology(); ok {
		t.Errorf("topology %q from nothing", name)
	}
	links := 4
	inv.FarthestPath = PathHost
	for i := range inv.GPUs {
		inv.GPUs[i].ActiveNVLinks = &links // a bridge joins pairs only
	}
	if name, _, _ := inv.Topology(); name != PCIeHost {
		t.Errorf("topology %q, want %q", name, PCIeHost)
	}
}

func TestReadInventoryRefuses(t *testing.T) {
	good, err := json.Marshal(readFixture(t, "h200_x2"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "EOF"},
		{"cut short", string(good[:len(good)/2]), "near byte"},
		{"another schema", strings.Replace(string(good), "inventory/1", "inventory/2", 1), "schema"},
		{"unknown field", strings.Replace(string(good), `"gpus"`, `"uuid": "x", "gpus"`, 1), "unknown field"},
		{"text after", string(good) + "{}", "after the document"},
		{"escape sequence", strings.Replace(string(good), "NVIDIA H200", `\u001b[2J`, 1), "not printable"},
		{"no name", strings.Replace(string(good), "NVIDIA H200", "", 1), "name missing"},
		{"path", strings.Replace(string(good), `"PHB"`, `"MOON"`, 1), "farthest_path"},
		{"too long", strings.Repeat(" ", maxInventory+1), "longer than"},
	} {
		if _, err := ReadInventory(strings.NewReader(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, expected one with %q", c.name, err, c.want)
		}
	}
}

func FuzzReadInventory(f *testing.F) {
	for _, name := range []string{"h200_x2", "rtx_4090"} {
		data, err := os.ReadFile(filepath.Join(fixtures, name+".json"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data))
	}
	f.Fuzz(func(t *testing.T, text string) {
		inv, err := ReadInventory(strings.NewReader(text))
		if err != nil {
			return
		}
		inv.Topology()
		for _, g := range inv.GPUs {
			if _, err := Match(g); err != nil && Printable(err.Error()) != err.Error() {
				t.Errorf("an error with control characters: %q", err)
			}
			g.RunningPeak()
		}
	})
}
