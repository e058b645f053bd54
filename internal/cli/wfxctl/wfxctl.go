package wfxctl

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/version"
)

// name is the program name for the command line of wfxctl.
const name = "wfxctl"

// Called reports whether the program was called as wfxctl.
func Called(program string) bool {
	return strings.TrimSuffix(filepath.Base(program), ".exe") == name
}

// Main is the program when it is called as wfxctl. Its exit codes are 0 and 1.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := cli.Interruptible()
	defer stop()
	a := &cli.App{In: stdin, Out: stdout, Err: stderr}
	program := root(a)
	program.SetArgs(args)
	err := program.ExecuteContext(ctx)
	var f *cli.Failure
	switch {
	case err == nil:
		return cli.ExitOK
	case errors.As(err, &f) && f.Shown:
	default:
		fmt.Fprintf(stderr, "Error: %s\n", cli.Plain(message(err)))
	}
	return cli.ExitError
}

func message(err error) string {
	if f, ok := errors.AsType[*cli.Failure](err); ok && f.Hint != "" {
		return f.Detail + "; " + f.Hint
	}
	return err.Error()
}

// Alias is `lockstep wfxctl …`, where a link is not possible.
func Alias(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use: "wfxctl", Short: "Use the command line of wfxctl", Hidden: true, DisableFlagParsing: true,
		RunE: func(_ *cobra.Command, args []string) error {
			if code := Main(args, a.In, a.Out, a.Err); code != cli.ExitOK {
				return cli.Shown(code)
			}
			return nil
		},
	}
}

// root has the commands and the flags of wfxctl 0.6.
func root(a *cli.App) *cobra.Command {
	c := &ctl{App: a}
	root := &cobra.Command{
		Use: name, Short: "The command line of wfxctl, by Lockstep",
		Long: "This is Lockstep, called as wfxctl. It has the command line of wfxctl 0.6, so that scripts keep working. \"lockstep job\n" +
			"--help\" shows more commands.",
		Version: version.Read().Version, SilenceErrors: true, SilenceUsage: true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return c.settings(cmd) },
	}
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	root.SetFlagErrorFunc(c.flagError)
	c.globalFlags(root)
	root.AddCommand(
		c.group("job", "Work with jobs", jobCommands, c.events()),
		c.group("workflow", "Work with workflows", workflowCommands, c.validate()),
		c.health(), c.version(), man())
	return root
}

func (c *ctl) globalFlags(root *cobra.Command) {
	f := root.PersistentFlags()
	f.StringSlice("config", defaultWfxFiles(), "YAML `files` with settings named like these flags; the last one wins")
	f.String("client-host", "localhost", "host of the south-bound side, for devices")
	f.Int("client-port", 8080, "its port")
	f.String("client-tls-host", "localhost", "its host for TLS")
	f.Int("client-tls-port", 8443, "its port for TLS")
	f.String("client-unix-socket", "", "its unix socket, instead of a host and a port")
	f.String("mgmt-host", "localhost", "host of the north-bound side, for operators")
	f.Int("mgmt-port", 8081, "its port")
	f.String("mgmt-tls-host", "localhost", "its host for TLS")
	f.Int("mgmt-tls-port", 8444, "its port for TLS")
	f.String("mgmt-unix-socket", "", "its unix socket, instead of a host and a port")
	f.String("tls-ca", "", "a PEM `file` with certificates to trust besides those of the system")
	f.Bool("enable-tls", false, "use TLS")
	f.String("filter", "", "a jq `expression` that is applied to the answer, such as .id")
	f.Bool("raw", false, "with --filter: print strings without quotes")
	f.String("log-level", "info", "accepted for compatibility; there is no log")
}

// otherFlags are flags of other versions of wfxctl, with their replacement.
var otherFlags = map[string]string{
	"host":   "this is the command line of wfxctl 0.6: use --client-host and --client-port for devices, --mgmt-host and --mgmt-port for operators",
	"port":   "this is the command line of wfxctl 0.6: use --client-port for devices, --mgmt-port for operators",
	"header": "this is the command line of wfxctl 0.6, which cannot send headers; \"lockstep job\" can send a token",
	"format": "this is the command line of wfxctl 0.6, which prints JSON; --filter selects a part of it",
}

// flagError is the error of an unknown flag, or of an unknown command before it.
func (c *ctl) flagError(cmd *cobra.Command, err error) error {
	if args := cmd.Flags().Args(); cmd.HasSubCommands() && len(args) > 0 {
		return c.NoSuchCommand(cmd, args)
	}
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok && otherFlags[unknown.GetSpecifiedName()] != "" {
		return fmt.Errorf("%w; %s", err, otherFlags[unknown.GetSpecifiedName()])
	}
	return err
}

// group makes a command with subcommands.
func (c *ctl) group(use, short string, table []command, more ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short, Args: c.NoSuchCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	for _, row := range table {
		cmd.AddCommand(row.command(c))
	}
	cmd.AddCommand(more...)
	return cmd
}

func man() *cobra.Command {
	return &cobra.Command{
		Use: "man", Short: "Not part of Lockstep", Hidden: true, DisableFlagParsing: true,
		RunE: func(*cobra.Command, []string) error {
			return errors.New("there are no man pages; every command explains itself with --help")
		},
	}
}
