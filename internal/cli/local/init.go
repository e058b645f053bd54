package local

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/internal/cli"
)

// starters are the files that init writes; NAME stands for the name of the definition.
//
//go:embed all:starter
var starters embed.FS

var definitionName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`)

// InitCommand is `lockstep init`.
func InitCommand(a *cli.App) *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use: "init [DIR]", Short: "Begin a workflow: a definition, its scenarios, and a check for your build server", Args: cli.AtMost(1),
		Long: "Init writes a definition in Open Workflow 1.0, a scenario file that tests it, and a workflow for GitHub Actions that validates and\n" +
			"tests all definitions. It never overwrites a file; an existing workflow stays as it is, since it checks every definition.",
		Example: `  lockstep init
  lockstep init orders --name order`,
	}
	cmd.Flags().StringVar(&name, "name", "", "the `name` of the definition (default: that of the folder)")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		dir := "."
		if len(args) == 1 {
			dir = args[0]
		}
		if name == "" {
			full, err := filepath.Abs(dir)
			if err != nil {
				return err
			}
			name = strings.Trim(regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(filepath.Base(full)), "-"), "-")
		}
		if !definitionName.MatchString(name) || len(name) > 63 {
			return cli.Usagef("%q cannot be the name of a definition: use lower-case letters, digits and hyphens, at most 63", name).
				WithHint("--name gives another one")
		}
		return begin(a, dir, name)
	}
	return cmd
}

// checkFile is the check for a build server. It is about all definitions of a folder, so that one is enough.
const checkFile = ".github/workflows/lockstep.yaml"

// begin writes the files, all or none. An existing check stays as it is.
func begin(a *cli.App, dir, name string) error {
	files := map[string]string{}
	var order []string
	err := fs.WalkDir(starters, "starter", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := starters.ReadFile(path)
		file := filepath.Join(dir, filepath.FromSlash(strings.ReplaceAll(strings.TrimPrefix(path, "starter/"), "NAME", name)))
		files[file] = strings.ReplaceAll(string(text), "NAME", name)
		order = append(order, file)
		return err
	})
	if err != nil {
		return err
	}
	check := filepath.Join(dir, filepath.FromSlash(checkFile))
	var missing []string
	for _, file := range order {
		switch _, err := os.Lstat(file); {
		case errors.Is(err, fs.ErrNotExist):
			missing = append(missing, file)
		case file != check:
			return cli.Usagef("%s exists already; nothing was written", file).WithHint("--name gives the definition another name")
		}
	}
	for _, file := range missing {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(files[file]), 0o644); err != nil {
			return err
		}
		fmt.Fprintln(a.Out, filepath.ToSlash(file))
	}
	if len(missing) < len(order) {
		fmt.Fprintf(a.Err, "%s exists and is kept as it is\n", filepath.ToSlash(check))
	}
	fmt.Fprintf(a.Err, "try it: lockstep test %s, then lockstep dev %s\n", dir, dir)
	return nil
}
