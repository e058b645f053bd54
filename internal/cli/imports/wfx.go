package imports

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/stores"
	"github.com/lockstep-workflows/lockstep/internal/wfxdb"
)

// Command is `lockstep import`.
func Command(a *cli.App) *cobra.Command {
	cmd := a.Group("import", "Bring what another system has into a store", `  lockstep import wfx sqlite:wfx.db --store sqlite:/var/lib/lockstep/lockstep.db`)
	cmd.AddCommand(wfxCommand(a))
	return cmd
}

// wfxFlags are the flags of `lockstep import wfx`.
type wfxFlags struct {
	store, namespace string
	dry              bool
}

func wfxCommand(a *cli.App) *cobra.Command {
	var flags wfxFlags
	cmd := &cobra.Command{
		Use: "wfx SOURCE", Short: "Import the workflows and jobs of a wfx database", Args: cli.Exactly("SOURCE"),
		Long: "Wfx reads the database of a wfx server, which may be running, and stores its workflows and jobs in a store: ids, clients, states,\n" +
			"definitions, tags, times and history stay as they are. SOURCE is sqlite:FILE or postgres://…; MySQL cannot be read.\n" +
			"It can be repeated: jobs that changed in wfx since then are updated, and jobs that changed here stay as they are. So import\n" +
			"once while wfx runs, stop wfx, import the rest, start Lockstep, and send the devices there.\n" +
			"No server may use an SQLite store meanwhile. What is left out or kept is listed with its reason. What is left out, and a\n" +
			"job that changed both here and in wfx, makes the exit code 1.",
		Example: `  lockstep import wfx sqlite:wfx.db --store sqlite:/var/lib/lockstep/lockstep.db --dry-run
  lockstep import wfx postgres://wfx@db.example/wfx --store postgres://lockstep@db.example/lockstep`,
	}
	output := cli.OutputFlag(cmd, "format", "text", "json")
	cmd.Flags().StringVar(&flags.store, "store", "", "the store to import into: sqlite:`FILE` or postgres://…")
	cmd.Flags().StringVar(&flags.namespace, "namespace", "default", "the namespace of the store")
	cmd.Flags().BoolVar(&flags.dry, "dry-run", false, "only say what would happen")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if flags.store == "" {
			return cli.Usagef("lockstep import wfx needs --store, the store to import into")
		}
		return importWFX(a, cmd.Context(), args[0], &flags, output.Value == "json")
	}
	return cmd
}

func importWFX(a *cli.App, ctx context.Context, source string, flags *wfxFlags, asJSON bool) (err error) {
	from, err := openSource(ctx, source)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	target, err := openTarget(ctx, flags)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, target.close()) }()
	r := &report{app: a, json: asJSON, DryRun: flags.dry}
	i := importer{target: target, report: r, dry: flags.dry, workflows: map[string]string{}}
	if err := from.Workflows(ctx, func(w wfxdb.Workflow) error { return i.workflow(ctx, w) }); err != nil {
		return fmt.Errorf("import workflows: %w", err)
	}
	if err := from.Jobs(ctx, func(j wfxdb.Job) error { return i.job(ctx, j) }); err != nil {
		return fmt.Errorf("import jobs: %w", err)
	}
	return r.end()
}

// openSource opens the database of wfx. No message repeats the address: it may have a password.
func openSource(ctx context.Context, source string) (*wfxdb.DB, error) {
	if strings.HasPrefix(source, "mysql:") {
		return nil, cli.Usagef("a MySQL database of wfx cannot be read").
			WithHint("SQLite and PostgreSQL can; or create the jobs anew with \"lockstep job create\"")
	}
	at, err := parse("the address of wfx's database", source)
	if err != nil {
		return nil, err
	}
	var db *wfxdb.DB
	switch {
	case at.Kind == stores.Postgres:
		db, err = wfxdb.OpenPostgres(ctx, at.Path)
	case at.Kind == stores.Memory:
		return nil, cli.Usagef("the address of wfx's database must be sqlite:FILE or postgres://…")
	case !at.Exists():
		return nil, cli.NotFoundf("there is no database %s", at)
	default:
		db, err = wfxdb.OpenSQLite(at.Path)
	}
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", at, at.Redact(err))
	}
	return db, nil
}

// parse reads the address of a database.
func parse(name, text string) (stores.Address, error) {
	at, err := stores.Parse(text)
	if bad, ok := errors.AsType[*stores.AddressError](err); ok {
		f := cli.Usagef("%s %s", name, bad.Msg)
		f.Hint = bad.Hint
		return at, f
	}
	return at, err
}
