// Command lockstep runs, tests and validates workflow definitions.
package main

import (
	"io"
	"log"
	"os"
	_ "time/tzdata" // for machines and images without time zones

	"github.com/spf13/cobra"
	_ "golang.org/x/crypto/x509roots/fallback" // for those without root certificates

	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/cli/backups"
	"github.com/lockstep-workflows/lockstep/internal/cli/def"
	"github.com/lockstep-workflows/lockstep/internal/cli/event"
	"github.com/lockstep-workflows/lockstep/internal/cli/imports"
	"github.com/lockstep-workflows/lockstep/internal/cli/inst"
	"github.com/lockstep-workflows/lockstep/internal/cli/job"
	"github.com/lockstep-workflows/lockstep/internal/cli/local"
	"github.com/lockstep-workflows/lockstep/internal/cli/remote"
	"github.com/lockstep-workflows/lockstep/internal/cli/run"
	"github.com/lockstep-workflows/lockstep/internal/cli/schedule"
	"github.com/lockstep-workflows/lockstep/internal/cli/serve"
	"github.com/lockstep-workflows/lockstep/internal/cli/simclient"
	"github.com/lockstep-workflows/lockstep/internal/cli/wfxctl"
	"github.com/lockstep-workflows/lockstep/internal/effect/process/javascript"
)

func main() {
	javascript.Main()
	log.SetOutput(io.Discard) // net/http logs there what no user can act on
	if wfxctl.Called(os.Args[0]) {
		os.Exit(wfxctl.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(lockstep(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// lockstep is the program: configure, run, return the exit code.
func lockstep(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := cli.Interruptible()
	defer stop()
	app := &cli.App{In: stdin, Out: stdout, Err: stderr, Problems: cli.WantsJSON(args), Args: args}
	root := command(app)
	root.SetArgs(args)
	return app.Exit(cli.BySignal(ctx, root.ExecuteContext(ctx)))
}

func command(a *cli.App) *cobra.Command {
	return a.Root(
		run.Command(a), local.TestCommand(a), local.ValidateCommand(a), local.GraphCommand(a), local.ExplainCommand(a),
		local.InitCommand(a), local.SchemaCommand(a), local.FmtCommand(a), local.ConvertCommand(a), a.VersionCommand(),
		serve.Command(a), serve.DevCommand(a), def.Command(a), def.FunctionsCommand(a), inst.Command(a), schedule.Command(a), job.Command(a), simclient.Command(a),
		event.Command(a), remote.ContextCommand(a), remote.NodeCommand(a), remote.AuditCommand(a), serve.DoctorCommand(a), remote.OpenCommand(a),
		serve.TokenCommand(a), imports.Command(a), backups.BackupCommand(a), backups.RestoreCommand(a), backups.ResumeCommand(a), a.ManCommand(), wfxctl.Alias(a))
}
