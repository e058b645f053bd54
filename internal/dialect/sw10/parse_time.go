package sw10

import (
	"math"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/calendar"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// durationHint shows the ways to write a duration.
const durationHint = `as in {seconds: 30} or "PT30S"`

// duration reads an amount of time: an object of units, ISO 8601, or an expression.
func (p *parser) duration(n *dialect.Node, s scope) *duration {
	switch {
	case n == nil:
		return nil
	case n.Kind == expr.KindObject:
		return p.units(n)
	case n.Kind != expr.KindString:
		p.Expected(n, n.Name(), "a duration").WithHint(durationHint)
		return nil
	}
	if src, begin, ok := undelimited(n.Text); ok {
		e := p.single(n, langJQ, src, begin, s)
		if e == nil {
			return nil
		}
		return &duration{node: n, expr: e}
	}
	value, err := calendar.ParseDuration(n.Text)
	if err != nil && p.def.loose && p.jq(strings.TrimSpace(n.Text)).err == nil {
		return &duration{node: n, expr: p.expression(n, langJQ, s)}
	}
	if err != nil {
		if d := p.Malformed(n, 0, codeDuration, n.Name(), err); d.Hint == "" {
			d.WithHint(durationHint)
		}
		return nil
	}
	return &duration{node: n, value: value}
}

// units reads a duration as an object.
func (p *parser) units(n *dialect.Node) *duration {
	f := p.Fields(n, n.Name())
	d := &duration{node: n}
	var whole time.Duration
	for _, unit := range []struct {
		key string
		of  time.Duration
	}{{"days", 0}, {"hours", time.Hour}, {"minutes", time.Minute}, {"seconds", time.Second}, {"milliseconds", time.Millisecond}} {
		m := f.Get(unit.key)
		if m == nil {
			continue
		}
		most := int64(math.MaxInt32)
		if unit.of > 0 {
			most = maxDays * int64(24*time.Hour/unit.of)
		}
		value, _ := p.Whole(m, m.Name(), 0, most)
		if unit.of == 0 {
			d.value.Days = value
		} else {
			whole += time.Duration(value) * unit.of
		}
	}
	d.value.Nanos = int64(whole)
	f.Done()
	if len(n.Members) == 0 {
		p.Errorf(n, codeEmpty, "%s must not be empty", n.Name()).WithHint(durationHint)
		return nil
	}
	return d
}

// maxDays keeps the sum of all units within the range of nanoseconds.
const maxDays = 20_000

// timeout reads a timeout, or the name of one of use.timeouts.
func (p *parser) timeout(n *dialect.Node, s scope) use[timeout] {
	switch {
	case n == nil:
		return use[timeout]{}
	case n.Kind == expr.KindString:
		if p.NonEmpty(n, "timeout") == nil {
			return use[timeout]{}
		}
		return use[timeout]{name: n, scope: s}
	}
	return use[timeout]{def: p.timeoutDef(n, s), scope: s}
}

func (p *parser) timeoutDef(n *dialect.Node, s scope) *timeout {
	f := p.Fields(n, "timeout")
	if f == nil {
		return nil
	}
	t := &timeout{shared: shared{node: n}, after: p.duration(f.Need("after"), s)}
	f.Done()
	return t
}

// schedule reads how instances come to be (Open Workflow §Schedule).
func (p *parser) schedule(n *dialect.Node) *schedule {
	f := p.Fields(n, "schedule")
	if f == nil {
		return nil
	}
	s := &schedule{
		node:  n,
		every: p.duration(f.Get("every"), inSchedule),
		cron:  f.OptionalName("cron"),
		after: p.duration(f.Get("after"), inSchedule),
		on:    p.consumption(f.Get("on"), "schedule.on", inSchedule),
		read:  readData,
	}
	word, read := f.Choice("read", readData, readEnvelope, readRaw)
	if word != "" {
		s.read = word
	}
	f.Done()
	for _, d := range []*duration{s.every, s.after} {
		if d == nil {
			continue
		}
		if d.expr != nil {
			p.Errorf(d.node, codeConstant, "%s of a schedule cannot be an expression: there is no instance yet", d.node.Name())
		} else if d == s.every && d.value == (calendar.Duration{}) {
			p.Errorf(d.node, codeDuration, "%s must be longer than zero", d.node.Name())
		}
	}
	if s.cron != nil {
		p.Cron(s.cron, codeCron)
	}
	given := f.Peek("every") != nil || f.Peek("cron") != nil || f.Peek("after") != nil || f.Peek("on") != nil
	switch {
	case read != nil && f.Peek("on") == nil:
		p.Errorf(read.KeySpan(), codeOutOfPlace, "read says how the events of on are read, and there is no on")
	case !given:
		p.Errorf(n.KeySpan(), codeMissing, "schedule needs one of every, cron, after, on")
	}
	return s
}
