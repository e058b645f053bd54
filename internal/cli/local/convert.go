package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/cli/load"
	"github.com/lockstep-workflows/lockstep/internal/convert"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw01"
)

// convertFlags are those of `lockstep convert`.
type convertFlags struct {
	to         cli.Choice
	format     cli.Choice
	write      string
	cases      int
	seed       uint64
	saveCase   string
	parameters []string
	errors     []string
}

// ConvertCommand is `lockstep convert`.
func ConvertCommand(a *cli.App) *cobra.Command {
	f := convertFlags{to: cli.Choice{Allowed: []string{"0.5"}}, format: cli.Choice{Value: "", Allowed: []string{"yaml", "json"}}}
	cmd := &cobra.Command{
		Use:   "convert FILE|-",
		Short: "Rewrite a definition of version 0.1 as 0.5",
		Long: "Convert rewrites a definition of Serverless Workflow 0.1 as 0.5 and prints it. Then it runs both with generated\n" +
			"inputs, answers of functions and events, and reports the first case in which they differ. What cannot be kept is\n" +
			"listed on stderr, and noted in the definition. Exit codes: 0 everything is kept and all cases agree, 6 something\n" +
			"is not kept or a case differs, 3 the definition has errors or is not of version 0.1.",
		Example: `  lockstep convert order.yaml --to 0.5 > order-0.5.yaml
  lockstep convert order.yaml --to 0.5 --write new/order.yaml
  lockstep convert hello.json --to 0.5 --parameters hello=name --errors Overloaded
  lockstep convert order.yaml --to 0.5 --cases 2000 --seed 7 --save-case order_test.yaml`,
	}
	cmd.Args = cli.Exactly("a definition or -")
	cmd.Flags().Var(&f.to, "to", "`version` to convert to")
	cmd.Flags().VarP(&f.format, "output", "o", "format (default: that of the file)")
	cmd.Flags().StringVar(&f.write, "write", "", "write to this `file`, and workflows made from branches next to it")
	cmd.Flags().IntVar(&f.cases, "cases", 200, "how many cases to compare; 0: none")
	cmd.Flags().Uint64Var(&f.seed, "seed", 1, "another seed gives other cases")
	cmd.Flags().StringVar(&f.saveCase, "save-case", "", "write the first case that differs to this scenario `file`")
	cmd.Flags().StringArrayVar(&f.parameters, "parameters", nil, "the parameters of a function, `FUNCTION=NAME,…`; repeatable")
	cmd.Flags().StringSliceVar(&f.errors, "errors", nil, "`name` in a retry's match that is an error, never a result")
	load.WithReader(a, cmd, func(r load.Reader, args []string) error {
		if f.to.Value == "" {
			return cli.Usagef("lockstep convert needs --to").WithHint("write --to 0.5")
		}
		return convertFile(a, r, args[0], f)
	})
	return cmd
}

func convertFile(a *cli.App, r load.Reader, file string, f convertFlags) error {
	opts, err := f.options()
	if err != nil {
		return err
	}
	d, err := r.Read(file)
	if err != nil {
		return err
	}
	if d.Diagnostics.HasErrors() {
		return undrawable(a, d)
	}
	front, ok := d.FrontEnd.(sw01.FrontEnd)
	if !ok {
		return cli.Invalidf("%s is written in %s: only definitions of version 0.1 can be converted", file, d.FrontEnd.Title())
	}
	outline, _ := front.Outline(d.Document, dialect.Options{})
	opts.Head = headComments(d.Document)
	opts.Comments = func(at dialect.Pos) []string { return commentsAbove(d.Document, at.Line) }
	result := convert.Convert(outline, opts)
	c := conversion{App: a, d: d, flags: f, result: result}
	if !result.Useful {
		c.losses()
		fmt.Fprintln(a.Err, "nothing can be kept: there is no definition to print")
		return cli.Shown(cli.ExitConflict)
	}
	if err := c.print(); err != nil {
		return err
	}
	fmt.Fprintf(a.Err, "%s: %s, converted to 0.5: %s\n", cli.Plain(d.File), front.Title(), cli.Plural(len(result.Definitions), "definition"))
	if len(result.Definitions) > 1 && f.write == "" {
		fmt.Fprintln(a.Err, "each definition needs its own file: --write FILE writes them")
	}
	c.losses()
	differs, err := c.compare(r.Ctx, outline)
	if err != nil {
		return err
	}
	if differs || len(result.Lost) > 0 {
		return cli.Shown(cli.ExitConflict)
	}
	return nil
}

func (f convertFlags) options() (convert.Options, error) {
	opts := convert.Options{Parameters: map[string][]string{}, Errors: f.errors}
	for _, text := range f.parameters {
		name, list, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return opts, cli.Usagef("--parameters %q has no parameters", text).
				WithHint("write --parameters FUNCTION=NAME,NAME")
		}
		names := []string{}
		for _, one := range strings.Split(list, ",") {
			if one = strings.TrimSpace(one); one != "" {
				names = append(names, one)
			}
		}
		opts.Parameters[name] = names
	}
	if f.cases < 0 {
		return opts, cli.Usagef("--cases must not be negative")
	}
	return opts, nil
}

// conversion is one run of the command.
type conversion struct {
	*cli.App
	d      load.Definition
	flags  convertFlags
	result convert.Result
}

func (c conversion) format() dialect.Format {
	if c.flags.format.Value == "" {
		return c.d.Document.Format
	}
	return dialect.Format(c.flags.format.Value)
}

// print writes the definitions: to stdout one after the other, or to files.
func (c conversion) print() error {
	for i, d := range c.result.Definitions {
		text, err := c.result.Text(d, c.format())
		if err != nil {
			return fmt.Errorf("write definition %s: %w", d.ID, err)
		}
		if c.flags.write != "" {
			if err := c.writeFile(i, d, text); err != nil {
				return err
			}
			continue
		}
		if i > 0 && c.format() == dialect.YAML {
			text = append([]byte("---\n"), text...)
		}
		if _, err := c.Out.Write(text); err != nil {
			return err
		}
	}
	return nil
}

func (c conversion) writeFile(i int, d convert.Definition, text []byte) error {
	path := c.flags.write
	if i > 0 {
		path = filepath.Join(filepath.Dir(path), d.ID+"."+string(c.format()))
	}
	source, err := os.Stat(c.d.File)
	if target, other := os.Stat(path); err == nil && other == nil && os.SameFile(source, target) {
		return cli.Usagef("--write %s would replace the definition that is converted", path)
	}
	if err := os.WriteFile(path, text, 0o666); err != nil { // the umask decides, as for every new file
		return fmt.Errorf("write the conversion: %w", err)
	}
	fmt.Fprintf(c.Err, "wrote %s\n", cli.Plain(path))
	return nil
}

// losses lists what cannot be kept, and what is assumed.
func (c conversion) losses() {
	for _, l := range c.result.Lost {
		fmt.Fprintf(c.Err, "%s not kept: %s\n   why: %s\n   do:  %s\n", cli.Plain(l.Pos.String()), cli.Plain(l.What), cli.Plain(l.Why), cli.Plain(l.Do))
	}
	for _, a := range c.result.Assumed {
		fmt.Fprintf(c.Err, "%s assumed: %s\n", cli.Plain(a.Pos.String()), cli.Plain(a.Text))
	}
}

// compare runs both definitions and reports the differences.
func (c conversion) compare(ctx context.Context, outline *sw01.Outline) (differs bool, err error) {
	if c.flags.cases == 0 {
		fmt.Fprintln(c.Err, "compared nothing")
		return false, nil
	}
	k, err := convert.Compare(ctx, outline, c.d.Program, c.result, convert.CompareOptions{Cases: c.flags.cases, Seed: c.flags.seed})
	if err != nil {
		if errors.Is(err, context.Canceled) {
			return false, err
		}
		return false, fmt.Errorf("compare: %w", err)
	}
	fmt.Fprintf(c.Err, "compared %s (seed %d): %d agree, %d differ; %d of %d states entered", cli.Plural(k.Cases, "case"), c.flags.seed,
		k.Agreed, k.Cases-k.Agreed, len(k.Entered), len(k.Entered)+len(k.Missed))
	if len(k.Missed) > 0 {
		fmt.Fprintf(c.Err, ", never: %s", cli.Plain(strings.Join(k.Missed, ", ")))
	}
	fmt.Fprintln(c.Err)
	if k.First == nil {
		return false, nil
	}
	fmt.Fprint(c.Err, plainLines(k.First.String()))
	if len(c.result.Lost) > 0 {
		fmt.Fprintln(c.Err, "the reason may be what is not kept")
	}
	return true, c.save(k.First)
}

// plainLines is text of several lines without control characters.
func plainLines(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(cli.Plain(strings.TrimSuffix(line, "\n")) + "\n")
	}
	return b.String()
}

// save writes a case that differs as a scenario file.
func (c conversion) save(d *convert.Difference) error {
	path := c.flags.saveCase
	if path == "" {
		return nil
	}
	workflow, err := filepath.Rel(filepath.Dir(path), c.d.File)
	if err != nil {
		workflow = c.d.File
	}
	text, err := d.Scenario(filepath.ToSlash(workflow))
	if err != nil {
		return fmt.Errorf("write the case: %w", err)
	}
	if err := os.WriteFile(path, text, 0o666); err != nil {
		return fmt.Errorf("write the case: %w", err)
	}
	fmt.Fprintf(c.Err, "wrote %s\n", cli.Plain(path))
	return nil
}

// headComments are the comment lines at the beginning of a document.
func headComments(doc *dialect.Document) []string {
	var out []string
	for n := 1; ; n++ {
		text, ok := comment(doc, n)
		if !ok {
			return out
		}
		out = append(out, text)
	}
}

// commentsAbove are the comment lines directly above a line, except those at the beginning of the document.
func commentsAbove(doc *dialect.Document, line int) []string {
	var out []string
	n := line - 1
	for ; ; n-- {
		text, ok := comment(doc, n)
		if !ok {
			break
		}
		out = append(out, text)
	}
	if n == 0 {
		return nil
	}
	slices.Reverse(out)
	return out
}

// comment is the text of a line that is only a comment.
func comment(doc *dialect.Document, line int) (text string, ok bool) {
	if doc.Format != dialect.YAML {
		return "", false
	}
	text, ok = strings.CutPrefix(strings.TrimSpace(doc.Line(line)), "#")
	return strings.TrimPrefix(text, " "), ok
}
