package sw10

import "slices"

// neverCaught warns of a catch that no error of its tasks can match. Only what is certain is
// reported.
func (c *checker) neverCaught(t *task, b *tryTask) {
	if b.try == nil || b.try.unsure {
		return
	}
	if len(c.def.use.extensions) == 0 && c.safeList(b.try) {
		c.Warnf(b.catch.node.KeySpan(), codeCatchNothing, "%s catches nothing: its tasks cannot fail", t.title())
		return
	}
	f := b.catch.filter
	if f == nil {
		return
	}
	s := c.extensionErrors()
	s.list(b.try)
	c.Budget.Spend(len(s.raised))
	if s.any {
		return
	}
	name, standard := "", false
	if f.typ != nil {
		name, standard = standardError(f.typ.Text)
	}
	switch {
	case f.instance != nil && !c.refs[f.instance.Text]:
		c.Warnf(f.instance, codeCatchNothing, "no error matches: there is no task at %q", f.instance.Text).
			WithHint("an instance is as in %s", b.try.ref+"/0/name")
	case f.typ != nil && !standard && !s.raises(f.typ.Text, f):
		c.Warnf(f.typ, codeCatchNothing, "no error matches: nothing in this try raises the type %q", f.typ.Text).
			WithHint("calls raise %scommunication", errorBase)
	case f.status == nil || s.raises("", f):
	case f.statusValue < 100 || f.statusValue > 599:
		c.Warnf(f.status, codeCatchNothing, "no error matches: nothing in this try raises the status %d", f.statusValue)
	case fixedStatus[name] && f.statusValue != standardErrors[name]:
		c.Warnf(f.status, codeCatchNothing, "no error matches: %s errors have the status %d", name, standardErrors[name]).
			WithHint("leave the status out")
	}
}

// fixedStatus are the standard errors that have their own status unless they are raised by hand.
var fixedStatus = map[string]bool{errExpression: true, errTimeout: true, errValidation: true}

// safeList reports whether no task of a list can fail.
func (c *checker) safeList(l *taskList) bool {
	for _, t := range l.tasks {
		if !c.safe(t) {
			return false
		}
	}
	return true
}

// safe reports whether a task certainly cannot fail.
func (c *checker) safe(t *task) bool {
	if t.when != nil || t.input.node != nil || t.output.node != nil || t.export.node != nil || t.timeout.name != nil || t.timeout.def != nil {
		return false
	}
	switch b := t.body.(type) {
	case *setTask:
		return b.value != nil && b.value.constant
	case *waitTask:
		return b.duration != nil && b.duration.expr == nil
	case *doTask:
		return b.do != nil && !b.do.unsure && c.safeList(b.do)
	case *tryTask:
		return b.catch != nil && b.catch.all() && (b.catch.do == nil || c.safeList(b.catch.do))
	}
	return false
}

// all reports whether a catch takes every error, and lets none go on.
func (k *catch) all() bool {
	retries := k.retry.name != nil || k.retry.def != nil
	return k.filter == nil && k.node.Get("errors") == nil && k.node.Get("when") == nil && k.node.Get("exceptWhen") == nil && !retries
}

// sources are the errors that tasks raise by hand.
type sources struct {
	any    bool // anything at all: a function or a workflow from elsewhere
	raised []raised
}

type raised struct {
	typ    string // "": an expression
	status int64
}

// extensionErrors are those of the tasks around all tasks.
func (c *checker) extensionErrors() sources {
	if c.around == nil {
		c.around = &sources{}
		for _, x := range c.def.use.extensions {
			c.around.list(x.before)
			c.around.list(x.after)
		}
	}
	return sources{c.around.any, slices.Clip(c.around.raised)}
}

func (s *sources) list(l *taskList) {
	if l == nil {
		return
	}
	for _, t := range l.tasks {
		s.task(t)
	}
}

func (s *sources) task(t *task) {
	switch b := t.body.(type) {
	case nil:
		s.any = true
	case *callTask:
		s.any = s.any || b.args == nil // not built in
	case *runTask:
		s.any = true
	case *raiseTask:
		if b.err.def == nil {
			s.any = true
		} else {
			text, _ := b.err.def.typ.text()
			s.raised = append(s.raised, raised{errorType(text), b.err.def.status})
		}
	}
	if t.body == nil {
		return
	}
	for _, l := range t.body.lists() {
		s.list(l)
	}
}

// raises reports whether an error may be raised by hand that has the type, or any where it is
// empty, and the status of the filter.
func (s *sources) raises(typ string, f *errorFilter) bool {
	typ = errorType(typ)
	for _, e := range s.raised {
		if (typ == "" || e.typ == "" || e.typ == typ) && (f.status == nil || e.status == f.statusValue) {
			return true
		}
	}
	return false
}
