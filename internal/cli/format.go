package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/expr/jsonpath"
)

// Format is how a command writes what it found: one of a few formats, or the values that a JSONPath finds.
type Format struct {
	Choice
	path      expr.Program // not nil: -o jsonpath=…
	noHeaders bool
	sortBy    string
}

// AsFormat is a format that no flag chose.
func AsFormat(value string) *Format { return &Format{Choice: Choice{Value: value}} }

// Headless is the format for further rows of a table: without the names of the columns.
func (f *Format) Headless() *Format {
	out := *f
	out.noHeaders, out.sortBy = true, ""
	return &out
}

// CheckEndless refuses a format that has an end, for a list that has none.
func (f *Format) CheckEndless() error {
	if f.path == nil && (f.Value == "yaml" || f.Value == "json") {
		return Usagef("--watch needs -o table, wide, jsonl, name or jsonpath=…: a list without an end is not %s", f.Value)
	}
	return nil
}

// FormatFlag adds -o with formats besides jsonpath=PATH; the first is the default.
func FormatFlag(cmd *cobra.Command, formats ...string) *Format {
	f := &Format{Choice: Choice{Value: formats[0], Allowed: append(formats, "jsonpath=PATH")}}
	cmd.Flags().VarP(f, "output", "o", "format")
	CompleteFlag(cmd, "output", append(formats, "jsonpath="))
	return f
}

// Set takes a format. A path may be written as kubectl has it, {.id} for $.id.
func (f *Format) Set(value string) error {
	text, ok := strings.CutPrefix(value, "jsonpath=")
	if !ok {
		f.path = nil
		return f.Choice.Set(value)
	}
	if inner, ok := strings.CutPrefix(text, "{"); ok && strings.HasSuffix(inner, "}") {
		text = "$" + strings.TrimPrefix(strings.TrimSuffix(inner, "}"), "$")
	}
	path, err := jsonpath.Compiler{}.Compile(text)
	if err != nil {
		return fmt.Errorf("%q is not a JSONPath such as $.id, or $[*].id in a list: %w", text, err)
	}
	f.path, f.Value = path, "json"
	return nil
}

// WriteData writes data of a workflow: as JSON unless another format for programs is chosen.
func (f *Format) WriteData(w io.Writer, data any) error {
	if f.path != nil {
		return f.writePath(w, data)
	}
	return WriteValue(w, data, f.Value)
}

// writePath writes what the path finds, a line for each value: texts as they are, everything else as JSON.
func (f *Format) writePath(w io.Writer, item any) error {
	data, err := valueOf(item)
	if err != nil {
		return err
	}
	budget := expr.NewBudget()
	found, err := f.path.Eval(data, &budget)
	if err != nil {
		return Invalidf("-o jsonpath: %v", err)
	}
	values := []expr.Value{found.Value}
	switch {
	case found.Missing:
		values = nil
	case found.List:
		values = found.Value.Items()
	}
	for _, v := range values {
		text := v.String()
		if v.Kind() == expr.KindString {
			text = Plain(v.Str())
		}
		if _, err := fmt.Fprintln(w, text); err != nil {
			return err
		}
	}
	return nil
}

// valueOf is an item as -o json writes it.
func valueOf(item any) (expr.Value, error) {
	text, err := json.Marshal(item)
	if err != nil {
		return expr.Value{}, fmt.Errorf("write the answer: %w", err)
	}
	v, err := expr.ParseJSON(text)
	if err != nil {
		return expr.Value{}, fmt.Errorf("write the answer: %w", err)
	}
	return v, nil
}

// sorted are the items ordered by a field: numbers and texts by their order, items without the field last.
func sorted[T any](items []T, by string) ([]T, error) {
	if by == "" || len(items) == 0 {
		return items, nil
	}
	name, reverse := strings.CutPrefix(by, "-")
	type keyed struct {
		item T
		key  expr.Value
		has  bool
	}
	all := make([]keyed, len(items))
	known, found := map[string]bool{}, false
	for i, item := range items {
		v, err := valueOf(item)
		if err != nil {
			return nil, err
		}
		for _, m := range v.Members() {
			known[m.Key] = true
		}
		all[i] = keyed{item: item, key: v, has: true}
		for part := range strings.SplitSeq(name, ".") {
			if all[i].key, all[i].has = all[i].key.Get(part); !all[i].has {
				break
			}
		}
		found = found || all[i].has
	}
	if !found {
		fields := slices.Sorted(maps.Keys(known))
		return nil, Usagef("--sort-by: nothing that is listed has a field %q", name).
			WithHint("the fields are "+strings.Join(fields, ", ")).Near(name, fields)
	}
	slices.SortStableFunc(all, func(a, b keyed) int {
		if !a.has || !b.has {
			switch {
			case a.has:
				return -1
			case b.has:
				return 1
			}
			return 0
		}
		c, ok := expr.Compare(a.key, b.key)
		if !ok {
			c = strings.Compare(a.key.String(), b.key.String())
		}
		if reverse {
			return -c
		}
		return c
	})
	out := make([]T, len(all))
	for i, k := range all {
		out[i] = k.item
	}
	return out, nil
}
