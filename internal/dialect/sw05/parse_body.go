package sw05

import (
	"fmt"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// parallelState reads 003 §Parallel State.
func (p *parser) parallelState(f *fields) *parallelState {
	s := &parallelState{}
	for _, n := range f.needList("branches") {
		if b := p.branch(n); b != nil {
			s.branches = append(s.branches, b)
		}
	}
	completion, _ := f.choice("completionType", false, "and", "xor", "n_of_m")
	n := f.get("n")
	if completion != "n_of_m" {
		if n != nil {
			p.r.Warnf(n.KeySpan(), codeIgnored, "n is for completionType n_of_m; here it is ignored")
		}
		if completion == "xor" {
			s.need = &quantity{node: f.node.Get("completionType"), value: 1}
		}
		return s
	}
	if n == nil {
		f.missing("n").WithHint("n_of_m says how many branches must complete")
		return s
	}
	s.need = p.quantity(n, 1)
	if s.need != nil && s.need.value > int64(len(s.branches)) {
		p.r.Errorf(n, codeTooMany, "n is %d, but there are only %d branches", s.need.value, len(s.branches))
	}
	return s
}

func (p *parser) branch(n *dialect.Node) *branch {
	f := p.fields(n, "branch")
	if f == nil {
		return nil
	}
	b := &branch{node: n, name: f.name("name")}
	if b.name != nil {
		f.what = fmt.Sprintf("branch %q", b.name.Text)
	}
	b.actions, b.workflow = p.work(f)
	f.done()
	return b
}

// work reads what branches and iterations do: actions, or another workflow.
func (p *parser) work(f *fields) (actions, *dialect.Node) {
	f.either("actions", "workflowId")
	workflow := p.workflowID(f.optionalName("workflowId"))
	return p.actionList(f, false), workflow
}

func (p *parser) workflowID(n *dialect.Node) *dialect.Node {
	return p.plain(n, "workflowId", "which definition is meant never depends on data")
}

// subflowState reads 003 §SubFlow State.
func (p *parser) subflowState(f *fields) *subflowState {
	s := &subflowState{workflow: p.workflowID(f.name("workflowId"))}
	wait, at := f.flag("waitForCompletion", false)
	s.wait = wait
	if at == nil && f.node.Get("waitForCompletion").IsNull() {
		p.r.Warnf(f.node, codeWait, "%s has no \"waitForCompletion\"; it is taken as false: the workflow goes on at once, without the sub-workflow's output", f.what).
			WithHint("say waitForCompletion: true or false")
	}
	return s
}

// injectState reads 003 §Inject State. Its examples of filters leave data out.
func (p *parser) injectState(f *fields) *injectState {
	n := f.get("data")
	if n == nil {
		p.r.Warnf(f.node, codeNothing, "%s has no \"data\": it injects nothing", f.what)
		return &injectState{}
	}
	if !p.is(n, expr.KindObject, "data") {
		return &injectState{}
	}
	return &injectState{p.template(n)}
}

// foreachState reads 003 §ForEach State.
func (p *parser) foreachState(f *fields) *foreachState {
	s := &foreachState{over: p.path(f.need("inputCollection"), "inputCollection")}
	s.variable = p.plain(f.name("iterationParam"), "iterationParam", "it is the name under which each item is found")
	if n := f.get("outputCollection"); n != nil {
		s.into, s.keep = p.collection(n), true
	}
	s.max = p.quantity(f.get("max"), 0)
	s.actions, s.workflow = p.work(f)
	return s
}

// collection reads where results are collected: a path of property names, since
// the array is created where it does not exist.
func (p *parser) collection(n *dialect.Node) []string {
	to := p.path(n, "outputCollection")
	if to == nil {
		return nil
	}
	if len(to.Keys) == 0 {
		p.r.Errorf(n, codeCollection, "outputCollection must be a path of property names, as in {{ $.results }}, not %s", to.src)
		return nil
	}
	return to.Keys
}
