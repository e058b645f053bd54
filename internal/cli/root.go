package cli

import (
	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/internal/version"
)

// Root makes the root command of the program.
func (a *App) Root(commands ...*cobra.Command) *cobra.Command {
	root := &cobra.Command{
		Use:   "lockstep",
		Short: "Lockstep runs declarative workflows",
		Example: `  lockstep run examples/v10/greet.yaml --input '{"name":"Ada"}'
  lockstep test examples/
  lockstep validate order.yaml
  lockstep dev examples/v10
  lockstep inst start greet --input '{"name":"Ada"}' --wait`,
		Args:          a.NoSuchCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       version.Read().String(),
	}
	root.SetVersionTemplate("lockstep {{.Version}}\n")
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	root.SetFlagErrorFunc(flagError)
	root.SetHelpTemplate(helpTemplate)
	root.SetUsageTemplate(usageTemplate)
	root.AddCommand(commands...)
	quiet := root.PersistentFlags().Bool("quiet", false, "print no progress and no hints, only results and errors")
	root.PersistentPreRun = func(*cobra.Command, []string) {
		if *quiet {
			a.Quiet()
		}
	}
	root.InitDefaultHelpFlag()
	root.InitDefaultVersionFlag()
	a.strict(root)
	return root
}

// Help begins with examples: most people look for one to copy.
const (
	helpTemplate = `{{with (or .Long .Short)}}{{. | trimTrailingWhitespaces}}

{{end}}{{if .HasExample}}Examples:
{{.Example}}

{{end}}{{.UsageString}}`
	usageTemplate = `Usage:
  {{if .HasAvailableSubCommands}}{{.CommandPath}} COMMAND{{else}}{{.UseLine}}{{end}}{{if .HasAvailableSubCommands}}

Commands:{{range .Commands}}{{if (or .IsAvailableCommand (eq .Name "help"))}}
  {{rpad .Name .NamePadding }} {{.Short}}{{end}}{{end}}{{end}}{{if .HasAvailableLocalFlags}}

Flags:
{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}{{end}}{{if .HasAvailableInheritedFlags}}

Common flags:
{{.InheritedFlags.FlagUsages | trimTrailingWhitespaces}}{{end}}{{if .HasAvailableSubCommands}}

"{{.CommandPath}} COMMAND --help" shows more about a command.{{end}}
`
)
