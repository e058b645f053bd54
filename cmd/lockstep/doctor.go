package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func (a *app) doctorCommand() *cobra.Command {
	var server remoteFlags
	var storeText, namespace string
	cmd := &cobra.Command{
		Use: "doctor", Short: "Look for damage in a store, or ask a server how it is", Args: atMost(0),
		Long: "Doctor with --store reads everything that a store holds and tells what cannot be read and what does not fit together; a server on\n" +
			"SQLite must not run meanwhile. Without it, it asks the server whether it can serve. Exit code 1 says that something is wrong.",
		Example: `  lockstep doctor --store sqlite:.lockstep/lockstep.db
  lockstep doctor --ctx prod`,
	}
	server.add(cmd)
	output := listFlag(cmd)
	cmd.Flags().StringVar(&storeText, "store", "", "the store to look at: sqlite:`FILE` or postgres://…")
	cmd.Flags().StringVar(&namespace, "namespace", "default", "the part of the store to look at")
	ask := a.remotely(&server, func(r remote, _ []string) error {
		if err := r.Healthz(r.ctx); err != nil {
			return err
		}
		if err := r.Readyz(r.ctx); err != nil {
			return err
		}
		stats, err := r.GetStats(r.ctx)
		if err != nil {
			return err
		}
		fmt.Fprintf(a.err, "the server at %s is ready; it has %s of %s\n", r.URL(), plural(int(stats.Total), "instance"), plural(len(stats.Definitions), "definition"))
		return nil
	})
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if storeText == "" {
			return ask(cmd, args)
		}
		spec, err := parseStore(storeText)
		switch {
		case err != nil:
			return err
		case !spec.exists():
			return &failure{exit: exitNotFound, code: "not-found", title: "Not found", detail: fmt.Sprintf("there is no store %s", spec)}
		}
		spec.keep = true // who only looks changes nothing
		return a.examine(cmd, spec, namespace, output.value)
	}
	return cmd
}

// damage is one thing that is wrong with a store.
type damage struct {
	Where string `json:"where"`
	Text  string `json:"text"`
}

func (a *app) examine(cmd *cobra.Command, spec storeSpec, namespace, format string) error {
	s, err := spec.open(namespace, nil)
	if err != nil {
		return storeFailure(spec, err)
	}
	problems, err := s.Check(cmd.Context())
	if closed := s.close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("check the store %s: %w", spec, err)
	}
	rows := listing[damage]{
		columns: []string{"WHERE", "WHAT"},
		row:     func(d damage) []string { return []string{d.Where, d.Text} },
		name:    func(d damage) string { return d.Where },
	}
	for _, p := range problems {
		rows.items = append(rows.items, damage{p.Where, p.Text})
	}
	if !a.problems {
		fmt.Fprintf(a.err, "%s: %s\n", spec, plural(len(problems), "problem"))
	}
	if err := rows.write(a, format); err != nil {
		return err
	}
	if len(problems) > 0 {
		return shown(exitError)
	}
	return nil
}
