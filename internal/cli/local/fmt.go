package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialects"
	"github.com/lockstep-workflows/lockstep/internal/format"
	"github.com/lockstep-workflows/lockstep/internal/scenario"
)

// FmtCommand is `lockstep fmt`.
func FmtCommand(a *cli.App) *cobra.Command {
	var check bool
	var dialectName string
	cmd := &cobra.Command{
		Use:   "fmt FILE…",
		Short: "Write definitions and scenario files in one layout",
		Long: "Fmt rewrites definitions and scenario files, YAML or JSON, in one layout: indentation, quotes, and the order of keys.\n" +
			"Values, comments and the order of lists do not change. For a directory it formats every definition and scenario file\n" +
			"below it; with - it formats stdin to stdout. It prints the names of changed files.",
		Example: `  lockstep fmt order.yaml
  lockstep fmt --check .
  lockstep fmt - < order.yaml`,
		Args: cli.AtLeastOne("a file, a directory or -"),
	}
	cmd.Flags().BoolVar(&check, "check", false, "write nothing, and exit with 1 if a file would change")
	a.DialectFlag(cmd, &dialectName)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := cli.StdinOnce(args); err != nil {
			return err
		}
		f := formatting{App: a, ctx: cmd.Context(), check: check, dialect: dialectName}
		for _, arg := range args {
			if err := f.add(arg); err != nil {
				return err
			}
		}
		return f.finish()
	}
	return cmd
}

// formatting is one run over several files.
type formatting struct {
	*cli.App
	ctx     context.Context
	check   bool
	dialect string
	changed int
	failed  bool // some were skipped, with a message
	broken  int  // the exit code of the first file that could not be read or written
}

// fail reports that a file could not be read or written; the others follow.
func (f *formatting) fail(err error) error {
	if f.ctx.Err() != nil {
		return err
	}
	code := f.Exit(err)
	if f.broken == cli.ExitOK {
		f.broken = code
	}
	return nil
}

// add formats a file, stdin, or the files of a directory.
func (f *formatting) add(path string) error {
	if path == "-" {
		return f.stream()
	}
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return f.file(path, false) // reading it will report the error
	}
	// Links are not followed: their targets may be outside the directory.
	files, err := dialect.FindFiles(path, func(entry fs.DirEntry) bool { return entry.Type().IsRegular() && dialect.IsDocument(entry.Name()) })
	for _, err := range cli.EachError(err) {
		if err := f.fail(fmt.Errorf("look for definitions: %w", err)); err != nil {
			return err
		}
	}
	for _, file := range files {
		if err := f.file(file, true); err != nil {
			return err
		}
	}
	return nil
}

func (f *formatting) stream() error {
	text, name, err := f.ReadText(f.ctx, "-")
	if err != nil {
		return err
	}
	out, ok, err := f.format(name, text, false)
	if err != nil || !ok {
		return err
	}
	if !bytes.Equal(out, text) {
		f.changed++
	}
	if f.check {
		return nil
	}
	_, err = f.Out.Write(out)
	return err
}

// file formats a file; found says that it was found in a directory, so it may not be a definition.
func (f *formatting) file(path string, found bool) error {
	text, err := cli.ReadFile(f.ctx, path)
	if err != nil {
		return f.fail(err)
	}
	out, ok, err := f.format(path, text, found)
	if err != nil || !ok || bytes.Equal(out, text) {
		return err
	}
	if !f.check {
		if err := replaceFile(path, out); err != nil {
			return f.fail(fmt.Errorf("write %s: %w", path, err))
		}
	}
	f.changed++
	_, err = fmt.Fprintln(f.Out, path)
	return err
}

// format returns the new text; ok is false if the file is skipped.
func (f *formatting) format(path string, text []byte, found bool) (out []byte, ok bool, err error) {
	doc, _ := dialect.Read(path, text)
	order, known, err := f.order(doc)
	if err != nil {
		return nil, false, err
	}
	if found && !known && !doc.Resembles() {
		return nil, false, nil
	}
	out, err = format.Source(path, text, order)
	var mistakes dialect.Diagnostics
	switch {
	case errors.As(err, &mistakes):
		f.failed = true
		for _, d := range mistakes {
			if err := cli.Render(f.Err, doc, d); err != nil {
				return nil, false, err
			}
		}
		return nil, false, nil
	case errors.Is(err, format.ErrRefused):
		f.failed = true
		fmt.Fprintf(f.Err, "%s: %v\n", cli.Plain(path), cli.Plain(err.Error()))
		return nil, false, nil
	}
	return out, err == nil, err
}

// order finds the order of a document's keys; known is false if the kind of document is unknown. Then only
// its layout changes.
func (f *formatting) order(doc *dialect.Document) (order *format.Order, known bool, err error) {
	schema := scenario.Schema
	if !scenario.IsFile(doc.File) && (doc.Root.Get("scenarios") == nil || doc.Root.Get("workflow") == nil) {
		front, _, found := dialects.All().Detect(doc, f.dialect)
		if front == nil && f.dialect != "" && doc.Root != nil {
			return nil, false, cli.Usagef("--dialect: %s", found[0].Message)
		}
		if front == nil {
			return nil, false, nil
		}
		schema = front.Schema
	}
	order, err = format.OrderOf(schema())
	return order, true, err
}

func (f *formatting) finish() error {
	switch {
	case f.failed:
		return cli.Shown(cli.ExitInvalid)
	case f.broken != cli.ExitOK:
		return cli.Shown(f.broken)
	case f.check && f.changed > 0:
		fmt.Fprintf(f.Err, "%s would change\n", cli.Plural(f.changed, "file"))
		return cli.Shown(cli.ExitError)
	}
	return nil
}
