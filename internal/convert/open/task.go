package open

import (
	"github.com/lockstep-workflows/lockstep/expr"
)

// task is a task with its name. The value has the keys of its kind and the common ones.
type task struct {
	name     string
	value    expr.Value
	comments []string
}

// item is the task as an item of a list.
func (t *task) item() expr.Value { return obj(t.name, t.value) }

// list is tasks as a list.
func list(tasks []*task) expr.Value {
	out := make([]expr.Value, len(tasks))
	for i, t := range tasks {
		out[i] = t.item()
	}
	return expr.Array(out...)
}

// with sets a key; an empty text or null leaves it out.
func (t *task) with(key string, v expr.Value) *task {
	if !v.IsNull() && !(v.Kind() == expr.KindString && v.Str() == "") {
		t.value = t.value.With(key, v)
	}
	return t
}

func (t *task) has(key string) bool { _, ok := t.value.Get(key); return ok }

// from is the task on other data.
func (t *task) from(src string) *task {
	if src != "" {
		old, _ := t.value.Get("input")
		if old.IsNull() {
			old = expr.EmptyObject
		}
		t.value = t.value.With("input", old.With("from", str(src)))
	}
	return t
}

// as is the task with another output.
func (t *task) as(src string) *task {
	if src != "" {
		old, _ := t.value.Get("output")
		if old.IsNull() {
			old = expr.EmptyObject
		}
		t.value = t.value.With("output", old.With("as", str(src)))
	}
	return t
}

// then goes on at a task of the same list, or with a word: end, exit.
func (t *task) then(name string) *task { return t.with("then", str(name)) }

// block is tasks one after the other as one.
func block(name string, tasks ...*task) *task {
	return &task{name: name, value: obj("do", list(tasks))}
}

func str(s string) expr.Value { return expr.String(s) }

// jq is an expression as a value.
func jq(src string) expr.Value { return str("${ " + src + " }") }

// obj builds an object of keys and values.
func obj(pairs ...any) expr.Value {
	members := make([]expr.Member, 0, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		members = append(members, expr.Member{Key: pairs[i].(string), Value: pairs[i+1].(expr.Value)})
	}
	return expr.Object(members...)
}

// scope gives names to the tasks of a list.
type scope struct{ names map[string]bool }

func newScope() *scope { return &scope{map[string]bool{"end": true, "exit": true, "continue": true}} }

// name returns a name that no other task of the list has.
func (s *scope) name(name string) string {
	unique := name
	for n := 2; s.names[unique]; n++ {
		unique = name + " " + expr.Int(int64(n)).String()
	}
	s.names[unique] = true
	return unique
}
