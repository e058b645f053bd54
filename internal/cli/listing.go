package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/expr"
)

// ListFlag adds -o, --no-headers and --sort-by to a command that writes a list.
func ListFlag(cmd *cobra.Command) *Format {
	f := FormatFlag(cmd, "table", "wide", "json", "jsonl", "yaml", "name")
	cmd.Flags().BoolVar(&f.noHeaders, "no-headers", false, "omit the column names")
	cmd.Flags().StringVar(&f.sortBy, "sort-by", "", "sort by this `field` of -o json, such as created or definition.id; a minus before it reverses")
	return f
}

// ListFlags are the flags of a command that writes a list in pages.
type ListFlags struct {
	Format *Format
	Limit  int
	Watch  bool // see AddWatch
}

// AddListFlags adds them.
func AddListFlags(cmd *cobra.Command, limit int) *ListFlags {
	f := &ListFlags{Format: ListFlag(cmd)}
	cmd.Flags().IntVar(&f.Limit, "limit", limit, "how many at most; 0: all")
	return f
}

// AddWatch adds -w.
func (f *ListFlags) AddWatch(cmd *cobra.Command) {
	cmd.Flags().BoolVarP(&f.Watch, "watch", "w", false, "then write a line whenever one of them changes, until Ctrl-C")
}

// ItemFlag adds -o to a command that writes one item.
func ItemFlag(cmd *cobra.Command) *Format { return FormatFlag(cmd, "table", "json", "yaml", "name") }

// Listing describes how a list is written.
type Listing[T any] struct {
	What    string // the plural of an item, for the message that there are none
	Columns []string
	Row     func(T) []string
	Wide    []string         // further columns of -o wide
	WideRow func(T) []string // their cells
	Name    func(T) string
	Steady  func(T) T // without what changes all the time, which -w leaves out of account; nil: all of it counts
}

// Watched is what of an item -w compares.
func (l Listing[T]) Watched(item T) T {
	if l.Steady == nil {
		return item
	}
	return l.Steady(item)
}

// Write writes items in a format of ListFlag.
func (l Listing[T]) Write(a *App, format *Format, items []T) error {
	items, err := sorted(items, format.sortBy)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(a.Out)
	switch {
	case format.path != nil:
		err = format.writePath(w, items)
	case format.Value == "table" || format.Value == "wide":
		err = l.table(a, w, format, items)
	case format.Value == "jsonl":
		for _, item := range items {
			if err = WriteJSONLine(w, item); err != nil {
				break
			}
		}
	case format.Value == "name":
		for _, item := range items {
			fmt.Fprintln(w, Plain(l.Name(item)))
		}
	default:
		if items == nil {
			items = []T{}
		}
		err = WriteValue(w, items, format.Value)
	}
	if err != nil {
		return err
	}
	return w.Flush()
}

// WriteSome writes a list up to the limit of the flags, and says on stderr if there are more.
func (l Listing[T]) WriteSome(a *App, flags *ListFlags, items iter.Seq2[T, error]) error {
	some, more, err := Take(items, flags.Limit)
	if err != nil {
		return err
	}
	return l.WriteTaken(a, flags, some, more)
}

// WriteTaken is WriteSome for items that were read already.
func (l Listing[T]) WriteTaken(a *App, flags *ListFlags, some []T, more bool) error {
	if more && !a.Problems {
		fmt.Fprintln(a.Err, "there are more; --limit 0 lists all")
	}
	return l.Write(a, flags.Format, some)
}

func (l Listing[T]) table(a *App, w io.Writer, format *Format, items []T) error {
	if len(items) == 0 {
		if l.What != "" {
			fmt.Fprintln(a.Err, "no "+l.What)
		}
		return nil
	}
	columns, row := l.Columns, l.Row
	if format.Value == "wide" && l.WideRow != nil {
		columns = slices.Concat(l.Columns, l.Wide)
		row = func(item T) []string { return append(l.Row(item), l.WideRow(item)...) }
	}
	t := tabwriter.NewWriter(w, 0, 8, 3, ' ', 0)
	if !format.noHeaders {
		fmt.Fprintln(t, strings.Join(columns, "\t"))
	}
	for _, item := range items {
		cells := row(item)
		for i := range cells {
			cells[i] = cell(cells[i])
		}
		fmt.Fprintln(t, strings.Join(cells, "\t"))
	}
	return t.Flush()
}

// Field is the name and the value of one line about an item.
type Field [2]string

// WriteItem writes one item: its fields for people, or all of it for programs.
func WriteItem(a *App, item any, name string, format *Format, fields []Field) error {
	if format.path != nil {
		return format.writePath(a.Out, item)
	}
	switch format.Value {
	case "name":
		_, err := fmt.Fprintln(a.Out, Plain(name))
		return err
	case "table":
		t := tabwriter.NewWriter(a.Out, 0, 8, 3, ' ', 0)
		for _, f := range fields {
			if f[1] != "" {
				fmt.Fprintf(t, "%s\t%s\n", f[0], Plain(f[1]))
			}
		}
		return t.Flush()
	}
	return WriteValue(a.Out, item, format.Value)
}

// WriteValue writes a value for programs, as JSON or YAML.
func WriteValue(w io.Writer, v any, format string) error {
	if format != "yaml" {
		return WriteJSONLine(w, v)
	}
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	value, err := expr.ParseJSON(text)
	if err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	_, err = io.WriteString(w, ToYAML(value))
	return err
}

// WriteJSONLine writes a value as JSON in one line.
func WriteJSONLine(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// Take reads at most limit items of a list (0: all), and reports whether there are more.
func Take[T any](items iter.Seq2[T, error], limit int) (out []T, more bool, err error) {
	for item, err := range items {
		if err != nil {
			return out, false, err
		}
		if limit > 0 && len(out) == limit {
			return out, true, nil
		}
		out = append(out, item)
	}
	return out, false, nil
}

// WriteJSON writes a value as JSON with indentation.
func WriteJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
