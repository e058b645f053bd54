package sw10

import (
	"regexp"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// What a listen task or a schedule reads of an event.
var readers = map[string]string{
	readData:     ".data",
	readEnvelope: ".",
	readRaw:      `if has("data_base64") then .data_base64 elif .data == null then null else (.data | tojson) end`,
}

// listened compiles a listen task (Open Workflow §Listen).
func (k *chain) listened(b *listenTask, inner string, next ir.NodeID) ir.NodeID {
	pos := k.t.node.IRPos()
	feed := &ir.Feed{Events: k.consumed(b.to), All: b.to.mode == consumeAll, Until: k.expr(b.to.until), Read: k.jq(readers[b.read], pos)}
	if u := b.to.untilEvents; u != nil {
		feed.Stop, feed.StopAll = k.consumed(u), u.mode == consumeAll
	}
	if f := b.foreach; f != nil {
		feed.Var, feed.At, feed.Body = f.item, f.at, k.iterated(f, inner)
	}
	return k.node(&ir.Fan{Feed: feed, Join: ir.JoinArray}, next)
}

// iterated is the region that runs for each event: its tasks, then what the element of the output
// and the context are. Without output.as the element is the event.
func (k *chain) iterated(f *iterator, inner string) ir.RegionID {
	element := k.transform(f.output, true)
	if f.output.value == nil {
		element.From, element.Put = k.jq("$"+f.item, f.node.IRPos()), asData
	}
	next := ir.NodeID(0)
	if f.export.node != nil {
		next = k.replaced(f.export, k.node(k.exported(f.export), 0))
	}
	next = k.node(element, next)
	if f.do != nil {
		l := k.fill(&flowList{taskList: f.do, prefix: inner, plain: k.l.plain, end: next})
		next = l.begin
	}
	return k.Region(ir.Region{Name: k.place.Name, Entry: next, Nested: true})
}

// consumed adds the events of a strategy. No filter at all is every event.
func (c *compiler) consumed(s *consumption) []ir.EventID {
	if len(s.filters) == 0 {
		return []ir.EventID{c.Event(ir.Event{Name: "any event", New: true, Pos: s.node.IRPos()})}
	}
	var out []ir.EventID
	for _, f := range s.filters {
		out = append(out, c.filtered(f))
	}
	return out
}

// plainText is a text that means itself as a regular expression, dots aside, which it is taken for.
var plainText = regexp.MustCompile(`^[\w./:@~%=&#, -]*$`)

// filtered adds the event that a filter selects. What a store can look up is the type, the source,
// attributes that are constants, and correlation keys that are paths; the rest the
// instance looks at itself.
func (c *compiler) filtered(f *eventFilter) ir.EventID {
	ev := ir.Event{Pos: f.node.IRPos()}
	for _, a := range f.attributes {
		v, isText := a.value.text()
		switch {
		case isText && plainText.MatchString(v) && a.name == "type":
			ev.Type = v
		case isText && plainText.MatchString(v) && a.name == "source":
			ev.Source = v
		case isText && plainText.MatchString(v) && a.name != "data":
			ev.Correlate = append(ev.Correlate, ir.Correlation{Attribute: a.name, Value: c.expr(a.value)})
		case isText && a.name != "data":
			src := "test(" + literal(expr.String("^(?:"+v+")$")) + ")"
			ev.Where = append(ev.Where, ir.Where{Attribute: a.name, Expr: c.jq(src, a.value.pos)})
		default:
			ev.Where = append(ev.Where, ir.Where{Attribute: a.name, Expr: c.expr(a.value)})
		}
	}
	for _, k := range f.correlate {
		// No attribute of an event has such a name.
		one := ir.Correlation{Attribute: "correlate " + k.key.Text, Value: c.expr(k.expect)}
		if path, ok := pathOf(k.from.src); ok {
			one.From = path
		} else {
			one.Select = c.expr(k.from)
		}
		ev.Correlate = append(ev.Correlate, one)
	}
	ev.Name = eventName(ev)
	return c.Event(ev)
}

// eventName is what people read of a filter.
func eventName(ev ir.Event) string {
	switch {
	case ev.Type != "":
		return ev.Type
	case ev.Source != "":
		return "an event of " + ev.Source
	}
	return "an event"
}

var simplePath = regexp.MustCompile(`^\s*(\.[A-Za-z_]\w*)+\s*$`)

// pathOf is a jq path over an event as the path by which stores find it.
func pathOf(src string) (string, bool) {
	if !simplePath.MatchString(src) {
		return "", false
	}
	return "$" + strings.TrimSpace(src), true
}

// start says how instances come to be (Open Workflow §Schedule).
func (c *compiler) start() {
	s := c.d.schedule
	if s == nil {
		return
	}
	if s.on != nil {
		c.Program.Start = ir.Start{Events: c.consumed(s.on), All: s.on.mode == consumeAll, AsInput: true, Read: c.jq(readers[s.read], s.node.IRPos())}
	}
	if s.cron == nil && s.every == nil && s.after == nil {
		return
	}
	out := &ir.Schedule{Every: c.span(s.every), DirectInvoke: true}
	if s.cron != nil {
		out.Cron = s.cron.Text
	}
	switch {
	case s.after == nil:
	case s.cron == nil && s.every == nil:
		out.After = c.span(s.after)
	default:
		c.r.Warnf(s.after.node, codeNotYet, "schedule: after cannot run yet beside cron or every, which start the workflow without it")
	}
	c.Program.Start.Schedule = out
}

func exprString(s string) expr.Value { return expr.String(s) }
