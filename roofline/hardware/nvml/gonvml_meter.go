//go:build linux && cgo

package nvml

import (
	"errors"
	"fmt"
	"time"

	"github.com/NVIDIA/go-nvml/pkg/nvml"

	"decodegap/roofline/hardware"
)

func (g gpu) SMClockMHz() (uint32, error) {
	return ask(g.l, "nvmlDeviceGetClockInfo", func() (uint32, nvml.Return) { return g.dev.GetClockInfo(nvml.CLOCK_SM) })
}

// PState is 0 to 15; NVML has 32 for unknown.
func (g gpu) PState() (int, error) {
	p, err := ask(g.l, "nvmlDeviceGetPerformanceState", g.dev.GetPerformanceState)
	if err == nil && (p < nvml.PSTATE_0 || p > nvml.PSTATE_15) {
		return 0, errNotReported
	}
	return int(p), err
}

// Reasons asks under the name that drivers have since 535, then under the
// older one.
func (g gpu) Reasons() (uint64, error) {
	bits, err := ask(g.l, "nvmlDeviceGetCurrentClocksEventReasons", g.dev.GetCurrentClocksEventReasons)
	if errors.Is(err, errNotReported) {
		return ask(g.l, "nvmlDeviceGetCurrentClocksThrottleReasons", g.dev.GetCurrentClocksThrottleReasons)
	}
	return bits, err
}

func (g gpu) PowerMilliwatts() (uint32, error) {
	return ask(g.l, "nvmlDeviceGetPowerUsage", g.dev.GetPowerUsage)
}

func (g gpu) TemperatureC() (int, error) {
	t, err := ask(g.l, "nvmlDeviceGetTemperature", func() (uint32, nvml.Return) { return g.dev.GetTemperature(nvml.TEMPERATURE_GPU) })
	return int(t), err
}

func (g gpu) BusyPercent() (int, error) {
	u, err := ask(g.l, "nvmlDeviceGetUtilizationRates", g.dev.GetUtilizationRates)
	return int(u.Gpu), err
}

// Held is a violation counter; NVML counts nanoseconds.
func (g gpu) Held(p hardware.Policy) (time.Duration, error) {
	policy, ok := map[hardware.Policy]nvml.PerfPolicyType{
		hardware.PolicyPower: nvml.PERF_POLICY_POWER, hardware.PolicyThermal: nvml.PERF_POLICY_THERMAL,
		hardware.PolicySyncBoost: nvml.PERF_POLICY_SYNC_BOOST, hardware.PolicyBoardLimit: nvml.PERF_POLICY_BOARD_LIMIT,
		hardware.PolicyReliability: nvml.PERF_POLICY_RELIABILITY,
	}[p]
	if !ok {
		return 0, errNotReported
	}
	v, err := ask(g.l, "nvmlDeviceGetViolationStatus", func() (nvml.ViolationTime, nvml.Return) { return g.dev.GetViolationStatus(policy) })
	return time.Duration(v.ViolationTime), err
}

func (g gpu) BusID() (string, error) {
	pci, err := ask(g.l, "nvmlDeviceGetPciInfo_v3", g.dev.GetPciInfo)
	if err != nil {
		return "", err
	}
	var id []byte
	for _, c := range pci.BusId {
		if c == 0 {
			break
		}
		id = append(id, byte(c))
	}
	return string(id), nil
}

func (g gpu) MemoryUsedBytes() (uint64, error) {
	m, err := ask(g.l, "nvmlDeviceGetMemoryInfo", g.dev.GetMemoryInfo)
	return m.Used, err
}

func (g gpu) DefaultPowerLimitMilliwatts() (uint32, error) {
	return ask(g.l, "nvmlDeviceGetPowerManagementDefaultLimit", g.dev.GetPowerManagementDefaultLimit)
}

// nvlinkVersions are the versions in the order of NVML's numbers for them.
var nvlinkVersions = []string{"", "1.0", "2.0", "2.2", "3.0", "3.1", "4.0", "5.0", "6.0"}

// NVLinkVersion is that of the first link that is up.
func (g gpu) NVLinkVersion() (string, error) {
	for link := range nvml.NVLINK_MAX_LINKS {
		state, err := ask(g.l, "nvmlDeviceGetNvLinkState", func() (nvml.EnableState, nvml.Return) { return g.dev.GetNvLinkState(link) })
		if err != nil {
			return "", err
		}
		if state == nvml.FEATURE_ENABLED {
			v, err := ask(g.l, "nvmlDeviceGetNvLinkVersion", func() (uint32, nvml.Return) { return g.dev.GetNvLinkVersion(link) })
			if err == nil && (v == 0 || int(v) >= len(nvlinkVersions)) {
				err = errNotReported
			}
			if err != nil {
				return "", err
			}
			return nvlinkVersions[v], nil
		}
	}
	return "", errNotReported
}

func (g gpu) ECC() (bool, error) {
	mode, err := ask(g.l, "nvmlDeviceGetEccMode", func() (nvml.EnableState, nvml.Return) {
		current, _, ret := g.dev.GetEccMode()
		return current, ret
	})
	return mode == nvml.FEATURE_ENABLED, err
}

func (g gpu) ComputeMode() (string, error) {
	mode, err := ask(g.l, "nvmlDeviceGetComputeMode", g.dev.GetComputeMode)
	if err != nil {
		return "", err
	}
	switch mode {
	case nvml.COMPUTEMODE_DEFAULT:
		return "default", nil
	case nvml.COMPUTEMODE_EXCLUSIVE_THREAD:
		return "exclusive_thread", nil
	case nvml.COMPUTEMODE_PROHIBITED:
		return "prohibited", nil
	case nvml.COMPUTEMODE_EXCLUSIVE_PROCESS:
		return "exclusive_process", nil
	}
	return "", fmt.Errorf("unknown compute mode %d", mode)
}

// ComputeProcesses counts under whichever of its names the driver has: go-nvml
// chose one when it loaded the library.
func (g gpu) ComputeProcesses() (int, error) {
	for _, symbol := range []string{"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2", "nvmlDeviceGetComputeRunningProcesses"} {
		if g.l.has(symbol) == nil {
			list, err := ask(g.l, symbol, g.dev.GetComputeRunningProcesses)
			return len(list), err
		}
	}
	return 0, errNotReported
}

func (l library) DeviceByBusID(id string) (device, error) {
	dev, err := ask(l, "nvmlDeviceGetHandleByPciBusId_v2", func() (nvml.Device, nvml.Return) { return l.lib.DeviceGetHandleByPciBusId(id) })
	if err != nil {
		return nil, err
	}
	return gpu{l, dev}, nil
}

// Peer asks for reading and for writing; the first that is refused says why.
func (l library) Peer(a, b int) (string, error) {
	for _, what := range []nvml.GpuP2PCapsIndex{nvml.P2P_CAPS_INDEX_READ, nvml.P2P_CAPS_INDEX_WRITE} {
		status, err := pair(l, "nvmlDeviceGetP2PStatus", a, b, func(one, other nvml.Device) (nvml.GpuP2PStatus, nvml.Return) {
			return one.GetP2PStatus(other, what)
		})
		if err != nil {
			return "", err
		}
		switch status {
		case nvml.P2P_STATUS_OK:
		case nvml.P2P_STATUS_CHIPSET_NOT_SUPPORTED:
			return "the chipset does not support it", nil
		case nvml.P2P_STATUS_GPU_NOT_SUPPORTED:
			return "the GPU does not support it", nil
		case nvml.P2P_STATUS_IOH_TOPOLOGY_NOT_SUPPORTED:
			return "the topology does not support it", nil
		case nvml.P2P_STATUS_DISABLED_BY_REGKEY:
			return "disabled by a setting of the driver", nil
		case nvml.P2P_STATUS_NOT_SUPPORTED:
			return "not supported", nil
		default:
			return "", errNotReported
		}
	}
	return hardware.PeerOK, nil
}
