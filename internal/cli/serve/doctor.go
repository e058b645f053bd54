package serve

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/cli/remote"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/stores"
)

// DoctorCommand is `lockstep doctor`.
func DoctorCommand(a *cli.App) *cobra.Command {
	var server remote.Flags
	var storeText, namespace string
	cmd := &cobra.Command{
		Use: "doctor", Short: "Check a store for damage, or a server's health", Args: cli.AtMost(0),
		Long: "Doctor with --store reads everything in a store and reports what cannot be read or is inconsistent; no server may use an\n" +
			"SQLite store meanwhile. Without --store it checks that a server is ready. Exit code 1: there is a problem.",
		Example: `  lockstep doctor --store sqlite:.lockstep/lockstep.db
  lockstep doctor --ctx prod`,
	}
	server.Add(cmd)
	output := cli.ListFlag(cmd)
	cmd.Flags().StringVar(&storeText, "store", "", "the store to check: sqlite:`FILE` or postgres://…")
	cmd.Flags().StringVar(&namespace, "namespace", "default", "the namespace of the store to check")
	ask := remote.Run(a, &server, func(r remote.Server, _ []string) error {
		if err := r.Healthz(r.Ctx); err != nil {
			return err
		}
		if err := r.Readyz(r.Ctx); err != nil {
			return err
		}
		stats, err := r.GetStats(r.Ctx)
		if err != nil {
			return err
		}
		if !a.Problems {
			fmt.Fprintf(a.Err, "the server at %s is ready; it has %s of %s\n", r.URL(), cli.Plural(int(stats.Total), "instance"), cli.Plural(len(stats.Definitions), "definition"))
		}
		metrics, err := r.Metrics(r.Ctx)
		if err != nil {
			return err
		}
		return writeProblems(a, output, receivers(string(metrics)))
	})
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if storeText == "" {
			return ask(cmd, args)
		}
		address, err := parseStore(storeText)
		switch {
		case err != nil:
			return err
		case !address.Exists():
			return cli.NotFoundf("there is no store %s", address)
		}
		return examine(a, cmd, address, namespace, output)
	}
	return cmd
}

// damage is one problem of a store.
type damage struct {
	Where string `json:"where"`
	Text  string `json:"text"`
}

func examine(a *cli.App, cmd *cobra.Command, address stores.Address, namespace string, format *cli.Format) error {
	s, err := address.Open(cmd.Context(), stores.Options{Namespace: namespace, KeepSchema: true, Restored: true})
	if err != nil {
		return storeFailure(address, err)
	}
	problems, err := s.Check(cmd.Context())
	if closed := s.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("check the store %s: %w", address, err)
	}
	if !a.Problems {
		fmt.Fprintf(a.Err, "%s: %s\n", address, cli.Plural(len(problems), "problem"))
	}
	return writeProblems(a, format, problems)
}

// writeProblems writes what is wrong, and fails if something is.
func writeProblems(a *cli.App, format *cli.Format, problems []store.Problem) error {
	var items []damage
	for _, p := range problems {
		items = append(items, damage{p.Where, p.Text})
	}
	err := cli.Listing[damage]{
		Columns: []string{"WHERE", "WHAT"},
		Row:     func(d damage) []string { return []string{d.Where, d.Text} },
		Name:    func(d damage) string { return d.Where },
	}.Write(a, format, items)
	if err == nil && len(problems) > 0 {
		err = cli.Shown(cli.ExitError)
	}
	return err
}
