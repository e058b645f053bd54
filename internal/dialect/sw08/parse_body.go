package sw08

import (
	"fmt"
	"slices"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/jqvar"
)

// parallelState reads 0.8 §Parallel State. xor and n_of_m are 0.6's words.
func (p *parser) parallelState(f *dialect.Fields, s *state) *parallelState {
	b := &parallelState{}
	for i, n := range f.NeedList("branches") {
		if br := p.branch(n, fmt.Sprintf("%s/branches/%d", s.ref, i)); br != nil {
			b.branches = append(b.branches, br)
		}
	}
	completion, at := f.Choice("completionType", "allOf", "atLeast", "and", "xor", "n_of_m")
	older := completion == "and" || completion == "xor" || completion == "n_of_m"
	if p.said && at != nil && completion != "" && older != (p.form == form06) {
		p.Warnf(at, codeOtherForm, "completionType %s does not belong to %s; it is read all the same", completion, p.form)
	}
	count, n := f.Get("numCompleted"), f.Get("n")
	if count == nil {
		count = n
	} else if n != nil {
		f.Both(count, n)
	}
	switch completion {
	case "atLeast", "n_of_m":
		p.branchCount(f, b, completion, count)
	default:
		if count != nil {
			p.quantity(count, 0)
			p.Warnf(count.KeySpan(), codeIgnored, "%s is for completionType atLeast; here it is ignored", count.Name())
		}
		if completion == "xor" {
			b.need = &quantity{node: at, value: 1}
		}
	}
	return b
}

func (p *parser) branchCount(f *dialect.Fields, b *parallelState, completion string, n *dialect.Node) {
	if n == nil {
		key := map[string]string{"atLeast": "numCompleted", "n_of_m": "n"}[completion]
		f.Missing(key).WithHint("%s says how many branches must complete", key)
		return
	}
	b.need = p.quantity(n, 1)
	if b.need != nil && b.need.value > int64(len(b.branches)) {
		p.Errorf(n, codeTooMany, "%s is %d, but there are only %d branches", n.Name(), b.need.value, len(b.branches))
	}
}

func (p *parser) branch(n *dialect.Node, ref string) *branch {
	f := p.Fields(n, "a branch")
	if f == nil {
		return nil
	}
	b := &branch{node: n, name: f.OptionalName("name")}
	f.Called(b.name)
	p.dnsName(b.name)
	if f.Peek("name") == nil {
		if p.nine {
			f.Missing("name")
		} else {
			p.Warnf(n, codeExpected, "the branch has no \"name\"")
		}
	}
	b.timeouts = p.ownTimeouts(f)
	b.actions, b.workflow = p.branchWork(f, ref)
	f.Done()
	return b
}

// branchWork reads what branches and iterations do: actions, or (0.6) another workflow.
func (p *parser) branchWork(f *dialect.Fields, ref string) (actions, *dialect.Node) {
	if f.Peek("workflowId") == nil && p.form != form06 {
		f.Allow("workflowId")
		return p.actions(f, ref, true), nil
	}
	f.Either("actions", "workflowId")
	workflow := p.workflowID(f.OptionalName("workflowId"))
	p.era(f, form06, form06, "workflowId")
	return p.actions(f, ref, false), workflow
}

// subflowState reads 0.6 §SubFlow State. waitForCompletion is true where it is absent: so the text; the
// schema says false.
func (p *parser) subflowState(f *dialect.Fields) *subflowState {
	b := &subflowState{workflow: p.workflowID(f.Name("workflowId"))}
	b.wait, _ = p.flag(f, "waitForCompletion", true)
	r := p.Fields(f.Get("repeat"), "repeat")
	if r == nil {
		return b
	}
	one := &repeat{node: r.Node, while: p.condition(r.Get("expression"))}
	one.checkBefore, _ = p.flag(r, "checkBefore", true)
	one.max = p.quantity(r.Get("max"), 0)
	one.continueOnError, _ = p.flag(r, "continueOnError", false)
	list, _ := r.List("stopOnEvents")
	for _, n := range list {
		if name := p.Named(n, "an event reference"); name != nil {
			one.stop = append(one.stop, useOf(name))
		}
	}
	r.Done()
	if one.while == nil && one.max == nil && len(one.stop) == 0 {
		p.Warnf(r.Node.KeySpan(), codeNothing, "repeat says neither how long nor how often: the workflow runs again and again")
	}
	b.repeat = one
	return b
}

// injectState reads 0.8 §Inject State.
func (p *parser) injectState(f *dialect.Fields) *injectState {
	n := f.Typed("data", expr.KindObject)
	if f.Peek("data") == nil {
		p.Warnf(f.Node.KeySpan(), codeNothing, "%s has no \"data\": it injects nothing", f.What)
	}
	return &injectState{p.template(n)}
}

// foreachState reads 0.8 §ForEach State. 0.6 has max, how many at a time; later versions batches.
func (p *parser) foreachState(f *dialect.Fields, s *state) *foreachState {
	b := &foreachState{over: p.query(f.Need("inputCollection")), variable: "item"}
	b.param = f.OptionalName("iterationParam")
	switch {
	case b.param != nil:
		b.variable = p.parameter(b.param)
	case f.Peek("iterationParam") == nil && p.said && p.form < form08:
		f.Missing("iterationParam")
	}
	if n := f.Get("outputCollection"); n != nil {
		if to := p.target(n); to != nil {
			b.into, b.keep = to.path, true
			if len(to.path) == 0 {
				p.Errorf(n, codeTarget, "outputCollection must name where the results are collected, as in ${ .results }")
			}
		}
	}
	mode, _ := f.ChoiceFold("mode", "sequential", "parallel")
	b.sequential = mode == "sequential"
	p.batches(f, b)
	p.era(f, form07, form09, "mode", "batchSize")
	p.era(f, form06, form06, "max")
	before := p.params
	if jqvar.IsName(b.variable) {
		p.params = append(slices.Clip(before), b.variable)
	}
	b.actions, b.workflow = p.branchWork(f, s.ref)
	p.params = before
	return b
}

// parameter is the name that each item has. An example of 0.8 and 0.9 writes it as the path ${ .name }.
func (p *parser) parameter(n *dialect.Node) string {
	if !p.holdsExpression(n.Text) {
		return n.Text
	}
	if one, ok := p.single(n.Text); ok {
		if path, ok := namePath(one.text); ok && len(path) == 1 {
			p.Warnf(n, codeConstant, "iterationParam is a name; this is read as %q", path[0]).WithHint("write %s", path[0])
			return path[0]
		}
	}
	p.plain(n, "iterationParam", "it is the name under which each item is found")
	return n.Text
}

func (p *parser) batches(f *dialect.Fields, b *foreachState) {
	size, most := f.Get("batchSize"), f.Get("max")
	switch {
	case size != nil && most != nil:
		f.Both(size, most)
	case size != nil:
		b.most, b.batch = p.quantity(size, 2), true
		if b.sequential {
			p.Warnf(size.KeySpan(), codeIgnored, "batchSize is for mode parallel; here it is ignored")
		}
	case most != nil:
		b.most = p.quantity(most, 0)
	}
}
