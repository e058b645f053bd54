package sw05

import (
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/calendar"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// exit reads where a state, condition or error leads: exactly one of transition
// and end (SEMANTICS §Control flow).
func (p *parser) exit(f *fields) exit {
	if f == nil {
		return exit{}
	}
	e := exit{transition: p.transition(f), end: p.end(f)}
	t, n := f.node.Get("transition"), f.node.Get("end")
	if !t.IsNull() && !n.IsNull() {
		p.r.Errorf(later(t, n).KeySpan(), codeTwoExits, "%s has both a transition and an end; exactly one of them must hold", f.what)
	}
	return e
}

// needExit is an exit that must lead somewhere.
func (p *parser) needExit(f *fields) exit {
	e := p.exit(f)
	if f != nil && f.node.Get("transition").IsNull() && f.node.Get("end").IsNull() {
		p.noExit(f.node, f.what)
	}
	return e
}

func (p *parser) noExit(at dialect.Place, what string) {
	p.r.Errorf(at, codeNoExit, "%s has neither a transition nor an end", what).
		WithHint("say where it goes on, or that the workflow is over")
}

// transition reads a transition (003 §Transition Definition).
func (p *parser) transition(f *fields) *transition {
	n := f.get("transition")
	if n == nil {
		return nil
	}
	if n.Kind == expr.KindString {
		p.r.Errorf(n, codeType, "transition must be an object, not a string").WithHint("write {nextState: %s}", n.Text)
		return nil
	}
	t := p.fields(n, "transition")
	if t == nil {
		return nil
	}
	out := &transition{node: n, next: t.name("nextState")}
	out.expression = p.path(t.get("expression"), "expression")
	out.compensate = p.compensateBefore(t)
	out.produce = p.produceEvents(t)
	t.done()
	return out
}

// end reads an end (003 §End Definition).
func (p *parser) end(f *fields) *end {
	n := f.get("end")
	if n == nil {
		return nil
	}
	if n.Kind == expr.KindBool {
		p.r.Errorf(n, codeType, "end must be an object, not a boolean").WithHint("write {kind: default}")
		return nil
	}
	e := p.fields(n, "end")
	if e == nil {
		return nil
	}
	kind, at := e.choice("kind", false, "default", "terminate", "event")
	if at == nil && e.node.Get("kind").IsNull() {
		e.missing("kind").WithHint("one of default, terminate, event")
	}
	out := &end{node: n, terminate: kind == "terminate", produce: p.produceEvents(e), compensate: p.compensateBefore(e)}
	events := e.node.Get("produceEvents")
	switch {
	case kind == "event" && events.IsNull():
		e.missing("produceEvents").WithHint("an end of kind event says which events it produces")
	case kind != "event" && kind != "" && len(out.produce) > 0:
		p.r.Warnf(events.KeySpan(), codeEndKind, "an end of kind %q does not speak of events; they are produced all the same", kind).
			WithHint("write kind: event")
	}
	e.done()
	return out
}

func (p *parser) compensateBefore(f *fields) *dialect.Node {
	if on, at := f.flag("compensateBefore", false); on {
		return at
	}
	return nil
}

func (p *parser) produceEvents(f *fields) []*produced {
	var out []*produced
	list, _ := f.list("produceEvents")
	for _, n := range list {
		e := p.fields(n, "produced event")
		if e == nil {
			continue
		}
		one := p.produced(e, "eventRef")
		e.done()
		out = append(out, &one)
	}
	return out
}

// produced reads what an event that is sent consists of (003 §ProducedEvent Definition).
func (p *parser) produced(f *fields, ref string) produced {
	out := produced{event: use(f.name(ref))}
	if data := f.get("data"); data != nil {
		switch data.Kind {
		case expr.KindString:
			p.payload(&out, data)
		case expr.KindObject:
			out.data = p.template(data)
		default:
			p.r.Errorf(data, codeType, "data must be an expression or an object, not %s", article(data.Kind))
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
	out.selects = p.path(n, "data")
}

// contextAttributes is an object, or a list of objects as in 003's example.
func (p *parser) contextAttributes(f *fields) *template {
	n := f.get("contextAttributes")
	if n == nil {
		return nil
	}
	objects := []*dialect.Node{n}
	if n.Kind == expr.KindArray {
		objects = n.Items
	}
	all := expr.EmptyObject
	for _, o := range objects {
		if !p.is(o, expr.KindObject, "contextAttributes") {
			continue
		}
		for _, m := range o.Members {
			if m.Kind == expr.KindObject || m.Kind == expr.KindArray {
				p.r.Errorf(m, codeAttribute, "context attribute %q must be text, a number or a boolean, not %s", m.Name(), article(m.Kind)).
					WithHint("structured data belongs into data")
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

// start reads a start (003 §Start Definition).
func (p *parser) start(f *fields) *start {
	n := f.get("start")
	if n == nil {
		return nil
	}
	out := &start{node: n}
	if n.Kind == expr.KindBool {
		p.r.Errorf(n, codeType, "start must be an object, not a boolean").WithHint("write {kind: default}")
		return out
	}
	s := p.fields(n, "start")
	if s == nil {
		return out
	}
	kind, at := s.choice("kind", false, "default", "scheduled")
	if at == nil && n.Get("kind").IsNull() {
		s.missing("kind").WithHint("one of default, scheduled")
	}
	if plan := s.get("schedule"); plan != nil {
		out.schedule = p.schedule(p.fields(plan, "schedule"))
	}
	switch given := !n.Get("schedule").IsNull(); {
	case kind == "scheduled" && !given:
		s.missing("schedule").WithHint("a scheduled start says when, with interval or cron")
	case kind == "default" && given:
		p.r.Warnf(n.Get("schedule").KeySpan(), codeIgnored, "a start of kind default has no schedule; it is ignored").
			WithHint("write kind: scheduled")
		out.schedule = nil
	}
	s.done()
	return out
}

// schedule reads when instances may or should be started (003 §Schedule Definition).
func (p *parser) schedule(f *fields) *schedule {
	if f == nil {
		return nil
	}
	out := &schedule{}
	f.either("interval", "cron")
	if n := f.str("interval"); n != nil {
		_, err := calendar.ParseInterval(n.Text)
		p.timeError(n, codeInterval, "interval", err)
		out.interval = n.Text
	}
	if n := f.str("cron"); n != nil {
		_, err := calendar.ParseCron(n.Text)
		p.timeError(n, codeCron, "cron", err)
		out.cron = n.Text
	}
	if n := f.str("timezone"); n != nil {
		p.zone(n)
		out.zone = n.Text
		if i := f.node.Get("interval"); !i.IsNull() {
			p.r.Warnf(n.KeySpan(), codeIgnored, "timezone is for cron; an interval names its zones itself")
		}
	}
	invoke, at := f.choice("directInvoke", false, "allow", "deny")
	if at == nil && f.node.Get("directInvoke").IsNull() {
		p.r.Warnf(f.node, codeDirectInvoke, "the schedule has no \"directInvoke\"; it is taken as \"deny\"").
			WithHint("allow lets people start instances outside of the schedule")
	}
	out.directInvoke = invoke == "allow"
	f.done()
	return out
}

func (p *parser) zone(n *dialect.Node) {
	_, err := time.LoadLocation(n.Text)
	if err == nil && n.Text != "" && n.Text != "Local" {
		return
	}
	d := p.r.Errorf(n, codeZone, "%q is no time zone", n.Text).WithHint("use a name of the tz database, as in America/Los_Angeles")
	p.DidYouMean(d, n.Text, commonZones)
}

// commonZones are for suggestions only.
var commonZones = []string{
	"UTC", "America/Los_Angeles", "America/New_York", "America/Chicago", "America/Denver", "America/Sao_Paulo",
	"Europe/London", "Europe/Berlin", "Europe/Paris", "Europe/Madrid", "Europe/Rome", "Europe/Zurich", "Europe/Amsterdam",
	"Europe/Moscow", "Europe/Istanbul", "Asia/Tokyo", "Asia/Shanghai", "Asia/Singapore", "Asia/Kolkata", "Asia/Dubai",
	"Australia/Sydney", "Africa/Johannesburg", "Africa/Cairo",
}
