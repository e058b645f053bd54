package sw05

import (
	"time"

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
	out := &transition{node: n, next: t.Name("nextState")}
	out.expression = p.path(t.Get("expression"))
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
		p.Expected(n, "end", "an object").WithHint("write {kind: default}")
		return nil
	}
	e := p.Fields(n, "end")
	if e == nil {
		return nil
	}
	kind, at := e.Choice("kind", "default", "terminate", "event")
	if at == nil {
		e.Missing("kind").WithHint("one of default, terminate, event")
	}
	out := &end{node: n, terminate: kind == "terminate", produce: p.produceEvents(e), compensate: p.compensateBefore(e)}
	events := e.Peek("produceEvents")
	switch {
	case kind == "event" && events == nil:
		e.Missing("produceEvents").WithHint("an end of kind event says which events it produces")
	case kind != "event" && kind != "" && len(out.produce) > 0:
		p.Warnf(events.KeySpan(), codeEndKind, "an end of kind %q has no produceEvents; the events are produced anyway", kind).
			WithHint("write kind: event")
	}
	e.Done()
	return out
}

func (p *parser) compensateBefore(f *dialect.Fields) *dialect.Node {
	if on, at := f.Flag("compensateBefore", false); on {
		return at
	}
	return nil
}

func (p *parser) produceEvents(f *dialect.Fields) []*produced {
	var out []*produced
	list, _ := f.List("produceEvents")
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
	out := produced{event: use(f.Name(ref))}
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
		p.Expected(n, "start", "an object").WithHint("write {kind: default}")
		return out
	}
	s := p.Fields(n, "start")
	if s == nil {
		return out
	}
	kind, at := s.Choice("kind", "default", "scheduled")
	if at == nil {
		s.Missing("kind").WithHint("one of default, scheduled")
	}
	if plan := s.Get("schedule"); plan != nil {
		out.schedule = p.schedule(p.Fields(plan, "schedule"))
	}
	switch plan := s.Peek("schedule"); {
	case kind == "scheduled" && plan == nil:
		s.Missing("schedule").WithHint("a scheduled start says when, with interval or cron")
	case kind == "default" && plan != nil:
		p.Warnf(plan.KeySpan(), codeIgnored, "a start of kind default has no schedule; it is ignored").
			WithHint("write kind: scheduled")
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
		_, err := calendar.ParseCron(n.Text)
		p.timeError(n, codeCron, err)
		out.cron = n.Text
	}
	if n := f.Str("timezone"); n != nil {
		p.zone(n)
		out.zone = n.Text
		if f.Peek("interval") != nil {
			p.Warnf(n.KeySpan(), codeIgnored, "timezone is for cron; an interval names its zones itself")
		}
	}
	invoke, at := f.Choice("directInvoke", "allow", "deny")
	if at == nil {
		p.Warnf(f.Node, codeDirectInvoke, "the schedule has no \"directInvoke\"; it is taken as \"deny\"").
			WithHint("allow lets people start instances outside of the schedule")
	}
	out.directInvoke = invoke == "allow"
	f.Done()
	return out
}

func (p *parser) zone(n *dialect.Node) {
	_, err := time.LoadLocation(n.Text)
	if err == nil && n.Text != "" && n.Text != "Local" {
		return
	}
	d := p.Errorf(n, codeZone, "%q is not a time zone", n.Text).WithHint("use a name of the tz database, as in America/Los_Angeles")
	p.DidYouMean(d, n.Text, commonZones)
}

// commonZones are for suggestions only.
var commonZones = []string{
	"UTC", "America/Los_Angeles", "America/New_York", "America/Chicago", "America/Denver", "America/Sao_Paulo",
	"Europe/London", "Europe/Berlin", "Europe/Paris", "Europe/Madrid", "Europe/Rome", "Europe/Zurich", "Europe/Amsterdam",
	"Europe/Moscow", "Europe/Istanbul", "Asia/Tokyo", "Asia/Shanghai", "Asia/Singapore", "Asia/Kolkata", "Asia/Dubai",
	"Australia/Sydney", "Africa/Johannesburg", "Africa/Cairo",
}
