package sw08

import (
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// exit reads where a state, condition or error leads: exactly one of transition and end.
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
		p.Errorf(f.Node.KeySpan(), codeNoExit, "%s has neither a transition nor an end", f.What).
			WithHint("say where it goes on, or that the workflow is over")
	}
	return e
}

// transition reads a transition (0.8 §Transition Definition).
func (p *parser) transition(f *dialect.Fields) *transition {
	n := f.Get("transition")
	if n == nil {
		return nil
	}
	if n.Kind == expr.KindString {
		if p.NonEmpty(n, "transition") == nil {
			return nil
		}
		return &transition{node: n, next: n}
	}
	t := p.Fields(n, "transition")
	if t == nil {
		return nil
	}
	out := &transition{node: n, next: t.Name("nextState"), compensate: p.compensate(t), produce: p.produceEvents(t)}
	t.Done()
	return out
}

// end reads an end (0.8 §End Definition).
func (p *parser) end(f *dialect.Fields) *end {
	n := f.Get("end")
	if n == nil {
		return nil
	}
	if on, ok := n.Bool(); ok {
		if !on {
			p.Errorf(n, codeChoice, "end cannot be false").WithHint("remove it, and add a transition")
			return nil
		}
		return &end{node: n}
	}
	if n.Kind == expr.KindString {
		p.Expected(n, "end", "true or an object").WithHint("remove the quotes")
		return nil
	}
	e := p.Fields(n, "end")
	if e == nil {
		return nil
	}
	out := &end{node: n, produce: p.produceEvents(e), compensate: p.compensate(e)}
	terminate, at := p.flag(e, "terminate", false)
	out.terminate = terminate
	if c := e.Get("continueAs"); c != nil {
		out.continueAs = p.continueAs(c)
		if at != nil && !terminate {
			p.Warnf(at.KeySpan(), codeContinue, "continueAs completes the instance whatever terminate says")
		}
	}
	p.era(e, form07, form09, "continueAs")
	e.Done()
	return out
}

func (p *parser) compensate(f *dialect.Fields) *dialect.Node {
	if on, at := p.flag(f, "compensate", false); on {
		return at
	}
	return nil
}

// continueAs reads the workflow that takes the instance's place (0.8 §Continuing as a new Execution).
func (p *parser) continueAs(n *dialect.Node) *continueAs {
	out := &continueAs{}
	if n.Kind == expr.KindString {
		out.workflow = p.workflowID(p.NonEmpty(n, "continueAs"))
		return out
	}
	f := p.Fields(n, "continueAs")
	if f == nil {
		return nil
	}
	out.workflow = p.workflowID(f.Name("workflowId"))
	out.version = f.Literal("version")
	switch data := f.Get("data"); {
	case data == nil:
	case data.Kind == expr.KindString || data.Kind == expr.KindObject:
		out.data = p.content(data)
	default:
		p.Expected(data, "data", "an expression or an object")
	}
	if n := f.Get("workflowExecTimeout"); n != nil {
		p.workflowTimeout(n)
		p.Warnf(n.KeySpan(), codeIgnored, "workflowExecTimeout of continueAs is ignored: the workflow that goes on has its own").
			WithHint("give that workflow a workflowExecTimeout")
	}
	f.Done()
	return out
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

// produced reads what an event that is sent consists of (0.8 §ProducedEvent Definition).
func (p *parser) produced(f *dialect.Fields, ref string) produced {
	out := produced{event: useOf(f.Name(ref))}
	switch data := f.Get("data"); {
	case data == nil:
	case data.Kind == expr.KindString || data.Kind == expr.KindObject:
		out.data = p.content(data)
	default:
		p.Expected(data, "data", "an expression or an object")
	}
	out.attributes = p.contextAttributes(f)
	return out
}

// contextAttributes is an object, or a list of objects as in the example of 0.8 §ProducedEvent Definition.
func (p *parser) contextAttributes(f *dialect.Fields) *expression {
	n := f.Get("contextAttributes")
	switch {
	case n == nil:
		return nil
	case n.Kind == expr.KindArray:
		return p.attributeList(n)
	case !p.Is(n, expr.KindObject, "contextAttributes"):
		return nil
	}
	p.attributeKinds(n)
	if len(n.Members) == 0 {
		return nil
	}
	return p.argument(n)
}

func (p *parser) attributeKinds(n *dialect.Node) {
	for _, m := range n.Members {
		if m.Kind == expr.KindObject || m.Kind == expr.KindArray {
			p.Errorf(m, codeAttribute, "context attribute %q must be a string, a number or a boolean, not %s", m.Name(), m.Kind.WithArticle()).
				WithHint("put structured data into data")
		}
	}
}

// attributeList joins objects into one.
func (p *parser) attributeList(n *dialect.Node) *expression {
	joined := *n
	joined.Kind, joined.Items, joined.Members = expr.KindObject, nil, nil
	for _, o := range n.Items {
		if p.Is(o, expr.KindObject, "contextAttributes") {
			p.attributeKinds(o)
			joined.Members = append(joined.Members, o.Members...)
		}
	}
	if len(joined.Members) == 0 {
		return nil
	}
	return p.argument(&joined)
}
