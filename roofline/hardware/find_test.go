package hardware

import (
	"strings"
	"testing"
)

func mustFind(t *testing.T, name string) Device {
	t.Helper()
	d, err := Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestFind(t *testing.T) {
	for _, c := range []struct {
		name, want string
		gbs        float64
	}{
		{"A10", "A10", 600},
		{"A100 80 GB SXM", "A100 80 GB SXM", 2039},
		{"B200", "B200", 8000},
		{"B300", "B300", 8000},
		{"H100 SXM", "H100 SXM", 3350},
		{"H200 SXM", "H200 SXM", 4800},
		{"L4", "L4", 300},
		{"L40S", "L40S", 864},
		{"MI355X", "MI355X", 8000},
		{"RTX 3090", "RTX 3090", 936},
		{"RTX 4090", "RTX 4090", 1008},
		{"RTX 5090", "RTX 5090", 1792},
		{"RTX PRO 6000 Blackwell Server", "RTX PRO 6000 Blackwell Server", 1597},
		{"RTX PRO 6000 Blackwell Workstation", "RTX PRO 6000 Blackwell Workstation", 1792},
		{"H200", "H200 SXM", 4800},
		{"h200-sxm", "H200 SXM", 4800},
		{"rtx4090", "RTX 4090", 1008},
		{"NVIDIA GeForce RTX 4090", "RTX 4090", 1008},
		{"nvidia_rtx_pro_6000_blackwell_workstation_edition", "RTX PRO 6000 Blackwell Workstation", 1792},
		{"RTX PRO 6000 Max-Q", "RTX PRO 6000 Blackwell Max-Q", 1792},
		{"NVIDIA A100-SXM4-80GB", "A100 80 GB SXM", 2039},
		{"A100 SXM 40 GB", "A100 40 GB SXM", 1555},
		{"AMD Instinct MI300X", "MI300X", 5300},
	} {
		d, err := Find(c.name)
		if err != nil {
			t.Errorf("Find(%q): %v", c.name, err)
			continue
		}
		if d.Name != c.want || d.BandwidthGBs.Hi != c.gbs {
			t.Errorf("Find(%q) = %s with %v GB/s, want %s with %v", c.name, d.Name, d.BandwidthGBs, c.want, c.gbs)
		}
	}
}

func TestFindRefusesToChoose(t *testing.T) {
	for _, c := range []struct {
		name string
		want []string
	}{
		{"RTX PRO 6000", []string{"Workstation", "Max-Q", "Server", "1792 GB/s", "1597 GB/s"}},
		{"rtx pro 6000 blackwell", []string{"Workstation", "Max-Q", "Server"}},
		{"A100", []string{"A100 40 GB PCIe", "A100 80 GB SXM", "1555 GB/s", "2039 GB/s"}},
		{"H100", []string{"H100 SXM", "H100 PCIe", "H100 NVL", "3350 GB/s", "2000–2039 GB/s"}},
		{"GH200", []string{"96 GB", "144 GB"}},
		{"MI300", []string{"MI300X"}},          // an MI300A exists
		{"RTX 6000", []string{"RTX 6000 Ada"}}, // older generations had the name too
		{"H200 NVL", []string{"not in the catalogue"}},
		{"RTX 4080", []string{"not in the catalogue", "RTX 4090"}},
		{"", []string{"not in the catalogue"}},
		{"\x1b[31m" + strings.Repeat("x", 1000), []string{"not in the catalogue", `\x1b`}},
	} {
		d, err := Find(c.name)
		if err == nil {
			t.Errorf("Find(%q) chose %s", c.name, d.Name)
			continue
		}
		for _, w := range c.want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("Find(%q): %q does not say %q", c.name, err, w)
			}
		}
		if strings.ContainsRune(err.Error(), 0x1b) || len(err.Error()) > 800 {
			t.Errorf("Find(%q): the error is unsafe to print: %q", c.name, err)
		}
	}
}

func FuzzFind(f *testing.F) {
	for _, s := range []string{"H100", "rtx pro 6000", "NVIDIA", "\xff\x00", "amd nvidia"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		d, err := Find(name)
		if err == nil && d.BandwidthGBs.Hi <= 0 {
			t.Errorf("Find(%q) gave an empty device", name)
		}
	})
}
