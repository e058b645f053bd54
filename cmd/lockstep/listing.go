package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/expr"
)

// listFlag adds -o to a command that writes a list.
func listFlag(cmd *cobra.Command) *choice {
	return outputFlag(cmd, "format", "table", "json", "jsonl", "yaml", "name")
}

// itemFlag adds -o to a command that writes one thing.
func itemFlag(cmd *cobra.Command) *choice {
	return outputFlag(cmd, "format", "table", "json", "yaml", "name")
}

// listing is a list as people and programs read it.
type listing[T any] struct {
	columns []string
	row     func(T) []string
	name    func(T) string
	items   []T
}

func (l listing[T]) write(a *app, format string) error {
	w := bufio.NewWriter(a.out)
	var err error
	switch format {
	case "table":
		err = l.table(w)
	case "jsonl":
		for _, item := range l.items {
			if err = writeJSONLine(w, item); err != nil {
				break
			}
		}
	case "name":
		for _, item := range l.items {
			fmt.Fprintln(w, plain(l.name(item)))
		}
	default:
		items := l.items
		if items == nil {
			items = []T{}
		}
		err = writeValue(w, items, format)
	}
	if err != nil {
		return err
	}
	return w.Flush()
}

func (l listing[T]) table(w io.Writer) error {
	if len(l.items) == 0 {
		return nil // the command says on stderr that there is nothing
	}
	t := tabwriter.NewWriter(w, 0, 8, 3, ' ', 0)
	fmt.Fprintln(t, strings.Join(l.columns, "\t"))
	for _, item := range l.items {
		cells := l.row(item)
		for i := range cells {
			cells[i] = cell(cells[i])
		}
		fmt.Fprintln(t, strings.Join(cells, "\t"))
	}
	return t.Flush()
}

// cell is text that keeps to its place in a table.
func cell(text string) string {
	text = plain(strings.Join(strings.Fields(text), " "))
	if text == "" {
		return "-"
	}
	return text
}

// none tells people that a list is empty; programs see that.
func (a *app) none(what, format string) {
	if format == "table" {
		fmt.Fprintln(a.err, "no "+what)
	}
}

// field is a line of what is known of one thing.
type field struct{ name, value string }

// writeItem writes one thing: its fields for people, or all of it for programs.
func writeItem(a *app, item any, name, format string, fields []field) error {
	switch format {
	case "name":
		_, err := fmt.Fprintln(a.out, plain(name))
		return err
	case "table":
		t := tabwriter.NewWriter(a.out, 0, 8, 3, ' ', 0)
		for _, f := range fields {
			if f.value != "" {
				fmt.Fprintf(t, "%s\t%s\n", f.name, plain(f.value))
			}
		}
		return t.Flush()
	}
	return writeValue(a.out, item, format)
}

// writeValue writes what a program reads.
func writeValue(w io.Writer, v any, format string) error {
	if format != "yaml" {
		return writeJSONLine(w, v)
	}
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	value, err := expr.ParseJSON(text)
	if err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	_, err = io.WriteString(w, toYAML(value))
	return err
}

func writeJSONLine(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

// take reads at most limit items of a list that comes in pages (0: all of them), and
// reports whether there are more.
func take[T any](items iter.Seq2[T, error], limit int) (out []T, more bool, err error) {
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

// pageFor is how much of a list to ask for at a time.
func pageFor(limit int, after string) client.Paging {
	size := 1000
	if limit > 0 {
		size = min(limit+1, size)
	}
	return client.Paging{Limit: size, After: after}
}

// limitFlag adds --limit to a command that writes a list.
func limitFlag(cmd *cobra.Command, limit *int) {
	cmd.Flags().IntVar(limit, "limit", 50, "how many at most; 0: all")
}

// notAll tells people that a list goes on.
func (a *app) notAll(more bool) {
	if more && !a.problems {
		fmt.Fprintln(a.err, "there are more; --limit 0 lists all")
	}
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return ""
}

// ago is how long an instant is past, roughly.
func ago(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return roughly(time.Since(t))
}

// roughly has one unit, or two where the first is small.
func roughly(d time.Duration) string {
	const day = 24 * time.Hour
	switch d = max(d, 0); {
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 2*day:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return fmt.Sprintf("%dd", int(d/day))
}

// instant is a time as people read it.
func instant(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format("2006-01-02 15:04:05 MST")
}
