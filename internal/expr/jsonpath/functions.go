package jsonpath

import (
	"unicode/utf8"

	"github.com/lockstep-workflows/lockstep/expr"
)

// function is one of the functions that may end a path. Its input is what the
// path before it selects: the value, or the list of an indefinite path.
type function struct {
	name             string
	minArgs, maxArgs int
	usage            string // shown when the arguments do not fit
	// run returns ok false where the input is of a kind the function does not
	// apply to; the path then selects nothing.
	run func(in expr.Value, args []expr.Value, b *expr.Budget) (v expr.Value, ok bool, err error)
}

const manyArgs = 1 << 10

var functions = []function{
	{"length", 0, 1, "write $.items.length()", runLength},
	{"size", 0, 1, "write $.items.size()", runLength},
	{"min", 0, manyArgs, "", runMin},
	{"max", 0, manyArgs, "", runMax},
	{"sum", 0, manyArgs, "", runSum},
	{"avg", 0, manyArgs, "", runAvg},
	{"stddev", 0, manyArgs, "", runStddev},
	{"keys", 0, 0, "keys() takes no argument", runKeys},
	{"concat", 0, manyArgs, "", runConcat},
	{"append", 1, manyArgs, "write what to append: $.items.append('x')", runAppend},
	{"first", 0, 0, "first() takes no argument; see index(n)", runFirst},
	{"last", 0, 0, "last() takes no argument; see index(n)", runLast},
	{"index", 1, 1, "write one whole number: $.items.index(2)", runIndex},
}

var functionNames = func() []string {
	names := make([]string, len(functions))
	for i := range functions {
		names[i] = functions[i].name
	}
	return names
}()

func functionNamed(name string) *function {
	for i := range functions {
		if functions[i].name == name {
			return &functions[i]
		}
	}
	return nil
}

// eval calls the function. An argument that selects nothing counts as absent.
func (c *call) eval(in expr.Value, s scope) (expr.Value, bool, error) {
	if err := s.budget.Enter(); err != nil {
		return expr.Null, false, err
	}
	defer s.budget.Leave()
	var args []expr.Value
	for i := range c.args {
		v, ok, err := c.args[i].eval(s)
		if err != nil {
			return expr.Null, false, err
		}
		if ok {
			args = append(args, v)
		}
	}
	if len(args) < c.fn.minArgs {
		return expr.Null, false, nil
	}
	v, ok, err := c.fn.run(in, args, s.budget)
	if err != nil || !ok {
		return expr.Null, false, err
	}
	return v, true, nil
}

// length is the number of items, members or characters.
func length(v expr.Value, b *expr.Budget) (n int, ok bool, err error) {
	switch v.Kind() {
	case expr.KindArray, expr.KindObject:
		return v.Len(), true, nil
	case expr.KindString:
		return utf8.RuneCountInString(v.Str()), true, b.Step(textCost(v.Len()))
	}
	return 0, false, nil
}

func runLength(in expr.Value, args []expr.Value, b *expr.Budget) (expr.Value, bool, error) {
	if len(args) > 0 {
		in = args[0]
	}
	n, ok, err := length(in, b)
	return expr.Int(int64(n)), ok, err
}

func runKeys(in expr.Value, _ []expr.Value, b *expr.Budget) (expr.Value, bool, error) {
	if !in.IsObject() {
		return expr.Null, false, nil
	}
	if err := b.Emit(in.Len()); err != nil {
		return expr.Null, false, err
	}
	keys := make([]expr.Value, 0, in.Len())
	for _, m := range in.Members() {
		keys = append(keys, expr.String(m.Key))
	}
	return expr.Array(keys...), true, b.Step(len(keys))
}

// runConcat joins texts: the input where it is one, those of a list, and the
// arguments; numbers and booleans among the arguments as they are written.
func runConcat(in expr.Value, args []expr.Value, b *expr.Budget) (expr.Value, bool, error) {
	var out []byte
	add := func(v expr.Value, written bool) error {
		text := v.Str()
		if k := v.Kind(); written && (k == expr.KindNumber || k == expr.KindBool) {
			text = v.String()
		}
		if err := b.Step(1); err != nil {
			return err
		}
		if err := b.Emit(len(text)); err != nil {
			return err
		}
		out = append(out, text...)
		return nil
	}
	addAll := func(v expr.Value, written bool) error {
		if !v.IsArray() {
			return add(v, written)
		}
		for _, it := range v.Items() {
			if err := add(it, written); err != nil {
				return err
			}
		}
		return nil
	}
	if err := addAll(in, false); err != nil {
		return expr.Null, false, err
	}
	for _, a := range args {
		if err := addAll(a, true); err != nil {
			return expr.Null, false, err
		}
	}
	return expr.String(string(out)), true, nil
}

func runAppend(in expr.Value, args []expr.Value, b *expr.Budget) (expr.Value, bool, error) {
	if !in.IsArray() {
		return expr.Null, false, nil
	}
	n := in.Len() + len(args)
	if err := b.Step(n); err != nil {
		return expr.Null, false, err
	}
	if err := b.Emit(n); err != nil {
		return expr.Null, false, err
	}
	return in.Append(args...), true, nil
}

func runFirst(in expr.Value, _ []expr.Value, _ *expr.Budget) (expr.Value, bool, error) {
	v, ok := item(in, 0)
	return v, ok, nil
}

func runLast(in expr.Value, _ []expr.Value, _ *expr.Budget) (expr.Value, bool, error) {
	v, ok := item(in, -1)
	return v, ok, nil
}

func runIndex(in expr.Value, args []expr.Value, _ *expr.Budget) (expr.Value, bool, error) {
	i, ok := args[0].Int()
	if n := int64(in.Len()); !ok || i < -n || i >= n {
		return expr.Null, false, nil
	}
	v, ok := item(in, int(i))
	return v, ok, nil
}
