package sw08

import (
	"regexp"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/calendar"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// workflowTimeouts reads the timeouts of the workflow, which hold for states that have none of their own
// (0.8 §Workflow Timeout Definition), and 0.6's execTimeout.
func (p *parser) workflowTimeouts(f *dialect.Fields) {
	n, _ := p.referred(f.Get("timeouts"), "timeouts")
	if o := p.Fields(n, "timeouts"); o != nil {
		p.w.timeouts = p.timeouts(o)
		p.w.timeouts.workflow = p.workflowTimeout(o.Get("workflowExecTimeout"))
		o.Done()
	}
	if n := f.Get("execTimeout"); n != nil {
		p.w.timeouts.workflow = p.workflowTimeout(n)
		p.w.timeouts.explicitHere = true
	}
}

// timeouts reads those that workflows, states and branches share.
func (p *parser) timeouts(f *dialect.Fields) timeouts {
	out := timeouts{explicitHere: len(f.Node.Members) > 0}
	switch n := f.Get("stateExecTimeout"); {
	case n.Is(expr.KindObject):
		o := p.Fields(n, "stateExecTimeout")
		out.state = p.timeout(o.Need("total"))
		out.single = p.timeout(o.Get("single"))
		o.Done()
	default:
		out.state = p.timeout(n)
	}
	out.action = p.timeout(f.Get("actionExecTimeout"))
	out.branch = p.timeout(f.Get("branchExecTimeout"))
	out.event = p.timeout(f.Get("eventTimeout"))
	return out
}

// ownTimeouts reads the timeouts of a state or a branch, where that of the workflow has no place.
func (p *parser) ownTimeouts(f *dialect.Fields) timeouts {
	o := p.Fields(f.Get("timeouts"), "timeouts")
	if o == nil {
		return timeouts{}
	}
	out := p.timeouts(o)
	if n := o.Get("workflowExecTimeout"); n != nil {
		p.Errorf(n.KeySpan(), codeOutOfPlace, "workflowExecTimeout belongs to the timeouts of the workflow").
			WithHint("a state has stateExecTimeout")
	}
	o.Done()
	p.era(f, form07, form09, "timeouts")
	return out
}

// inherit fills in what is absent from what is around.
func (t *timeouts) inherit(from timeouts) {
	if t.state == nil {
		t.state, t.single = from.state, orDuration(t.single, from.single)
	}
	t.action = orDuration(t.action, from.action)
	t.branch = orDuration(t.branch, from.branch)
	t.event = orDuration(t.event, from.event)
}

func orDuration(a, b *duration) *duration {
	if a != nil {
		return a
	}
	return b
}

// workflowTimeout reads workflowExecTimeout (0.8 §WorkflowExecTimeout Definition). interrupt is false where it
// is absent: so the text; the schema of 0.7 and later says true.
func (p *parser) workflowTimeout(n *dialect.Node) *workflowTimeout {
	if n == nil {
		return nil
	}
	t := &workflowTimeout{node: n}
	if n.Kind != expr.KindObject {
		t.duration = p.timeout(n)
	} else {
		f := p.Fields(n, n.Name())
		t.duration = p.timeout(f.Need("duration"))
		t.interrupt, _ = p.flag(f, "interrupt", false)
		t.runBefore = f.OptionalName("runBefore")
		f.Done()
	}
	if t.duration == nil {
		return nil
	}
	return t
}

// start reads where instances begin, and when (0.8 §Start Definition).
func (p *parser) start(f *dialect.Fields) {
	n := f.Get("start")
	switch {
	case n == nil && p.form < form08:
		p.Warnf(f.Node, codeNoStart, "the workflow has no \"start\"; instances begin at the first state")
	case n == nil:
	case n.Kind == expr.KindString:
		p.w.startNode = p.NonEmpty(n, "start")
	case n.Kind == expr.KindObject:
		o := p.Fields(n, "start")
		p.w.startNode = o.OptionalName("stateName")
		if plan := o.Get("schedule"); plan != nil {
			p.w.schedule = p.schedule(plan)
		}
		if o.Peek("stateName") == nil && o.Peek("schedule") == nil {
			o.Missing("stateName")
		} else if o.Peek("stateName") == nil && p.said && p.form < form08 {
			p.Warnf(n.KeySpan(), codeNoStart, "start has no \"stateName\"; instances begin at the first state")
		}
		o.Done()
	default:
		p.Expected(n, "start", "the name of a state, or an object")
	}
}

// schedule reads when instances are created (0.8 §Schedule Definition).
func (p *parser) schedule(n *dialect.Node) *schedule {
	out := &schedule{node: n}
	if n.Kind == expr.KindString {
		out.repeating = p.repeating(n)
		return out
	}
	f := p.Fields(n, "schedule")
	if f == nil {
		return nil
	}
	f.Either("interval", "cron")
	if n := f.Str("interval"); n != nil {
		out.repeating = p.repeating(n)
	}
	switch n := f.Get("cron"); {
	case n.Is(expr.KindObject):
		c := p.Fields(n, "cron")
		p.cron(out, c.Name("expression"))
		p.until(out, c.Str("validUntil"))
		c.Done()
	case n != nil:
		p.cron(out, p.Named(n, "cron"))
	}
	if n := f.Str("timezone"); n != nil {
		p.Zone(n, codeZone)
		out.zone = n.Text
		zone, err := time.LoadLocation(n.Text)
		if r := out.repeating; r != nil && err == nil {
			r.From, r.Until = localize(r.From, f.Peek("interval"), zone), localize(r.Until, f.Peek("interval"), zone)
		}
		if err == nil {
			out.until = localize(out.until, f.Peek("cron").Get("validUntil"), zone)
		}
	}
	f.Done()
	return out
}

// localize takes a time that names no offset for a local one (0.8 §Schedule Definition).
func localize(t time.Time, written *dialect.Node, zone *time.Location) time.Time {
	if t.IsZero() || offset.MatchString(written.Literal()) {
		return t
	}
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), zone)
}

// offset finds an offset from UTC behind a time.
var offset = regexp.MustCompile(`T[\d:.,]+(Z|[+-]\d\d)`)

func (p *parser) repeating(n *dialect.Node) *calendar.Repeating {
	text := strings.TrimSpace(n.Text)
	r, err := calendar.ParseRepeating(text)
	if err != nil {
		p.Malformed(n, strings.Index(n.Text, text), codeInterval, "interval", err)
		return nil
	}
	return &r
}

func (p *parser) cron(out *schedule, n *dialect.Node) {
	if n != nil && p.Cron(n, codeCron) {
		out.cron = n.Text
	}
}

func (p *parser) until(out *schedule, n *dialect.Node) {
	if n == nil {
		return
	}
	at, err := calendar.ParseInstant(n.Text)
	if err != nil {
		p.Malformed(n, 0, codeInterval, "validUntil", err)
		return
	}
	out.until = at
}
