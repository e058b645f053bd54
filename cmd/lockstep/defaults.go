package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// strict makes the commands that the library brings, help and completion, refuse
// arguments that they do not know, as the others do.
func (a *app) strict(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "help":
			cmd.Args = func(_ *cobra.Command, args []string) error {
				of, rest, err := root.Find(args)
				if err == nil && len(rest) == 0 {
					return nil
				}
				return a.noSuchCommand(of, rest)
			}
		case "completion":
			cmd.Args = a.noSuchCommand
			cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
			for _, shell := range cmd.Commands() {
				shell.Args = atMost(0)
			}
		}
	}
}

// dialectFlag adds --dialect.
func (a *app) dialectFlag(cmd *cobra.Command, name *string) {
	names := a.registry().Names()
	cmd.Flags().Var(&dialectName{to: name, known: names}, "dialect", "the `dialect` of the definitions, instead of finding it out")
	// The only error is a flag that does not exist.
	_ = cmd.RegisterFlagCompletionFunc("dialect", cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp))
}

// dialectName is a flag that takes the name of a dialect.
type dialectName struct {
	to    *string
	known []string
}

func (n *dialectName) String() string { return "" }
func (n *dialectName) Type() string   { return "dialect" }

func (n *dialectName) Set(value string) error {
	if slices.Contains(n.known, value) {
		*n.to = value
		return nil
	}
	if near := dialect.Suggest(value, n.known); near != "" {
		return fmt.Errorf("there is no dialect %q; did you mean %q?", value, near)
	}
	return fmt.Errorf("there is no dialect %q; there is %s", value, strings.Join(n.known, ", "))
}
