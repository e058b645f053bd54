package sw05

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// actions reads actionMode and actions.
func (p *parser) actions(f *fields, required bool) actions {
	mode, _ := f.choice("actionMode", true, "sequential", "parallel")
	out := p.actionList(f, required)
	out.parallel = mode == "parallel"
	return out
}

func (p *parser) actionList(f *fields, required bool) actions {
	list, given := f.list("actions")
	workflow := !f.node.Get("workflowId").IsNull()
	switch n := f.node.Get("actions"); {
	case !given && required:
		f.missing("actions")
	case !given && !workflow && f.what == "onEvents entry":
		p.r.Warnf(f.node, codeNothing, "%s has no \"actions\": nothing is done when the events arrive", f.what)
	case n.Is(expr.KindArray) && len(list) == 0 && f.what != "onEvents entry":
		p.r.Warnf(n, codeNothing, "%s has no actions: it does nothing", f.what)
	}
	var out actions
	for _, n := range list {
		if a := p.action(n); a != nil {
			out.list = append(out.list, a)
		}
	}
	return out
}

// action reads 003 §Action Definition.
func (p *parser) action(n *dialect.Node) *action {
	f := p.fields(n, "action")
	if f == nil {
		return nil
	}
	a := &action{node: n, name: f.str("name")}
	if text(a.name) != "" {
		f.what = fmt.Sprintf("action %q", a.name.Text)
	}
	f.either("functionRef", "eventRef")
	if ref := f.get("functionRef"); ref != nil {
		a.call = p.functionRef(ref)
	}
	if ref := f.get("eventRef"); ref != nil {
		a.trigger = p.eventRef(ref)
	}
	a.timeout = p.duration(f.get("timeout"))
	if filter := p.fields(f.get("actionDataFilter"), "actionDataFilter"); filter != nil {
		a.input = p.path(filter.get("dataInputPath"), "dataInputPath")
		a.results = p.path(filter.get("dataResultsPath"), "dataResultsPath")
		filter.done()
	}
	f.done()
	return a
}

// functionRef reads 003 §FunctionRef Definition.
func (p *parser) functionRef(n *dialect.Node) *call {
	if n.Kind == expr.KindString {
		p.r.Errorf(n, codeType, "functionRef must be an object, not a string").WithHint("write {refName: %s}", n.Text)
		return nil
	}
	f := p.fields(n, "functionRef")
	if f == nil {
		return nil
	}
	c := &call{refName: f.name("refName"), parameters: p.template(f.typed("parameters", expr.KindObject))}
	f.done()
	if c.refName == nil {
		return nil
	}
	return c
}

// eventRef reads 003 §EventRef Definition.
func (p *parser) eventRef(n *dialect.Node) *trigger {
	f := p.fields(n, "eventRef")
	if f == nil {
		return nil
	}
	t := &trigger{produce: p.produced(f, "triggerEventRef"), result: use(f.name("resultEventRef"))}
	f.done()
	return t
}

// literal finds comparisons with text that is the spelling of something else.
var literal = regexp.MustCompile(
	`(==|!=)\s*(?:'(true|false|null)'|"(true|false|null)")` +
		`|(<=?|>=?)\s*(?:'(-?\d+(?:\.\d+)?)'|"(-?\d+(?:\.\d+)?)")`)

// literals warns of comparisons that cannot hold as they were likely meant:
// nothing is converted, 'true' is not true (SEMANTICS §Expressions).
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
			p.r.Warnf(n.SpanIn(from-1, to+1), codeLiteral, "%s is text: it never equals %s", quoted, what).
				WithHint("write %s without quotes", value)
		}
	}
}
