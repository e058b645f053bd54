package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/format"
	"github.com/lockstep-workflows/lockstep/internal/scenario"
)

func (a *app) fmtCommand() *cobra.Command {
	var check bool
	var dialectName string
	cmd := &cobra.Command{
		Use:   "fmt FILE…",
		Short: "Write definitions and scenario files in one layout",
		Long: "Fmt rewrites definitions and scenario files, YAML or JSON, in one layout: indentation, quotes, and the order of keys.\n" +
			"Values, comments and the order of lists stay as they are. Of a directory it formats every definition and\n" +
			"scenario file below it; with - it formats stdin to stdout. The names of files that change are printed.",
		Example: `  lockstep fmt order.yaml
  lockstep fmt --check .
  lockstep fmt - < order.yaml`,
		Args: atLeastOne("a file, a directory or -"),
	}
	cmd.Flags().BoolVar(&check, "check", false, "write nothing, and exit with 1 if a file would change")
	a.dialectFlag(cmd, &dialectName)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := stdinOnce(args); err != nil {
			return err
		}
		f := formatting{app: a, ctx: cmd.Context(), check: check, dialect: dialectName}
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
	*app
	ctx     context.Context
	check   bool
	dialect string
	changed int
	failed  bool // some were left alone, and it was said why
	broken  int  // the exit code of the first that could not be read or written
}

// fail tells that something could not be read or written, and goes on with the others.
func (f *formatting) fail(err error) error {
	if f.ctx.Err() != nil {
		return err
	}
	code := f.exit(err)
	if f.broken == exitOK {
		f.broken = code
	}
	return nil
}

// add formats a file, stdin, or what is in a directory.
func (f *formatting) add(path string) error {
	if path == "-" {
		return f.stream()
	}
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return f.file(path, false) // reading it will tell what is wrong
	}
	// Links are not followed: what they lead to may be elsewhere, and nobody named it.
	files, err := dialect.FindFiles(path, func(entry fs.DirEntry) bool { return entry.Type().IsRegular() && isDocument(entry.Name()) })
	for _, err := range eachError(err) {
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
	text, err := f.stdin(f.ctx)
	if err != nil {
		return err
	}
	out, ok, err := f.format(stdinName, text, false)
	if err != nil || !ok {
		return err
	}
	if !bytes.Equal(out, text) {
		f.changed++
	}
	if f.check {
		return nil
	}
	_, err = f.out.Write(out)
	return err
}

// file formats a file; found says that nobody named it, so that it may be
// something else than a definition.
func (f *formatting) file(path string, found bool) error {
	text, err := readFile(f.ctx, path)
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
	_, err = fmt.Fprintln(f.out, path)
	return err
}

// format returns the new text; ok is false where the file is left alone.
func (f *formatting) format(path string, text []byte, found bool) (out []byte, ok bool, err error) {
	doc, _ := dialect.Read(path, text)
	order, known, err := f.order(doc)
	if err != nil {
		return nil, false, err
	}
	if found && !known && !hasStates(doc) {
		return nil, false, nil
	}
	out, err = format.Source(path, text, order)
	var mistakes dialect.Diagnostics
	switch {
	case errors.As(err, &mistakes):
		f.failed = true
		for _, d := range mistakes {
			if err := render(f.err, doc, d); err != nil {
				return nil, false, err
			}
		}
		return nil, false, nil
	case errors.Is(err, format.ErrRefused):
		f.failed = true
		fmt.Fprintf(f.err, "%s: %v\n", plain(path), plain(err.Error()))
		return nil, false, nil
	}
	return out, err == nil, err
}

// order finds the order of a document's keys; known is false where nothing tells
// what it is. Then only its layout changes.
func (f *formatting) order(doc *dialect.Document) (order *format.Order, known bool, err error) {
	schema := scenario.Schema
	if !scenario.IsFile(doc.File) && (doc.Root.Get("scenarios") == nil || doc.Root.Get("workflow") == nil) {
		front, _, found := f.registry().Detect(doc, f.dialect)
		if front == nil && f.dialect != "" && doc.Root != nil {
			return nil, false, usagef("--dialect: %s", found[0].Message)
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
		return shown(exitInvalid)
	case f.broken != exitOK:
		return shown(f.broken)
	case f.check && f.changed > 0:
		fmt.Fprintf(f.err, "%s would change\n", plural(f.changed, "file"))
		return shown(exitError)
	}
	return nil
}
