package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"decodegap/cmd/internal/exitcode"
	"decodegap/cmd/internal/term"
	"decodegap/reports"
	"decodegap/roofline/nearest"
)

// listing is one kind of thing the program knows: columns for people, items
// with all their facts for machines.
type listing struct {
	Kind    string
	Doc     string
	Columns []term.Column
	Rows    func(items []map[string]any) [][]string
	Items   func() ([]map[string]any, error)

	// Machine is what the machine at hand has of the kind; nil for nothing.
	Machine func(context.Context, *environment) *reports.Machine
}

// listings holds every kind, in help order.
var listings = []listing{listModels, listHardware, listProbes, listFormats, listChecks, listEngines, listComponents, listRecords}

type listOptions struct {
	outputOptions
}

func (o *listOptions) AddFlags(f *pflag.FlagSet) { o.outputOptions.AddFlags(f) }

func newListCommand(env *environment) *cobra.Command {
	var opt listOptions
	var kinds, lines []string
	for _, l := range listings {
		kinds = append(kinds, l.Kind)
		lines = append(lines, fmt.Sprintf("  %-11s %s", l.Kind, l.Doc))
	}
	cmd := &cobra.Command{
		Use:       "list KIND",
		GroupID:   "info",
		Short:     "What the program knows: models, hardware, formats, …",
		Long:      "list prints one of the program's catalogues:\n\n" + strings.Join(lines, "\n") + "\n\n" + exitcode.Help,
		Example:   "  decodegap list models\n  decodegap list hardware --json",
		ValidArgs: kinds,
		Args:      cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, l := range listings {
				if l.Kind == args[0] {
					return runList(cmd.Context(), env, l, opt)
				}
			}
			return fmt.Errorf("unknown kind %q: %s", args[0], nearest.Hint(args[0], kinds))
		},
	}
	opt.AddFlags(cmd.Flags())
	return cmd
}

func runList(ctx context.Context, env *environment, l listing, opt listOptions) error {
	items, err := l.Items()
	if err != nil {
		return err
	}
	var machine *reports.Machine
	if l.Machine != nil {
		machine = l.Machine(ctx, env)
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return opt.write(env, func(w io.Writer) error {
		if opt.json {
			return writeJSON(w, reports.ListDocument{Schema: reports.ListSchema, Kind: l.Kind, Items: items, Machine: machine})
		}
		return machineTable(w, machine, term.Table{Columns: l.Columns, Rows: l.Rows(items)}, env.tableWidth())
	})
}

// field is one of an item as people read it; absent is a dash.
func field(item map[string]any, name string) string {
	switch v := item[name].(type) {
	case nil:
		return "–"
	case float64:
		return fmt.Sprintf("%.4g", v)
	case string:
		if v == "" {
			return "–"
		}
		return v
	default:
		return fmt.Sprint(v)
	}
}

// columns prints the named fields of each item in turn.
func columns(fields ...string) func([]map[string]any) [][]string {
	return func(items []map[string]any) [][]string {
		var rows [][]string
		for _, it := range items {
			row := make([]string, len(fields))
			for i, f := range fields {
				row[i] = field(it, f)
			}
			rows = append(rows, row)
		}
		return rows
	}
}
