package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"decodegap/cmd/internal/exitcode"
	"decodegap/roofline/hardware"
	"decodegap/roofline/hardware/nvml"
)

// noGPUError says that there is no GPU to find, and no driver to ask for one.
type noGPUError struct{ error }

func (e noGPUError) Unwrap() error { return e.error }

// detectDeadline bounds the driver's answer; a wedged driver never gives one.
const detectDeadline = 20 * time.Second

// detect asks the driver which GPUs this machine has, in a child process, so
// that a driver that crashes or hangs costs a message and not the run.
func detect(ctx context.Context, env *environment) (*hardware.Inventory, hardware.Device, error) {
	inv, err := inventory(ctx)
	if err == nil && len(inv.GPUs) == 0 {
		err = errors.New("the driver reports no GPU")
	}
	if err != nil {
		return nil, hardware.Device{}, noGPUError{fmt.Errorf("--hardware auto: %w; name one with --hardware (`decodegap list hardware`), such as --hardware \"H200 SXM\"", err)}
	}
	dev, err := hardware.Match(inv.GPUs[0])
	if err != nil {
		return nil, hardware.Device{}, fmt.Errorf("--hardware auto: %w; name the nearest with --hardware and give --bandwidth", err)
	}
	for _, g := range inv.GPUs[1:] {
		if g.Name != inv.GPUs[0].Name {
			return nil, hardware.Device{}, fmt.Errorf("--hardware auto: this machine has a %s and a %s; name the one in use with --hardware", inv.GPUs[0].Name, g.Name)
		}
	}
	return inv, dev, nil
}

func inventory(ctx context.Context) (*hardware.Inventory, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("cannot find this program to ask the driver: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, detectDeadline)
	defer cancel()
	cmd := exec.CommandContext(ctx, exe, inventoryName)
	cmd.WaitDelay = time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("the driver did not answer within %s", detectDeadline)
		}
		return nil, errors.New(firstLine(stderr.String(), "the driver could not be asked: "+err.Error()))
	}
	inv, err := hardware.ReadInventory(&stdout)
	if err != nil {
		return nil, err
	}
	return &inv, nil
}

func firstLine(s, fallback string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	line = strings.TrimPrefix(line, "decodegap: ")
	if line == "" {
		return fallback
	}
	return hardware.Printable(line)
}

// inventoryName is the hidden command the child runs.
const inventoryName = "driver-inventory"

// newInventoryCommand is the child side: it asks the driver and prints JSON.
func newInventoryCommand(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:    inventoryName,
		Short:  "print the driver's inventory as JSON (used by this program itself)",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			inv, err := nvml.Inventory(cmd.Context())
			if err != nil {
				return exitcode.With(exitcode.Unavailable, err)
			}
			return writeJSON(env.stdout, inv)
		},
	}
}
