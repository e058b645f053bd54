package local

import (
	"bytes"
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
	"github.com/lockstep-workflows/lockstep/internal/convert/open"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/states"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw01"
)

// convertFlags are those of `lockstep convert`.
type convertFlags struct {
	to         cli.Choice
	exact      bool
	report     string
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
	f := convertFlags{to: cli.Choice{Value: convert.To10, Allowed: []string{convert.To10, convert.To05}}, format: cli.Choice{Value: "", Allowed: []string{"yaml", "json"}}}
	cmd := &cobra.Command{
		Use:   "convert FILE|-",
		Short: "Rewrite a definition of an earlier version as Open Workflow 1.0",
		Long: "Convert rewrites a definition of an earlier version of Serverless Workflow as Open Workflow 1.0, or a draft of 0.1\n" +
			"as 0.5, and prints it. Then it runs both with generated inputs, answers of functions and events, and reports the\n" +
			"first case in which they differ. What cannot be kept is listed on stderr, and noted in the definition. Most\n" +
			"expressions are written plainly, and assume something of the data: that is listed too, and --exact writes them so\n" +
			"that nothing need be assumed. Exit codes: 0 everything is kept and all cases agree, 6 something is not kept or a\n" +
			"case differs, 3 the definition has errors or is not of an earlier version.",
		Example: `  lockstep convert order.yaml > order-1.0.yaml
  lockstep convert order.yaml --write new/order.yaml --report order.html
  lockstep convert order.yaml --exact --cases 2000 --seed 7 --save-case order_test.yaml
  lockstep convert hello.json --to 0.5 --parameters hello=name --errors Overloaded`,
	}
	cmd.Args = cli.Exactly("a definition or -")
	cmd.Flags().Var(&f.to, "to", "`version` to convert to")
	cmd.Flags().VarP(&f.format, "output", "o", "format (default: that of the file)")
	cmd.Flags().StringVar(&f.write, "write", "", "write to this `file`, and workflows made from branches next to it")
	cmd.Flags().BoolVar(&f.exact, "exact", false, "write expressions that assume nothing of the data")
	cmd.Flags().StringVar(&f.report, "report", "", "write a page for a review to this HTML `file`")
	cmd.Flags().IntVar(&f.cases, "cases", 200, "how many cases to compare; 0: none")
	cmd.Flags().Uint64Var(&f.seed, "seed", 1, "another seed gives other cases")
	cmd.Flags().StringVar(&f.saveCase, "save-case", "", "write the first case that differs to this scenario `file`")
	cmd.Flags().StringArrayVar(&f.parameters, "parameters", nil, "the parameters of a function, `FUNCTION=NAME,…`; repeatable")
	cmd.Flags().StringSliceVar(&f.errors, "errors", nil, "`name` in a retry's match that is an error, never a result")
	load.WithReader(a, cmd, func(r load.Reader, args []string) error { return convertFile(a, r, args[0], f) })
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
	opts.Head = headComments(d.Document)
	opts.Comments = func(at dialect.Pos) []string { return commentsAbove(d.Document, at.Line) }
	c := conversion{App: a, d: d, flags: f}
	if err := c.convert(r, opts); err != nil {
		return err
	}
	result := c.result
	if !result.Useful {
		c.losses()
		fmt.Fprintln(a.Err, "nothing can be kept: there is no definition to print")
		return cli.Shown(cli.ExitConflict)
	}
	if err := c.print(); err != nil {
		return err
	}
	fmt.Fprintf(a.Err, "%s: %s, converted to %s: %s\n", cli.Plain(d.File), d.FrontEnd.Title(), f.to.Value, cli.Plural(len(result.Definitions), "definition"))
	if len(result.Definitions) > 1 && f.write == "" {
		fmt.Fprintln(a.Err, "each definition needs its own file: --write FILE writes them")
	}
	c.losses()
	k, err := c.compare(r.Ctx)
	if err != nil {
		return err
	}
	if err := c.report(k); err != nil {
		return err
	}
	if k != nil && k.First != nil || len(result.Lost) > 0 {
		return cli.Shown(cli.ExitConflict)
	}
	return nil
}

// outliner is a front-end whose definitions are states that share a form.
type outliner interface {
	Outline(dialect.Source) (*states.Outline, dialect.Diagnostics)
}

// convert fills in the source and the result.
func (c *conversion) convert(r load.Reader, opts convert.Options) error {
	opts.Exact = c.flags.exact
	plain := opts
	plain.Exact = true // to tell what breaks an assumption
	switch front := c.d.FrontEnd.(type) {
	case sw01.FrontEnd:
		o, _ := front.Outline(c.d.Document, dialect.Options{})
		c.source = convert.Early(o, c.d.Program)
		if c.flags.to.Value == convert.To05 {
			c.result = convert.Convert(o, opts)
			return nil
		}
		c.result = open.Early(o, opts)
		c.exact = open.Early(o, plain)
	case outliner:
		if c.flags.to.Value == convert.To05 {
			return cli.Invalidf("%s is written in %s: only the drafts of version 0.1 can be converted to 0.5", c.d.File, c.d.FrontEnd.Title()).
				WithHint("leave --to out for 1.0")
		}
		o, _ := front.Outline(dialect.Source{Document: c.d.Document, Bundle: load.Bundle(r.Ctx, c.d.File, r.Client)})
		c.source = convert.Stateful(o, c.d.Program)
		c.result = open.States(o, opts)
		c.exact = open.States(o, plain)
	default:
		return cli.Invalidf("%s is written in %s: only definitions of earlier versions of Serverless Workflow can be converted", c.d.File, c.d.FrontEnd.Title())
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
	source convert.Source
	result convert.Result
	exact  convert.Result // the same without assumptions, to 1.0
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
		at := cli.Plain(c.d.File)
		if a.Pos.Line > 0 {
			at = cli.Plain(a.Pos.String())
		}
		fmt.Fprintf(c.Err, "%s assumed: %s\n", at, cli.Plain(a.Text))
	}
}

// compare runs both definitions and tells what differs; nil: nothing was compared.
func (c conversion) compare(ctx context.Context) (*convert.Comparison, error) {
	if c.flags.cases == 0 {
		fmt.Fprintln(c.Err, "compared nothing")
		return nil, nil
	}
	opts := convert.CompareOptions{Cases: c.flags.cases, Seed: c.flags.seed}
	if c.flags.to.Value == convert.To10 && !c.flags.exact {
		opts.Exact = &c.exact
	}
	k, err := convert.Compare(ctx, c.source, c.result, opts)
	if err != nil {
		if errors.Is(err, context.Canceled) {
			return nil, err
		}
		return nil, fmt.Errorf("compare: %w", err)
	}
	fmt.Fprintf(c.Err, "compared %s (seed %d): %d agree, ", cli.Plural(k.Cases, "case"), c.flags.seed, k.Agreed)
	if k.Broke > 0 {
		fmt.Fprintf(c.Err, "%d break an assumption, ", k.Broke)
	}
	fmt.Fprintf(c.Err, "%d differ; %d of %d states entered", k.Cases-k.Agreed-k.Broke, len(k.Entered), len(k.Entered)+len(k.Missed))
	if len(k.Missed) > 0 {
		fmt.Fprintf(c.Err, ", never: %s", cli.Plain(strings.Join(k.Missed, ", ")))
	}
	fmt.Fprintln(c.Err)
	if k.First == nil {
		return &k, nil
	}
	fmt.Fprint(c.Err, plainLines(k.First.String()))
	if len(c.result.Lost) > 0 {
		fmt.Fprintln(c.Err, "the reason may be what is not kept")
	}
	return &k, c.save(k.First)
}

// report writes the page for a review.
func (c conversion) report(k *convert.Comparison) error {
	path := c.flags.report
	if path == "" {
		return nil
	}
	var b bytes.Buffer
	err := convert.Report{
		File: filepath.Base(c.d.File), Title: c.d.FrontEnd.Title(), Source: c.source, Result: c.result, Comparison: k, Seed: c.flags.seed,
		Lines: func(n int) (string, bool) { return c.d.Document.Line(n), n <= c.d.Document.Lines() },
	}.Write(&b)
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	fmt.Fprintf(c.Err, "wrote %s\n", cli.Plain(path))
	return nil
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
