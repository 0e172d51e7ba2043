package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"decodegap/cmd/internal/exitcode"
	"decodegap/reports/schema"
)

func newSchemaCommand(env *environment) *cobra.Command {
	var opt outputOptions
	cmd := &cobra.Command{
		Use:     "schema KIND",
		GroupID: "info",
		Short:   "The JSON Schema of a document kind",
		Long: `schema prints the JSON Schema (draft 2020-12) of the documents that a command
prints with --json, or of the run record. KIND is one of:

` + schemaKinds() + `
` + exitcode.Help,
		Example: `  decodegap schema run > run.schema.json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("schema: expected one KIND, found %d; known: %s", len(args), strings.Join(schema.Names(), ", "))
			}
			return nil
		},
		ValidArgs: schema.Names(),
		RunE: func(_ *cobra.Command, args []string) error {
			text, err := schema.Get(args[0])
			if err != nil {
				return err
			}
			return opt.write(env, func(w io.Writer) error {
				_, err := w.Write(text)
				return err
			})
		},
	}
	opt.AddFlags(cmd.Flags())
	return cmd
}

// schemaKinds lists the kinds for the help text.
func schemaKinds() string {
	var b strings.Builder
	for _, k := range schema.All {
		fmt.Fprintf(&b, "  %-8s %s\n", k.Name, k.Doc)
	}
	return b.String()
}
