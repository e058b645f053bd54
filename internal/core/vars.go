package core

import (
	"slices"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
)

// binding is a variable of a frame.
type binding struct {
	name  string
	value expr.Value
}

// bind gives a variable of the frame a value. Frames inside of it see that, too.
func (f *frame) bind(name string, v expr.Value) {
	f.dirty = true
	if i := slices.IndexFunc(f.vars, func(b binding) bool { return b.name == name }); i >= 0 {
		f.vars[i].value = v
		return
	}
	f.vars = append(f.vars, binding{name, v})
}

// keepVars gives a detached frame the variables of where it began, which may end before it does.
func (m *machine) keepVars(from, to *frame) {
	for f := from; f != nil && f.kind != kindRoot; f = m.s.frame(f.parent) {
		for _, b := range slices.Concat(f.vars, m.loopVars(f)) {
			if !slices.ContainsFunc(to.vars, func(own binding) bool { return own.name == b.name }) {
				to.bind(b.name, b.value)
			}
		}
	}
}

// unbind forgets a variable of the frame.
func (f *frame) unbind(name string) {
	if i := slices.IndexFunc(f.vars, func(b binding) bool { return b.name == name }); i >= 0 {
		f.vars, f.dirty = slices.Delete(f.vars, i, i+1), true
	}
}

// caughtError is the variable of a frame that holds an error on its way to the region that handles it.
const caughtError = "caught error"

// give hands the error that was caught to the region that handles it, as a variable of that.
func (f *frame) give(to *frame, name string) {
	if i := slices.IndexFunc(f.vars, func(b binding) bool { return b.name == caughtError }); i >= 0 && name != "" {
		to.bind(name, f.vars[i].value)
		f.unbind(caughtError)
	}
}

// scope is what expressions of a frame see.
func (m *machine) scope(f *frame, own ...binding) expr.Scope {
	in := expr.Scope{Data: f.data, Lent: f.under}
	if m.p.Variables {
		in.Vars = &variables{m, f, own}
	}
	return in
}

// alone is what expressions of a frame see of a value that is not its data: that alone, and the variables.
func (m *machine) alone(f *frame, v expr.Value) expr.Scope {
	in := m.scope(f)
	in.Data, in.Lent = v, expr.Null
	return in
}

// variables are those that a frame sees: its own, then those of the frames around it, nearest
// first, then those of the instance.
type variables struct {
	m   *machine
	f   *frame
	own []binding // before those of the frame
}

// Var implements [expr.Vars].
func (v *variables) Var(name string) (expr.Value, bool) {
	for _, b := range v.own {
		if b.name == name {
			return b.value, true
		}
	}
	for f := v.f; f != nil; f = v.m.s.frame(f.parent) {
		for _, b := range f.vars {
			if b.name == name {
				return b.value, true
			}
		}
		if f.kind == kindRoot {
			break
		}
		for _, b := range v.m.loopVars(f) {
			if b.name == name {
				return b.value, true
			}
		}
	}
	switch m := v.m; name {
	case "context":
		return m.s.context, true
	case "secrets":
		if m.host.Secrets.IsNull() {
			return expr.EmptyObject, true
		}
		return m.host.Secrets, true
	case "workflow":
		return m.about(), true
	case "now":
		return instant(m.now), true
	}
	return expr.Null, false
}

// about is what the variable workflow tells of the instance.
func (m *machine) about() expr.Value {
	return expr.Object(
		expr.Member{Key: "definition", Value: m.p.definition},
		expr.Member{Key: "id", Value: expr.String(m.host.ID)},
		expr.Member{Key: "input", Value: m.s.Input()},
		expr.Member{Key: "startedAt", Value: instant(m.host.Created)},
	)
}

// instant is a time as expressions see it.
func instant(t Time) expr.Value {
	std := t.Std()
	return expr.Object(
		expr.Member{Key: "epoch", Value: expr.Object(
			expr.Member{Key: "milliseconds", Value: expr.Int(std.UnixMilli())},
			expr.Member{Key: "seconds", Value: expr.Int(std.Unix())},
		)},
		expr.Member{Key: "iso8601", Value: expr.String(std.Format(time.RFC3339Nano))},
	)
}

// setContext replaces the value that all frames share.
func (m *machine) setContext(v expr.Value) *Fault {
	if m.s.context.Same(v) {
		return nil
	}
	if fault := m.tooLarge(v); fault != nil {
		return fault
	}
	m.s.context, m.s.headDirty = v, true
	return nil
}
