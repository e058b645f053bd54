package sw05

import (
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// parallelState reads 0.5 §Parallel State.
func (p *parser) parallelState(f *dialect.Fields) *parallelState {
	s := &parallelState{branches: dialect.Each(f.NeedList("branches"), p.branch)}
	completion, _ := p.word(f, "completionType", "and", "xor", "n_of_m")
	n := f.Get("n")
	if completion != "n_of_m" {
		if n != nil {
			p.Warnf(n.KeySpan(), codeIgnored, "n is for completionType n_of_m; here it is ignored")
		}
		if completion == "xor" {
			s.need = &quantity{node: f.Peek("completionType"), value: 1}
		}
		return s
	}
	if n == nil {
		f.Missing("n").WithHint("n_of_m says how many branches must complete")
		return s
	}
	s.need = p.quantity(n, 1)
	if s.need != nil && s.need.value > int64(len(s.branches)) {
		p.Errorf(n, codeTooMany, "n is %d, but there are only %d branches", s.need.value, len(s.branches))
	}
	return s
}

func (p *parser) branch(n *dialect.Node) *branch {
	f := p.Fields(n, "a branch")
	if f == nil {
		return nil
	}
	b := &branch{node: n, name: f.Name("name")}
	f.Called(b.name)
	if p.form.before05() {
		p.branchBefore05(f, b)
	} else {
		b.actions, b.workflow = p.work(f)
	}
	f.Done()
	return b
}

// work reads what branches and iterations do: actions, or another workflow.
func (p *parser) work(f *dialect.Fields) (actions, *dialect.Node) {
	f.Either("actions", "workflowId")
	workflow := p.workflowID(f.OptionalName("workflowId"))
	return p.actionList(f, false), workflow
}

func (p *parser) workflowID(n *dialect.Node) *dialect.Node {
	return p.plain(n, "workflowId", "which definition is meant never depends on data")
}

// subflowState reads 0.5 §SubFlow State.
func (p *parser) subflowState(f *dialect.Fields) *subflowState {
	s := &subflowState{workflow: p.workflowID(f.Name("workflowId"))}
	s.wait, _ = f.Flag("waitForCompletion", false)
	if f.Peek("waitForCompletion") == nil {
		p.Warnf(f.Node, codeWait, "%s has no \"waitForCompletion\"; it is taken as false: the workflow goes on at once, without the sub-workflow's output", f.What).
			WithHint("say waitForCompletion: true or false")
	}
	return s
}

// injectState reads 0.5 §Inject State. Its examples of filters leave data out.
func (p *parser) injectState(f *dialect.Fields) *injectState {
	key := "data"
	if p.form.before05() {
		key = p.either(f, "data", "inject")
	}
	if f.Peek(key) == nil {
		p.Warnf(f.Node, codeNothing, "%s has no %q: it injects nothing", f.What, key)
	}
	data := f.Typed(key, expr.KindObject)
	if p.form.before05() {
		return &injectState{p.static(data)}
	}
	return &injectState{p.template(data)}
}

// foreachState reads 0.5 §ForEach State.
func (p *parser) foreachState(f *dialect.Fields) *foreachState {
	s := &foreachState{over: p.path(f.Need("inputCollection"))}
	if p.form.before05() {
		p.foreachBefore05(f, s)
		return s
	}
	s.variable = p.plain(f.Name("iterationParam"), "iterationParam", "it is the name under which each item is found")
	if n := f.Get("outputCollection"); n != nil {
		s.into, s.keep = p.collection(n), true
	}
	s.max = p.quantity(f.Get("max"), 0)
	s.actions, s.workflow = p.work(f)
	return s
}

// collection reads where results are collected: a path of property names, since
// the array is created where it does not exist.
func (p *parser) collection(n *dialect.Node) []string {
	to := p.path(n)
	if to == nil {
		return nil
	}
	if len(to.Keys) == 0 {
		p.Errorf(n, codeCollection, "outputCollection must be a path of property names, as in {{ $.results }}, not %s", to.src)
		return nil
	}
	return to.Keys
}
