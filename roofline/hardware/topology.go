package hardware

import (
	"fmt"
	"strings"

	"decodegap/roofline/nearest"
)

// The topologies a group of GPUs may have.
const (
	NVLink     = "nvlink"
	Fabric     = "infinity-fabric"
	PCIeSwitch = "pcie-switch"
	PCIeHost   = "pcie-host"
	TwoSocket  = "two-socket"
)

// Topology names one way GPUs of a machine are wired, with a line of meaning.
type Topology struct {
	Name string
	Doc  string
}

// Topologies lists the names that --topology takes.
func Topologies() []Topology {
	return []Topology{
		{NVLink, "every GPU reaches every other over NVLink, directly or through NVSwitch"},
		{Fabric, "AMD GPUs in a full mesh of Infinity Fabric links"},
		{PCIeSwitch, "PCIe only; traffic turns around in PCIe switches of one socket"},
		{PCIeHost, "PCIe only; traffic crosses the CPU's root ports, one socket"},
		{TwoSocket, "PCIe only; traffic crosses the link between two CPU sockets"},
	}
}

// AssumedTopology is what to say beside a default that nothing confirmed.
const AssumedTopology = "assumption: topology not probed"

// DefaultTopology is how the part is usually wired. Assumed is true where
// another wiring is just as possible and the caller must say AssumedTopology;
// the best case is assumed, so that a floor stays a floor. The name is empty
// for a part that has no neighbours in its machine.
func DefaultTopology(d Device) (name string, assumed bool) {
	switch d.Link {
	case LinkNVLink:
		return NVLink, false
	case LinkFabric:
		return Fabric, false
	case LinkSoC, LinkHost:
		return "", false
	}
	return PCIeSwitch, true
}

// CheckTopology is nil if GPUs of this part can be wired so; otherwise it says
// what they can have, or which name was meant.
func CheckTopology(d Device, topology string) error {
	var known []string
	for _, t := range Topologies() {
		known = append(known, t.Name)
	}
	possible := d.topologies()
	for _, p := range possible {
		if p == topology {
			return nil
		}
	}
	for _, k := range known {
		if k != topology {
			continue
		}
		if len(possible) == 0 {
			return fmt.Errorf("topology %q: %s has no other GPU in its machine", topology, d.Name)
		}
		return fmt.Errorf("topology %q: %s has no such link; it can have %s", topology, d.Name, strings.Join(possible, ", "))
	}
	return fmt.Errorf("topology %q is not known; %s", shorten(topology), nearest.Hint(topology, known))
}

// topologies lists what the part's links allow.
func (d Device) topologies() []string {
	pcie := []string{PCIeSwitch, PCIeHost, TwoSocket}
	switch d.Link {
	case LinkNVLink, LinkBridge:
		return append([]string{NVLink}, pcie...)
	case LinkFabric:
		return append([]string{Fabric}, pcie...)
	case LinkPCIe:
		return pcie
	}
	return nil
}
