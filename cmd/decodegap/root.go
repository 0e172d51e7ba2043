package main

import (
	"io"
	"os"
	"sync/atomic"

	"github.com/spf13/cobra"

	"decodegap/cmd/internal/exitcode"
	"decodegap/cmd/internal/term"
)

// environment is what a command may touch of the process.
type environment struct {
	stdin          io.Reader
	stdout, stderr io.Writer

	// workbench is what probes run on; nil for this machine.
	workbench *workbench

	// finishes says that the command, interrupted, ends soon by itself and
	// keeps what it has.
	finishes atomic.Bool
}

// bench is the workbench in use.
func (e *environment) bench() *workbench {
	if e.workbench == nil {
		return thisMachine()
	}
	return e.workbench
}

// width is how many columns text on stdout may take.
func (e *environment) width() int { return term.Of(e.stdout, os.Getenv).Width }

// tableWidth is width for tables that lists are made of: into a pipe or file
// nothing is cut, unless COLUMNS says so.
func (e *environment) tableWidth() int {
	screen := term.Of(e.stdout, os.Getenv)
	if !screen.TTY && os.Getenv("COLUMNS") == "" && os.Getenv("DECODEGAP_WIDTH") == "" {
		return wholeTables
	}
	return screen.Width
}

// wholeTables is wider than any table.
const wholeTables = 1000

// version is the tool's version; releases set it at link time.
var version = "0.1.0-dev"

func newRootCommand(env *environment) *cobra.Command {
	root := &cobra.Command{
		Use:   "decodegap",
		Short: "How far is your LLM's decode from what the hardware allows?",
		Long: `decodegap sets a measured decode step against the floor its hardware allows,
says where each millisecond between them goes, and lets CI fail when it grows.

` + exitcode.Help,
		Version:           version,
		SilenceErrors:     true,
		SilenceUsage:      true,
		DisableAutoGenTag: true,
	}
	root.SetIn(env.stdin)
	root.SetOut(env.stdout)
	root.SetErr(env.stderr)
	root.AddGroup(
		&cobra.Group{ID: "main", Title: "The main job:"},
		&cobra.Group{ID: "parts", Title: "Its parts:"},
		&cobra.Group{ID: "info", Title: "Information:"},
	)
	for _, newCommand := range commands {
		root.AddCommand(newCommand(env))
	}
	refuseUnknownTopics(root)
	return root
}

// refuseUnknownTopics makes `help TOPIC` end in an error where there is no such
// topic; cobra's own prints the topic as it came and ends as a success.
func refuseUnknownTopics(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	help, _, err := root.Find([]string{"help"})
	if err != nil || help == root {
		return // a root without commands has no help command
	}
	help.Run = nil
	help.RunE = func(_ *cobra.Command, args []string) error {
		cmd, _, err := root.Find(args)
		if err != nil {
			return err
		}
		cmd.InitDefaultHelpFlag()
		cmd.InitDefaultVersionFlag()
		return cmd.Help()
	}
}

// commands lists every command, in help order within its group.
var commands = []func(*environment) *cobra.Command{
	newDiagnoseCommand,
	newReportCommand,
	newGateCommand,
	newFloorCommand,
	newProbeCommand,
	newTraceCommand,
	newBenchCommand,
	newCompareCommand,
	newMergeCommand,
	newListCommand,
	newSchemaCommand,
	newInventoryCommand,
	newProbeChildCommand,
}
