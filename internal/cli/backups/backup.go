package backups

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/internal/backup"
	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/stores"
)

// BackupCommand is `lockstep backup`.
func BackupCommand(a *cli.App) *cobra.Command {
	var storeText string
	var only bool
	cmd := &cobra.Command{
		Use: "backup FILE", Short: "Back up a store, also while servers use it", Args: cli.Exactly("FILE"),
		Long: "Backup writes everything in a store to a new file, as it is at one moment, and reads the file back: its checksums and counts, and of\n" +
			"SQLite every row. Servers keep running. An SQLite store must be on this machine. Until the file is complete it is in a folder\n" +
			"FILE.partial. --verify reads an existing file, and needs no store.",
		Example: `  lockstep backup lockstep-2026-11-18.backup --store sqlite:/var/lib/lockstep/lockstep.db
  lockstep backup nightly.backup --store postgres://lockstep@db.example/lockstep
  lockstep backup nightly.backup --verify`,
	}
	output := cli.OutputFlag(cmd, "format", "text", "json")
	cmd.Flags().StringVar(&storeText, "store", "", "the store to back up: sqlite:`FILE` or postgres://…")
	cmd.Flags().BoolVar(&only, "verify", false, "only read the file, and say whether it can be restored")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		r := result{File: args[0]}
		var problems []store.Problem
		var err error
		if only {
			r.Head, r.Manifest, problems, err = stores.Verify(cmd.Context(), args[0])
		} else {
			var at stores.Address
			if at, err = parse(storeText); err != nil {
				return err
			}
			if !at.Exists() {
				return cli.NotFoundf("there is no store %s", at)
			}
			r.Head, r.Manifest, problems, err = at.Backup(cmd.Context(), args[0])
			tellLeftovers(a, args[0])
		}
		if err != nil {
			return fmt.Errorf("back up: %w", named(args[0], err))
		}
		return r.write(a, output.Value == "json", problems)
	}
	return cmd
}

// tellLeftovers names what commands that were killed left beside a file.
func tellLeftovers(a *cli.App, file string) {
	for _, dir := range stores.Leftovers(file) {
		fmt.Fprintf(a.Err, "%s was left behind by a backup or restore that was killed: remove it\n", cli.Plain(dir))
	}
}

// named names the file of an error that is about its contents.
func named(file string, err error) error {
	if bad, ok := errors.AsType[*backup.DamagedError](err); ok {
		return fmt.Errorf("%s: %w", file, bad)
	}
	return err
}

// result is what a backup has.
type result struct {
	File string `json:"file"`
	backup.Head
	backup.Manifest
	Problems []damage `json:"problems"`
}

// damage is something that is wrong with the store.
type damage struct {
	Where string `json:"where"`
	Text  string `json:"text"`
}

func (r *result) write(a *cli.App, asJSON bool, problems []store.Problem) error {
	r.Problems = []damage{}
	for _, p := range problems {
		r.Problems = append(r.Problems, damage(p))
	}
	size := int64(0)
	for _, p := range r.Parts {
		size += p.Bytes
	}
	if asJSON {
		if err := cli.WriteJSONLine(a.Out, r); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(a.Err, "%s: a backup of a %s store (schema %d) as it was at %s, %d bytes; it was read back and is sound\n",
			r.File, r.Store, r.Schema, r.Created.Format("2006-01-02T15:04:05Z07:00"), size)
		for _, p := range problems {
			fmt.Fprintf(a.Err, "the store itself is damaged: %s: %s\n", cli.Plain(p.Where), cli.Plain(p.Text))
		}
	}
	if len(problems) > 0 {
		return cli.Shown(cli.ExitError)
	}
	return nil
}

// parse reads --store.
func parse(text string) (stores.Address, error) {
	if text == "" {
		return stores.Address{}, cli.Usagef("--store is required: sqlite:FILE or postgres://…")
	}
	at, err := stores.Parse(text)
	if bad, ok := errors.AsType[*stores.AddressError](err); ok {
		f := cli.Usagef("--store %s", bad.Msg)
		f.Hint = bad.Hint
		return at, f
	}
	if at.Kind == stores.Memory {
		return at, cli.Usagef("--store memory: keeps nothing")
	}
	return at, err
}
