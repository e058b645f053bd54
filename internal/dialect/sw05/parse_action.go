package sw05

import (
	"regexp"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// actions reads actionMode and actions.
func (p *parser) actions(f *dialect.Fields, required bool) actions {
	mode, _ := f.ChoiceFold("actionMode", "sequential", "parallel")
	out := p.actionList(f, required)
	out.parallel = mode == "parallel"
	return out
}

func (p *parser) actionList(f *dialect.Fields, required bool) actions {
	list, given := f.List("actions")
	switch n := f.Peek("actions"); {
	case !given && required:
		f.Missing("actions")
	case !given && f.What == onEventsEntry:
		p.Warnf(f.Node, codeNothing, "%s has no \"actions\": nothing is done when the events arrive", f.What)
	case n.Is(expr.KindArray) && len(list) == 0 && f.What != onEventsEntry:
		p.Warnf(n, codeNothing, "%s has no actions: it does nothing", f.What)
	}
	return actions{list: dialect.Each(list, p.action)}
}

// action reads 0.5 §Action Definition.
func (p *parser) action(n *dialect.Node) *action {
	f := p.Fields(n, "an action")
	if f == nil {
		return nil
	}
	a := &action{node: n, name: f.Str("name")}
	f.Called(a.name)
	f.Either("functionRef", "eventRef")
	if ref := f.Get("functionRef"); ref != nil {
		a.call = p.functionRef(ref)
	}
	if ref := f.Get("eventRef"); ref != nil {
		a.trigger = p.eventRef(ref)
	}
	a.timeout = p.duration(f.Get("timeout"))
	if filter := p.Fields(f.Get("actionDataFilter"), "actionDataFilter"); filter != nil {
		a.input = p.path(filter.Get("dataInputPath"))
		a.results = p.path(filter.Get("dataResultsPath"))
		filter.Done()
	}
	f.Done()
	return a
}

// functionRef reads 0.5 §FunctionRef Definition.
func (p *parser) functionRef(n *dialect.Node) *call {
	if n.Kind == expr.KindString {
		p.Expected(n, "functionRef", "an object").WithHint("write {refName: %s}", n.Text)
		return nil
	}
	f := p.Fields(n, "functionRef")
	if f == nil {
		return nil
	}
	c := &call{refName: f.Name("refName"), parameters: p.template(f.Typed("parameters", expr.KindObject))}
	f.Done()
	if c.refName == nil {
		return nil
	}
	return c
}

// eventRef reads 0.5 §EventRef Definition.
func (p *parser) eventRef(n *dialect.Node) *trigger {
	f := p.Fields(n, "eventRef")
	if f == nil {
		return nil
	}
	t := &trigger{produce: p.produced(f, "triggerEventRef"), result: use(f.Name("resultEventRef"))}
	f.Done()
	return t
}

// literal finds comparisons with text that is the spelling of something else.
var literal = regexp.MustCompile(
	`(==|!=)\s*(?:'(true|false|null)'|"(true|false|null)")` +
		`|(<=?|>=?)\s*(?:'(-?\d+(?:\.\d+)?)'|"(-?\d+(?:\.\d+)?)")`)

// literals warns of comparisons that cannot hold as they were likely meant:
// nothing is converted, 'true' is not true (semantics.md §Expressions).
func (p *parser) literals(n *dialect.Node) {
	for _, m := range literal.FindAllStringSubmatchIndex(n.Text, -1) {
		for _, group := range []int{2, 3, 5, 6} {
			from, to := m[2*group], m[2*group+1]
			if from < 0 {
				continue
			}
			value := n.Text[from:to]
			what := "a number"
			switch value {
			case "true", "false":
				what = "a boolean"
			case "null":
				what = "null"
			}
			quoted := strings.TrimSpace(n.Text[from-1 : to+1])
			p.Warnf(n.SpanIn(from-1, to+1), codeLiteral, "%s is text: it never equals %s", quoted, what).
				WithHint("write %s without quotes", value)
		}
	}
}
