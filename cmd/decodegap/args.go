package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

// oneModel accepts exactly one MODEL.
func oneModel(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("%s needs one MODEL, got %d: a checkpoint folder, a config.json, a .safetensors or .gguf file, or a name from `decodegap list models`", cmd.Name(), len(args))
	}
	return nil
}
