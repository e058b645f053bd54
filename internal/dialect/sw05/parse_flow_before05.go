package sw05

import (
	"math"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/calendar"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// What the forms before 0.5 have of their own: errors told by expressions, retries of a state, branches and
// iterations of states.

// retried are the types of states that may be tried again (0.1 §Workflow Error Handling - Retrying).
var retried = []string{typeOperation, typeEvent, typeParallel, typeForeach, typeCallback}

// stateErrors reads how a state deals with errors. An inject state has none.
func (p *parser) stateErrors(f *dialect.Fields, s *state) {
	if s.typ == "" || slices.Contains(retried, s.typ) {
		list, _ := f.List("retry")
		s.retries = dialect.Each(list, p.stateRetry)
	}
	if s.typ != typeInject {
		list, _ := f.List("onError")
		s.onErrors = dialect.Each(list, p.onErrorBefore05)
	}
}

// stateRetry reads 0.1 and 0.2 §Retry Definition.
func (p *parser) stateRetry(n *dialect.Node) *stateRetry {
	f := p.Fields(n, "a retry")
	if f == nil {
		return nil
	}
	r := &stateRetry{node: n, test: p.test(f.Need("expression"), true), maxAttempts: 1}
	times := p.retryInterval(f.Get("interval"), r)
	r.increment = p.duration(f.Get("multiplier"))
	if times >= 0 {
		r.maxAttempts = times
	}
	if at := f.Get("maxAttempts"); at != nil {
		attempts, wrong := p.Whole(at, at.Name(), 0, math.MaxInt32)
		if wrong != nil {
			wrong.WithHint("0 means no retries")
		}
		if r.maxAttempts = int(attempts); times >= 0 {
			r.maxAttempts = min(times, r.maxAttempts)
		}
	}
	f.Done()
	return r
}

// retryInterval reads a duration, or one with the number of attempts: R5/PT15M. It returns that number, −1 where
// there is none.
func (p *parser) retryInterval(n *dialect.Node, r *stateRetry) int {
	if n == nil || n.Kind != expr.KindString || !strings.HasPrefix(n.Text, "R") {
		r.interval = p.duration(n)
		return -1
	}
	repeat, err := calendar.ParseRepeat(n.Text)
	if p.timeError(n, codeInterval, err) {
		return -1
	}
	r.interval = &duration{node: n, value: repeat.Every}
	if repeat.Times < 0 {
		return math.MaxInt32
	}
	return repeat.Times
}

// onErrorBefore05 reads 0.1 and 0.2 §Error Definition.
func (p *parser) onErrorBefore05(n *dialect.Node) *onError {
	f := p.Fields(n, "an error definition")
	if f == nil {
		return nil
	}
	e := &onError{node: n, test: p.test(f.Need("expression"), true)}
	if filter := p.Fields(f.Get("errorDataFilter"), "errorDataFilter"); filter != nil {
		e.filter = p.path(filter.Get("dataOutputPath"))
		filter.Done()
	}
	e.exit = p.needExit(f)
	f.Done()
	return e
}

// switchBefore05 reads a switch: choices in 0.1, dataConditions or eventConditions in 0.2.
func (p *parser) switchBefore05(f *dialect.Fields) *switchState {
	key := "choices"
	for _, other := range []string{"dataConditions", "eventConditions"} {
		switch n := f.Peek(other); {
		case n == nil:
		case f.Peek(key) != nil:
			f.Both(f.Peek(key), n)
		default:
			key = other
		}
	}
	if f.Allow("choices", "dataConditions", "eventConditions"); f.Peek(key) == nil {
		if p.form != april {
			key = "dataConditions"
		}
		f.Missing(key)
	}
	s := &switchState{onEvents: key == "eventConditions"}
	s.conditions = p.conditions(f, key, func(c *dialect.Fields, one *condition) {
		if s.onEvents {
			one.event = use(c.Name("eventRef"))
			one.filter = p.eventFilter(c)
			return
		}
		one.test = p.choice(c)
	})
	p.eventTimeout(f, s)
	s.otherwise = p.defaultBefore05(f.Need("default"))
	return s
}

// defaultBefore05 reads where a switch goes on by default: the transition itself, or in later drafts of 0.2 an
// object with a transition or an end.
func (p *parser) defaultBefore05(n *dialect.Node) exit {
	d := p.Fields(n, "default")
	if d == nil {
		return exit{}
	}
	if d.Peek("transition") != nil || d.Peek("end") != nil {
		e := p.needExit(d)
		d.Done()
		return e
	}
	d.Allow("transition", "end")
	return exit{transition: p.transitionOf(d)}
}

// branchBefore05 reads a branch of states; later drafts of 0.2 have actions or a workflow in it.
func (p *parser) branchBefore05(f *dialect.Fields, b *branch) {
	wait, at := f.Flag("waitForCompletion", p.form.waits())
	b.detached = !wait
	if at == nil && !p.form.waits() {
		p.Warnf(f.Node, codeWait, "%s has no \"waitForCompletion\"; it is taken as false: the state goes on without it", f.What).
			WithHint("say waitForCompletion: true or false")
	}
	b.states, b.actions, b.workflow = p.workBefore05(f)
	if b.states != nil {
		b.states.branch = b.name
	}
}

// workBefore05 reads what branches and iterations do: states, actions, or another workflow.
func (p *parser) workBefore05(f *dialect.Fields) (*scope, actions, *dialect.Node) {
	f.Allow("states", "actions", "workflowId")
	if f.Peek("actions") != nil || f.Peek("workflowId") != nil {
		for _, key := range []string{"actions", "workflowId"} {
			if n := f.Peek(key); n != nil && f.Peek("states") != nil {
				f.Both(f.Peek("states"), n)
			}
		}
		list, workflow := p.work(f)
		return nil, list, workflow
	}
	s := &scope{}
	p.states(f, s)
	return s, actions{}, nil
}

// foreachBefore05 reads a foreach over states. An item is seen beside the state's data (0.1 §ForEach State).
func (p *parser) foreachBefore05(f *dialect.Fields, s *foreachState) {
	key := p.either(f, "inputParameter", "iterationParam")
	if n := f.Need(key); n != nil && p.Is(n, expr.KindString, key) {
		s.variable = n
		if strings.HasPrefix(strings.TrimSpace(n.Text), "$") || hasExpression(n.Text) {
			s.in = p.collection(n)
		} else if p.NonEmpty(n, key) != nil {
			s.in = []string{n.Text}
		}
	}
	if n := f.Get("outputCollection"); n != nil {
		s.into, s.keep = p.collection(n), true
	}
	s.max = p.quantity(f.Get("max"), 0)
	s.pause = p.duration(f.Get("timeDelay"))
	s.states, s.actions, s.workflow = p.workBefore05(f)
}
