package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockstep-workflows/lockstep/client"
)

// wfxctlName is the name under which the program takes the command line of wfxctl.
const wfxctlName = "wfxctl"

// isWfxctl reports whether the program was called as wfxctl.
func isWfxctl(program string) bool {
	return strings.TrimSuffix(filepath.Base(program), ".exe") == wfxctlName
}

// wfxctl is the program when it is called as wfxctl. Its exit codes are 0 and 1.
func wfxctl(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := interruptible()
	defer stop()
	a := &app{in: stdin, out: stdout, err: stderr}
	root := a.wfxctlCommand()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	var f *failure
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &f) && f.shown:
	default:
		fmt.Fprintf(stderr, "Error: %s\n", plain(wfxctlMessage(err)))
	}
	return exitError
}

func wfxctlMessage(err error) string {
	var f *failure
	if errors.As(err, &f) && f.hint != "" {
		return f.detail + "; " + f.hint
	}
	return err.Error()
}

// wfxctlAlias is `lockstep wfxctl …`, for those who cannot make a link.
func (a *app) wfxctlAlias() *cobra.Command {
	return &cobra.Command{
		Use: "wfxctl", Short: "Take the command line of wfxctl", Hidden: true, DisableFlagParsing: true,
		RunE: func(_ *cobra.Command, args []string) error {
			if code := wfxctl(args, a.in, a.out, a.err); code != exitOK {
				return shown(code)
			}
			return nil
		},
	}
}

// wfxctlCommand has the commands and the flags of wfxctl 0.6.
func (a *app) wfxctlCommand() *cobra.Command {
	c := &ctl{app: a}
	root := &cobra.Command{
		Use: wfxctlName, Short: "The command line of wfxctl, by Lockstep",
		Long: "This is Lockstep, called as wfxctl: it takes the command line of wfxctl 0.6, so that scripts go on working. \"lockstep job --help\" shows\n" +
			"what else there is.",
		Version: readVersion().Version, SilenceErrors: true, SilenceUsage: true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return c.settings(cmd) },
	}
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.SetFlagErrorFunc(c.flagError)
	c.globalFlags(root)
	root.AddCommand(c.jobGroup(), c.workflowGroup(), c.health(), c.version(), c.man())
	return root
}

func (c *ctl) globalFlags(root *cobra.Command) {
	f := root.PersistentFlags()
	f.StringSlice("config", defaultWfxFiles(), "YAML `files` with settings named like these flags; of several the last one wins")
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
	f.Bool("raw", false, "with --filter: print texts without quotes")
	f.String("log-level", "info", "accepted for the sake of scripts; there is no log")
}

// otherFlags are flags of other versions of wfxctl, with what to do instead.
var otherFlags = map[string]string{
	"host":   "this is the command line of wfxctl 0.6: --client-host and --client-port name the side of devices, --mgmt-host and --mgmt-port that of operators",
	"port":   "this is the command line of wfxctl 0.6: --client-port is that of devices, --mgmt-port that of operators",
	"header": "this is the command line of wfxctl 0.6, which sends no headers of your own; \"lockstep job\" can send a token",
	"format": "this is the command line of wfxctl 0.6, which answers in JSON; --filter takes a part of it",
}

// flagError tells of a flag that is not there; if the command is not there either, of that.
func (c *ctl) flagError(cmd *cobra.Command, err error) error {
	if args := cmd.Flags().Args(); cmd.HasSubCommands() && len(args) > 0 {
		return c.noSuchCommand(cmd, args)
	}
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) && otherFlags[unknown.GetSpecifiedName()] != "" {
		return fmt.Errorf("%w; %s", err, otherFlags[unknown.GetSpecifiedName()])
	}
	return err
}

// group makes a command of wfxctl that has others below it.
func (c *ctl) group(use, short string, below ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use: use, Short: short, Args: c.noSuchCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(below...)
	return cmd
}

// job makes a command about one job, which --id names.
func (c *ctl) job(use, short string, run func(cmd *cobra.Command, id string, args []string) error) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short}
	id := cmd.Flags().String("id", "", "the `id` of the job")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *id == "" {
			return errors.New("id missing: give --id")
		}
		return run(cmd, *id, args)
	}
	return cmd
}

// answer makes a command about one job that is a single request without arguments.
func (c *ctl) answer(use, short string, side side, call client.JobsCall, path ...string) *cobra.Command {
	return c.job(use, short, func(cmd *cobra.Command, id string, _ []string) error {
		call.Path = append([]string{"jobs", id}, path...)
		return c.send(cmd, side, call)
	})
}

func (c *ctl) man() *cobra.Command {
	return &cobra.Command{
		Use: "man", Short: "Not part of Lockstep", Hidden: true, DisableFlagParsing: true,
		RunE: func(*cobra.Command, []string) error {
			return errors.New("there are no man pages; every command explains itself with --help")
		},
	}
}
