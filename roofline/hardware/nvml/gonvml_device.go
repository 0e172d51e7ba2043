//go:build linux && cgo

package nvml

import "github.com/NVIDIA/go-nvml/pkg/nvml"

// gpu adapts one go-nvml device.
type gpu struct {
	l   library
	dev nvml.Device
}

func (g gpu) Name() (string, error) { return ask(g.l, "nvmlDeviceGetName", g.dev.GetName) }

func (g gpu) MemoryBytes() (uint64, error) {
	m, err := ask(g.l, "nvmlDeviceGetMemoryInfo", g.dev.GetMemoryInfo)
	return m.Total, err
}

func (g gpu) BusWidthBits() (uint32, error) {
	return ask(g.l, "nvmlDeviceGetMemoryBusWidth", g.dev.GetMemoryBusWidth)
}

func (g gpu) MaxMemoryClockMHz() (uint32, error) { return g.maxClock(nvml.CLOCK_MEM) }
func (g gpu) MaxSMClockMHz() (uint32, error)     { return g.maxClock(nvml.CLOCK_SM) }

func (g gpu) maxClock(kind nvml.ClockType) (uint32, error) {
	return ask(g.l, "nvmlDeviceGetMaxClockInfo", func() (uint32, nvml.Return) { return g.dev.GetMaxClockInfo(kind) })
}

func (g gpu) MemoryClockMHz() (uint32, error) {
	return ask(g.l, "nvmlDeviceGetClockInfo", func() (uint32, nvml.Return) { return g.dev.GetClockInfo(nvml.CLOCK_MEM) })
}

func (g gpu) PowerLimitMilliwatts() (uint32, error) {
	return ask(g.l, "nvmlDeviceGetEnforcedPowerLimit", g.dev.GetEnforcedPowerLimit)
}

func (g gpu) PCIeGen() (int, error) {
	return ask(g.l, "nvmlDeviceGetCurrPcieLinkGeneration", g.dev.GetCurrPcieLinkGeneration)
}

func (g gpu) PCIeWidth() (int, error) {
	return ask(g.l, "nvmlDeviceGetCurrPcieLinkWidth", g.dev.GetCurrPcieLinkWidth)
}

func (g gpu) MaxPCIeGen() (int, error) {
	return ask(g.l, "nvmlDeviceGetMaxPcieLinkGeneration", g.dev.GetMaxPcieLinkGeneration)
}

func (g gpu) MaxPCIeWidth() (int, error) {
	return ask(g.l, "nvmlDeviceGetMaxPcieLinkWidth", g.dev.GetMaxPcieLinkWidth)
}

// ActiveNVLinks counts the links that are up. A GPU without NVLink answers
// "not supported" for the first link already.
func (g gpu) ActiveNVLinks() (int, error) {
	up := 0
	for link := range nvml.NVLINK_MAX_LINKS {
		state, err := ask(g.l, "nvmlDeviceGetNvLinkState", func() (nvml.EnableState, nvml.Return) {
			state, ret := g.dev.GetNvLinkState(link)
			if link > 0 && ret == nvml.ERROR_INVALID_ARGUMENT {
				return nvml.FEATURE_DISABLED, nvml.SUCCESS // past this GPU's last link
			}
			return state, ret
		})
		if err != nil && link == 0 {
			return 0, err
		}
		if err == nil && state == nvml.FEATURE_ENABLED {
			up++
		}
	}
	return up, nil
}

func (g gpu) ComputeCapability() (int, int, error) {
	var minor int
	major, err := ask(g.l, "nvmlDeviceGetCudaComputeCapability", func() (int, nvml.Return) {
		a, b, ret := g.dev.GetCudaComputeCapability()
		minor = b
		return a, ret
	})
	return major, minor, err
}

func (g gpu) MIG() (bool, error) {
	mode, err := ask(g.l, "nvmlDeviceGetMigMode", func() (int, nvml.Return) {
		current, _, ret := g.dev.GetMigMode()
		return current, ret
	})
	return mode == nvml.DEVICE_MIG_ENABLE, err
}
