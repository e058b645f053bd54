package sw05

import (
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/calendar"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// exit reads where a state, condition or error leads: exactly one of transition
// and end (semantics.md §Control flow).
func (p *parser) exit(f *dialect.Fields) exit {
	if f == nil {
		return exit{}
	}
	e := exit{transition: p.transition(f), end: p.end(f)}
	if t, n := f.Peek("transition"), f.Peek("end"); t != nil && n != nil {
		p.Errorf(dialect.Later(t, n).KeySpan(), codeTwoExits, "%s has both a transition and an end; exactly one of them must hold", f.What)
	}
	return e
}

// needExit is an exit that must lead somewhere.
func (p *parser) needExit(f *dialect.Fields) exit {
	e := p.exit(f)
	if f != nil && f.Peek("transition") == nil && f.Peek("end") == nil {
		p.noExit(f.Node, f.What)
	}
	return e
}

func (p *parser) noExit(at dialect.Place, what string) {
	p.Errorf(at, codeNoExit, "%s has neither a transition nor an end", what).
		WithHint("say where it goes on, or that the workflow is over")
}

// transition reads a transition (0.5 §Transition Definition).
func (p *parser) transition(f *dialect.Fields) *transition {
	n := f.Get("transition")
	if n == nil {
		return nil
	}
	if n.Kind == expr.KindString {
		p.Expected(n, "transition", "an object").WithHint("write {nextState: %s}", n.Text)
		return nil
	}
	t := p.Fields(n, "transition")
	if t == nil {
		return nil
	}
	return p.transitionOf(t)
}

// transitionOf reads the members of a transition.
func (p *parser) transitionOf(t *dialect.Fields) *transition {
	out := &transition{node: t.Node, next: t.Name("nextState")}
	p.guard(t, out)
	out.compensate = p.compensateBefore(t)
	out.produce = p.produceEvents(t)
	t.Done()
	return out
}

// end reads an end (0.5 §End Definition).
func (p *parser) end(f *dialect.Fields) *end {
	n := f.Get("end")
	if n == nil {
		return nil
	}
	if n.Kind == expr.KindBool {
		p.Expected(n, "end", "an object").WithHint("write {kind: %s}", p.form.spell("default"))
		return nil
	}
	e := p.Fields(n, "end")
	if e == nil {
		return nil
	}
	kind, at := p.word(e, "kind", "default", "terminate", "event")
	if at == nil {
		e.Missing("kind").WithHint("one of %s, %s, %s", p.form.spell("default"), p.form.spell("terminate"), p.form.spell("event"))
	}
	out := &end{node: n, terminate: kind == "terminate", produce: p.produceEvents(e), compensate: p.compensateBefore(e)}
	events := e.Peek("produceEvents")
	if one := e.Peek("produceEvent"); one != nil && p.form.before05() {
		events = one
	}
	switch {
	case kind == "event" && events == nil:
		e.Missing(p.produceKey()).WithHint("an end of kind %s says which events it produces", p.form.spell("event"))
	case kind != "event" && kind != "" && len(out.produce) > 0:
		p.Warnf(events.KeySpan(), codeEndKind, "an end of kind %q has no %s; the events are produced anyway", p.form.spell(kind), events.Name()).
			WithHint("write kind: %s", p.form.spell("event"))
	}
	e.Done()
	return out
}

func (p *parser) compensateBefore(f *dialect.Fields) *dialect.Node {
	if p.form.before05() {
		return nil
	}
	if on, at := f.Flag("compensateBefore", false); on {
		return at
	}
	return nil
}

func (p *parser) produceEvents(f *dialect.Fields) []*produced {
	var out []*produced
	list, _ := f.List("produceEvents")
	if p.form.before05() {
		list = append(list, p.produceEvent(f)...)
	}
	for _, n := range list {
		e := p.Fields(n, "a produced event")
		if e == nil {
			continue
		}
		one := p.produced(e, "eventRef")
		e.Done()
		out = append(out, &one)
	}
	return out
}

// produced reads what an event that is sent consists of (0.5 §ProducedEvent Definition).
func (p *parser) produced(f *dialect.Fields, ref string) produced {
	out := produced{event: use(p.producedName(f, ref))}
	if data := f.Get("data"); data != nil {
		switch data.Kind {
		case expr.KindString:
			p.payload(&out, data)
		case expr.KindObject:
			out.data = p.template(data)
		default:
			p.Expected(data, "data", "an expression or an object")
		}
	}
	out.attributes = p.contextAttributes(f)
	return out
}

// payload reads data given as text: an expression that selects it, or text
// around expressions, which is the payload itself.
func (p *parser) payload(out *produced, n *dialect.Node) {
	if hasExpression(n.Text) && !isExpression(n.Text) {
		out.data = p.template(n)
		return
	}
	out.selects = p.path(n)
}

// contextAttributes is an object, or a list of objects as in 0.5's example.
func (p *parser) contextAttributes(f *dialect.Fields) *template {
	n := f.Get("contextAttributes")
	if n == nil {
		return nil
	}
	objects := []*dialect.Node{n}
	if n.Kind == expr.KindArray {
		objects = n.Items
	}
	all := expr.EmptyObject
	for _, o := range objects {
		if !p.Is(o, expr.KindObject, "contextAttributes") {
			continue
		}
		for _, m := range o.Members {
			if m.Kind == expr.KindObject || m.Kind == expr.KindArray {
				p.Errorf(m, codeAttribute, "context attribute %q must be a string, a number or a boolean, not %s", m.Name(), m.Kind.WithArticle()).
					WithHint("put structured data into data")
			}
			if t := p.template(m); t != nil {
				all = all.With(m.Name(), t.value)
			}
		}
	}
	if all.Len() == 0 {
		return nil
	}
	return &template{node: n, value: all}
}

// start reads a start (0.5 §Start Definition).
func (p *parser) start(f *dialect.Fields) *start {
	n := f.Get("start")
	if n == nil {
		return nil
	}
	out := &start{node: n}
	if n.Kind == expr.KindBool {
		p.Expected(n, "start", "an object").WithHint("write {kind: %s}", p.form.spell("default"))
		return out
	}
	s := p.Fields(n, "start")
	if s == nil {
		return out
	}
	kind, at := p.word(s, "kind", "default", "scheduled")
	if at == nil {
		s.Missing("kind").WithHint("one of %s, %s", p.form.spell("default"), p.form.spell("scheduled"))
	}
	if plan := s.Get("schedule"); plan != nil {
		out.schedule = p.schedule(p.Fields(plan, "schedule"))
	}
	switch plan := s.Peek("schedule"); {
	case kind == "scheduled" && plan == nil:
		s.Missing("schedule").WithHint("a scheduled start says when, with %s", p.scheduleKeys())
	case kind == "default" && plan != nil:
		p.Warnf(plan.KeySpan(), codeIgnored, "a start of kind %s has no schedule; it is ignored", p.form.spell("default")).
			WithHint("write kind: %s", p.form.spell("scheduled"))
		out.schedule = nil
	}
	s.Done()
	return out
}

// schedule reads when instances may or should be started (0.5 §Schedule Definition).
func (p *parser) schedule(f *dialect.Fields) *schedule {
	if f == nil {
		return nil
	}
	out := &schedule{}
	f.Either("interval", "cron")
	if n := f.Str("interval"); n != nil {
		_, err := calendar.ParseInterval(n.Text)
		p.timeError(n, codeInterval, err)
		out.interval = n.Text
	}
	if n := f.Str("cron"); n != nil {
		p.Cron(n, codeCron)
		out.cron = n.Text
	}
	if n := f.Str("timezone"); n != nil {
		p.Zone(n, codeZone)
		out.zone = n.Text
		if f.Peek("interval") != nil {
			p.Warnf(n.KeySpan(), codeIgnored, "timezone is for cron; an interval names its zones itself")
		}
	}
	invoke, at := f.Choice("directInvoke", "allow", "deny")
	if at == nil && !p.form.before05() {
		p.Warnf(f.Node, codeDirectInvoke, "the schedule has no \"directInvoke\"; it is taken as \"deny\"").
			WithHint("allow lets people start instances outside of the schedule")
	}
	out.directInvoke = invoke == "allow"
	f.Done()
	return out
}
