package sw10

import (
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// eventAttributes are those of CloudEvents that the language names; others are extensions.
var eventAttributes = []string{"id", "source", "type", "time", "subject", "datacontenttype", "dataschema", "data"}

// emitTask reads an event that is produced (Open Workflow §Emit).
func (p *parser) emitTask(f *dialect.Fields) *emitTask {
	b := &emitTask{}
	emit := p.Fields(f.Get(kindEmit), kindEmit)
	if event := p.Fields(emit.Need("event"), "event"); event != nil {
		p.produced(b, event.Need("with"))
		p.visited(event)
	}
	emit.Done()
	return b
}

// visited is Done for an object that may have further keys.
func (p *parser) visited(f *dialect.Fields) {
	if f != nil && p.Visit != nil {
		p.Visit(f)
	}
}

// produced reads the attributes of an event.
func (p *parser) produced(b *emitTask, n *dialect.Node) {
	f := p.Fields(n, "with")
	if f == nil {
		return
	}
	s := p.in(taskBody, kindEmit)
	s.leaves = true
	for _, key := range eventAttributes {
		m := f.Get(key)
		switch {
		case m == nil && key == "type":
			f.Missing(key)
		case m == nil:
		case key == "type":
			b.typ = p.textValue(m, s)
		case key == "source" || key == "dataschema":
			p.address(m, s)
		case key == "data":
			p.template(m, s)
		default:
			p.textValue(m, s)
		}
	}
	for _, m := range n.Members {
		if slices.Contains(eventAttributes, m.Name()) {
			continue
		}
		if !isAttribute(m.Name()) {
			p.Errorf(m.Key, codeAttribute, "an event cannot have the attribute %q", m.Name()).
				WithHint("names of attributes have only small letters and digits")
		}
		p.template(m, s)
	}
	p.visited(f)
	b.event = p.whole(n)
}

// isAttribute reports whether a name is allowed by CloudEvents.
func isAttribute(name string) bool {
	return name != "" && strings.IndexFunc(name, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') }) < 0
}

// listenTask reads what is waited for (Open Workflow §Listen).
func (p *parser) listenTask(f *dialect.Fields, t *task) *listenTask {
	b := &listenTask{read: readData}
	if listen := p.Fields(f.Get(kindListen), kindListen); listen != nil {
		b.to = p.consumption(listen.Need("to"), "listen.to", p.in(taskEvents, kindListen))
		if word, _ := listen.Choice("read", readData, readEnvelope, readRaw); word != "" {
			b.read = word
		}
		listen.Done()
	}
	b.foreach = p.iterator(f.Get("foreach"), t.ref+"/foreach/do")
	return b
}

// iterator reads what happens for each event or message (Open Workflow §Subscription Iterator).
func (p *parser) iterator(n *dialect.Node, ref string) *iterator {
	f := p.Fields(n, "foreach")
	if f == nil {
		return nil
	}
	it := &iterator{node: n}
	it.item = p.variableName(f, "item", "item")
	it.at = p.variableName(f, "at", "index")
	p.with([]string{it.item, it.at}, func() {
		it.do = p.list(f.Get("do"), ref)
		it.output = p.dataFlow(f.Get("output"), "as", p.in(taskOutput, "foreach.output"))
		it.export = p.dataFlow(f.Get("export"), "as", p.in(taskExport, "foreach.export"))
	})
	f.Done()
	return it
}

// consumption reads which events are consumed (Open Workflow §Event Consumption Strategy).
func (p *parser) consumption(n *dialect.Node, what string, s scope) *consumption {
	f := p.Fields(n, what)
	if f == nil {
		return nil
	}
	c := &consumption{node: n}
	var first *dialect.Node
	for _, mode := range []string{consumeAll, consumeAny, consumeOne} {
		m := f.Get(mode)
		switch {
		case m == nil:
			continue
		case first != nil:
			f.Both(first, m)
			continue
		}
		first, c.mode = m, mode
		if mode == consumeOne {
			if one := p.eventFilter(m, s); one != nil {
				c.filters = append(c.filters, one)
			}
			continue
		}
		items, _ := f.List(mode)
		c.filters = dialect.Each(items, func(n *dialect.Node) *eventFilter { return p.eventFilter(n, s) })
		if mode == consumeAll && m.Is(expr.KindArray) && len(items) == 0 {
			p.Errorf(m, codeEmpty, "all must not be empty").WithHint("any: [] takes every event")
		}
	}
	p.until(c, f, s)
	f.Done()
	if first == nil {
		p.Errorf(n.KeySpan(), codeMissing, "%s needs one of all, any, one", what)
	}
	return c
}

// until reads when a listener of any ends.
func (p *parser) until(c *consumption, f *dialect.Fields, s scope) {
	n := f.Get("until")
	switch {
	case n == nil:
		return
	case c.mode != "" && c.mode != consumeAny:
		p.Errorf(n.KeySpan(), codeOutOfPlace, "until is for any; %s ends by itself", c.mode)
	case n.Kind == expr.KindString:
		s.where = "until"
		c.until = p.condition(n, s)
	case n.Kind == expr.KindObject:
		c.untilEvents = p.consumption(n, "until", s)
		if inner := n.Get("until"); inner != nil {
			p.Errorf(inner.Key, codeOutOfPlace, "the events that end a listener cannot have an until of their own")
		}
	default:
		p.Expected(n, "until", "an expression or an object")
	}
}

// eventFilter reads a filter (Open Workflow §Event Filter).
func (p *parser) eventFilter(n *dialect.Node, s scope) *eventFilter {
	f := p.Fields(n, "an event filter")
	if f == nil {
		return nil
	}
	e := &eventFilter{node: n}
	with := f.Need("with")
	if w := p.Fields(with, "with"); w != nil {
		s.where = "an event filter"
		for _, key := range eventAttributes {
			w.Get(key)
		}
		for _, m := range with.Members {
			if m.Name() != "data" && m.Kind != expr.KindString {
				p.Expected(m, m.Name(), "a text or an expression")
				continue
			}
			if value := p.pattern(m, s); value != nil {
				e.attributes = append(e.attributes, attribute{m.Name(), value})
			}
		}
		if len(with.Members) == 0 {
			p.Errorf(with, codeEmpty, "with must not be empty").WithHint("any: [] takes every event")
		}
		p.visited(w)
	}
	p.correlations(e, f.Get("correlate"), s)
	f.Done()
	return e
}

// pattern reads a condition on an attribute. In a regular expression $ and { are its own.
func (p *parser) pattern(n *dialect.Node, s scope) *expression { return p.code(n, s) }

// correlations read how events belong together (Open Workflow §Correlation).
func (p *parser) correlations(e *eventFilter, n *dialect.Node, s scope) {
	if p.open(n) == nil {
		return
	}
	for _, m := range n.Members {
		f := p.Fields(m, "a correlation")
		if f == nil {
			continue
		}
		f.Called(m.Key)
		s.where = "correlate"
		c := correlation{key: m.Key, from: p.expression(f.Need("from"), langJQ, s), expect: p.template(f.Get("expect"), s)}
		f.Done()
		e.correlate = append(e.correlate, c)
	}
}
