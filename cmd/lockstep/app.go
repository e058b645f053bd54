package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw01"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw05"
	"github.com/lockstep-workflows/lockstep/internal/dialect/wfx"
)

// app is what every command shares. Data goes to out; progress, hints and errors
// go to err.
type app struct {
	in       io.Reader
	out, err io.Writer
	problems bool // errors are one problem+json object
}

func (a *app) command() *cobra.Command {
	root := &cobra.Command{
		Use:   "lockstep",
		Short: "Lockstep runs declarative workflows",
		Example: `  lockstep run examples/hello.yaml --input '{"name":"Ada"}'
  lockstep test examples/
  lockstep validate order.yaml
  lockstep dev examples/
  lockstep inst start hello --input '{"name":"Ada"}' --wait`,
		Args:          a.noSuchCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.SetFlagErrorFunc(flagError)
	root.SetHelpTemplate(helpTemplate)
	root.SetUsageTemplate(usageTemplate)
	root.AddCommand(a.runCommand(), a.testCommand(), a.validateCommand(), a.graphCommand(), a.explainCommand(),
		a.schemaCommand(), a.fmtCommand(), a.convertCommand(), a.versionCommand(),
		a.serveCommand(), a.devCommand(), a.defCommand(), a.instCommand(), a.jobCommand(), a.clientCommand(), a.eventCommand(), a.contextCommand(), a.nodeCommand(),
		a.doctorCommand(), a.openCommand(), a.tokenCommand(), a.wfxctlAlias())
	root.InitDefaultHelpFlag()
	a.strict(root)
	return root
}

// Help leads with examples: most people look for one to copy.
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

Which server:
{{.InheritedFlags.FlagUsages | trimTrailingWhitespaces}}{{end}}{{if .HasAvailableSubCommands}}

"{{.CommandPath}} COMMAND --help" tells more about a command.{{end}}
`
)

// registry holds the dialects this program knows, in the order in which a document is
// shown to them (SEMANTICS §Detection).
func (a *app) registry() *dialect.Registry {
	return dialect.NewRegistry(append([]dialect.FrontEnd{wfx.FrontEnd{}}, append(sw01.FrontEnds(), sw05.FrontEnd{})...)...)
}

// color reports whether w is a terminal that wants colours.
func color(w io.Writer) bool {
	return isTerminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// render writes a diagnostic, in colours where w wants them.
func render(w io.Writer, doc *dialect.Document, d dialect.Diagnostic) error {
	if color(w) {
		return dialect.RenderColor(w, doc, d)
	}
	return dialect.Render(w, doc, d)
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// plain shows what a terminal might obey, in text from elsewhere, as dots.
func plain(text string) string { return dialect.Plain(text) }

func (a *app) noSuchCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	f := usagef("there is no command %q", args[0])
	f.hint = fmt.Sprintf("%q lists the commands", cmd.CommandPath()+" --help")
	if near := dialect.Suggest(args[0], names); near != "" {
		f.hint = fmt.Sprintf("did you mean %q?", near)
	}
	return f
}

// atLeastOne asks for arguments and says which.
func atLeastOne(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return nil
		}
		f := usagef("%s needs %s", cmd.CommandPath(), what)
		f.hint = fmt.Sprintf("%q shows examples", cmd.CommandPath()+" --help")
		return f
	}
}

func atMost(n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) <= n {
			return nil
		}
		arg := args[n]
		if i := strings.IndexAny(arg, ":=@"); i >= 0 { // a part of an address, with or without a password
			arg = arg[:i+1] + "…"
		}
		return usagef("%s takes no argument %q", cmd.CommandPath(), arg)
	}
}

func flagError(cmd *cobra.Command, err error) error {
	f := usagef("%v", err)
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return f
	}
	name := unknown.GetSpecifiedName()
	if unknown.GetSpecifiedShortnames() != "" {
		f.detail = fmt.Sprintf("%s has no flag -%s", cmd.CommandPath(), name)
	} else {
		f.detail = fmt.Sprintf("%s has no flag --%s", cmd.CommandPath(), name)
	}
	var names []string
	cmd.Flags().VisitAll(func(flag *pflag.Flag) { names = append(names, flag.Name) })
	f.hint = fmt.Sprintf("%q lists the flags", cmd.CommandPath()+" --help")
	if near := dialect.Suggest(name, names); near != "" {
		f.hint = fmt.Sprintf("did you mean --%s?", near)
	}
	return f
}

// choice is a flag that takes one of a few words.
type choice struct {
	value   string
	allowed []string
	also    map[string]string // words that others use for them
}

func (c *choice) String() string { return c.value }
func (c *choice) Type() string   { return strings.Join(c.allowed, "|") }

func (c *choice) Set(value string) error {
	if ours, ok := c.also[value]; ok {
		value = ours
	}
	for _, word := range c.allowed {
		if word == value {
			c.value = value
			return nil
		}
	}
	hint := ""
	if near := dialect.Suggest(value, c.allowed); near != "" {
		hint = fmt.Sprintf("; did you mean %q?", near)
	}
	return fmt.Errorf("must be one of %s%s", strings.Join(c.allowed, ", "), hint)
}

// outputFlag adds -o with the formats a command has, the first being the default.
func outputFlag(cmd *cobra.Command, usage string, formats ...string) *choice {
	c := &choice{value: formats[0], allowed: formats}
	cmd.Flags().VarP(c, "output", "o", usage)
	// The only error is a flag that does not exist.
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
	return c
}
