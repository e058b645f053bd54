package cli

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// App is shared by all commands. Data goes to Out; progress, hints and errors go to Err.
type App struct {
	In       io.Reader
	Out, Err io.Writer
	Problems bool     // errors are one problem+json object
	Args     []string // of the program: a server reads its settings again from them

	stderr io.Writer // where Err was before --quiet; nil: it was not given
}

// Quiet leaves out progress and hints. Errors, questions and the log of a server still go to Stderr.
func (a *App) Quiet() { a.stderr, a.Err = a.Err, io.Discard }

// Stderr is for what people must see even with --quiet.
func (a *App) Stderr() io.Writer {
	if a.stderr != nil {
		return a.stderr
	}
	return a.Err
}

// Color reports whether w is a terminal with colours.
func Color(w io.Writer) bool {
	return IsTerminal(w) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// Render writes a diagnostic, in colours if w has them.
func Render(w io.Writer, doc *dialect.Document, d dialect.Diagnostic) error {
	if Color(w) {
		return dialect.RenderColor(w, doc, d)
	}
	return dialect.Render(w, doc, d)
}

// IsTerminal reports whether w is a terminal.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// NoSuchCommand refuses an unknown subcommand.
func (a *App) NoSuchCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, c := range cmd.Commands() {
		names = append(names, c.Name())
	}
	return Usagef("there is no command %q", args[0]).
		WithHint(fmt.Sprintf("%q lists the commands", cmd.CommandPath()+" --help")).Near(args[0], names)
}

// StdinName is the file name for stdin in messages.
const StdinName = "stdin"

// ReadText reads a file, or stdin for -. It returns the name for messages.
func (a *App) ReadText(ctx context.Context, file string) (text []byte, name string, err error) {
	if file != "-" {
		text, err = ReadFile(ctx, file)
		return text, file, err
	}
	text, err = dialect.ReadAll(ctx, a.In)
	if err != nil {
		err = fmt.Errorf("read stdin: %w", err)
	}
	return text, StdinName, err
}

// Log is where the built-in function log writes.
func (a *App) Log(function string, message expr.Value) {
	fmt.Fprintf(a.Err, "%s: %s\n", Plain(function), Plain(message.String()))
}

// Group makes a command that only has subcommands.
func (a *App) Group(use, short, example string) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Example: example,
		Args: a.NoSuchCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
}
