package sw10

import (
	"slices"
	"strconv"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// escape writes a name as a part of a JSON pointer.
var escape = strings.NewReplacer("~", "~0", "/", "~1").Replace

// item reads an entry of a list of names: an object with one key.
func (p *parser) item(n *dialect.Node, what string) *dialect.Node {
	if !n.Is(expr.KindObject) {
		p.Errorf(n, codeItem, "%s is an object with one key, its name; this is %s", what, n.Kind.WithArticle())
		return nil
	}
	switch len(n.Members) {
	case 1:
		return n.Members[0]
	case 0:
		p.Errorf(n, codeItem, "%s is an object with one key, its name; this one is empty", what)
		return nil
	}
	second := n.Members[1].Key
	d := p.Errorf(second, codeItem, "%s is an object with one key, its name; %q is a second one", what, second.Text)
	if n.Members[0].IsNull() {
		d.WithHint("indent what belongs to %q further than its name", n.Members[0].Name())
		return nil
	}
	d.WithHint("begin each of them with a hyphen")
	return n.Members[0]
}

// list reads a list of tasks; ref is the pointer to it.
func (p *parser) list(n *dialect.Node, ref string) *taskList {
	if n == nil {
		return nil
	}
	l := &taskList{node: n, ref: ref}
	if n.Kind == expr.KindObject && len(n.Members) > 0 {
		p.Errorf(n, codeType, "%s must be a list of tasks, not an object", n.Name()).WithHint("write a hyphen before the name of each task")
		return nil
	}
	if !p.Is(n, expr.KindArray, n.Name()) {
		return nil
	}
	p.Budget.Spend(len(n.Items))
	for i, one := range n.Items {
		m := p.item(one, "a task")
		if m == nil {
			l.unsure = true
			continue
		}
		l.unsure = l.unsure || len(one.Members) != 1
		p.NonEmpty(m.Key, "the name of a task")
		t := p.task(m, ref+"/"+strconv.Itoa(i)+"/"+escape(m.Name()), l)
		t.index = len(l.tasks)
		l.tasks = append(l.tasks, t)
	}
	return l
}

// fullList is a list without which its owner does nothing.
func (p *parser) fullList(n *dialect.Node, ref string) *taskList {
	l := p.list(n, ref)
	if l != nil && len(n.Items) == 0 {
		p.Warnf(n, codeNothing, "%s is empty: there is nothing to do", n.Name())
	}
	return l
}

// baseKeys are what every task may have.
var baseKeys = []string{"if", "input", "output", "export", "timeout", "then", "metadata"}

// task reads what all kinds of tasks share, then the body of its kind (Open Workflow §Task).
func (p *parser) task(n *dialect.Node, ref string, l *taskList) *task {
	t := &task{node: n, name: n.Key, ref: ref, list: l}
	if n.Kind != expr.KindObject {
		p.Errorf(n, codeType, "%s must be an object, not %s", t.title(), n.Kind.WithArticle()).
			WithHint("what it does is indented below its name: one of %s", strings.Join(taskKinds, ", "))
		return t
	}
	f := p.Fields(n, "a task")
	f.Called(n.Key)
	t.when = p.condition(f.Get("if"), p.in(rawInput, "if"))
	t.input = p.dataFlow(f.Get("input"), "from", p.secretly(p.in(rawInput, "input.from")))
	t.output = p.dataFlow(f.Get("output"), "as", p.in(taskOutput, "output.as"))
	t.export = p.dataFlow(f.Get("export"), "as", p.in(taskExport, "export.as"))
	t.timeout = p.timeout(f.Get("timeout"), p.in(taskBody, "timeout"))
	t.then = p.directive(f.Get("then"))
	t.metadata = p.open(f.Get("metadata"))
	t.kind = p.kind(f)
	if t.kind != "" { // else nobody knows what belongs there
		t.body = p.body(f, t)
		f.Done()
	}
	return t
}

// secretly is a scope in which secrets are used as they should.
func (p *parser) secretly(s scope) scope {
	s.private = true
	return s
}

// kind finds what a task does.
func (p *parser) kind(f *dialect.Fields) string {
	var found []*dialect.Node
	for _, kind := range taskKinds {
		if m := f.Node.Get(kind); m != nil && (kind != kindDo || f.Node.Get(kindFor) == nil) {
			found = append(found, m)
		}
	}
	switch {
	case len(found) == 1:
		return found[0].Name()
	case len(found) > 1:
		f.Both(found[0], found[1]).WithHint("a task does one thing; put the other into a task of its own")
		return ""
	}
	var near string
	for _, m := range f.Node.Members {
		if slices.Contains(baseKeys, m.Name()) {
			continue
		}
		if near = p.Near(m.Name(), taskKinds); near != "" {
			p.Errorf(m.Key, codeTaskKind, "%s cannot do %q", f.What, m.Name()).WithHint("did you mean %q?", near)
			return ""
		}
	}
	p.Errorf(f.Node.KeySpan(), codeTaskKind, "%s does not say what it does", f.What).
		WithHint("give it one of %s", strings.Join(taskKinds, ", "))
	return ""
}

// directive reads then (Open Workflow §Flow Directive).
func (p *parser) directive(n *dialect.Node) directive {
	if n == nil || p.Named(n, n.Name()) == nil {
		return directive{}
	}
	d := directive{node: n}
	switch n.Text {
	case wordContinue:
	case wordExit:
		d.flow = flowExit
	case wordEnd:
		d.flow = flowEnd
	default:
		d.flow = flowTask
	}
	return d
}

// body reads what belongs to one kind of tasks.
func (p *parser) body(f *dialect.Fields, t *task) body {
	switch t.kind {
	case kindCall:
		return p.callTask(f, t)
	case kindDo:
		return &doTask{p.fullList(f.Get(kindDo), t.ref+"/do")}
	case kindEmit:
		return p.emitTask(f)
	case kindFor:
		return p.forTask(f, t)
	case kindFork:
		return p.forkTask(f, t)
	case kindListen:
		return p.listenTask(f, t)
	case kindRaise:
		return p.raiseTask(f)
	case kindRun:
		return p.runTask(f)
	case kindSet:
		return p.setTask(f)
	case kindSwitch:
		return p.switchTask(f)
	case kindTry:
		return p.tryTask(f, t)
	}
	return &waitTask{p.duration(f.Get(kindWait), p.in(taskBody, kindWait))}
}

// forTask reads a loop (Open Workflow §For).
func (p *parser) forTask(f *dialect.Fields, t *task) *forTask {
	b := &forTask{each: "item", at: "index"}
	if loop := p.Fields(f.Get(kindFor), kindFor); loop != nil {
		b.each = p.variableName(loop, "each", b.each)
		b.at = p.variableName(loop, "at", b.at)
		b.in = p.collection(loop.Need("in"))
		loop.Done()
	}
	p.with([]string{b.each, b.at}, func() {
		b.while = p.condition(f.Get("while"), p.in(taskBody, "while"))
		b.do = p.fullList(f.Need("do"), t.ref+"/do")
	})
	return b
}

// collection reads for.in: an expression, or the items themselves.
func (p *parser) collection(n *dialect.Node) *expression {
	s := p.in(taskBody, "for.in")
	switch {
	case n == nil:
		return nil
	case n.Kind == expr.KindArray:
		return p.template(n, s)
	case n.Kind == expr.KindString:
		return p.expression(n, langJQ, s)
	}
	p.Expected(n, "in", "an expression or a list")
	return nil
}

// forkTask reads branches that run side by side (Open Workflow §Fork).
func (p *parser) forkTask(f *dialect.Fields, t *task) *forkTask {
	b := &forkTask{}
	fork := p.Fields(f.Get(kindFork), kindFork)
	b.branches = p.fullList(fork.Need("branches"), t.ref+"/fork/branches")
	if b.branches != nil {
		b.branches.separate = true
	}
	b.compete, _ = fork.Flag("compete", false)
	fork.Done()
	return b
}

// raiseTask reads an error, or the name of one of use.errors (Open Workflow §Raise).
func (p *parser) raiseTask(f *dialect.Fields) *raiseTask {
	b := &raiseTask{}
	s := p.in(taskBody, kindRaise)
	raise := p.Fields(f.Get(kindRaise), kindRaise)
	switch n := raise.Need("error"); {
	case n == nil:
	case n.Kind == expr.KindString:
		b.err = use[errorDef]{name: p.Named(n, "error"), scope: s}
	default:
		b.err = use[errorDef]{def: p.errorDef(n, s), scope: s}
	}
	raise.Done()
	return b
}

// setTask reads data (Open Workflow §Set).
func (p *parser) setTask(f *dialect.Fields) *setTask {
	n := f.Get(kindSet)
	s := p.in(taskBody, kindSet)
	switch _, _, delimited := undelimited(n.Text); {
	case n.Kind == expr.KindObject && len(n.Members) == 0 || n.Kind == expr.KindString && strings.TrimSpace(n.Text) == "":
		p.Errorf(n, codeEmpty, "set must not be empty")
		return &setTask{}
	case n.Kind == expr.KindString && strings.Contains(n.Text, "${") && !delimited:
		return &setTask{p.template(n, s)}
	case n.Kind == expr.KindString && !delimited && !p.def.loose:
		p.Warnf(n, codeText, "the output of the task is this text").WithHint("for an expression write ${ %s }", strings.TrimSpace(n.Text))
		return &setTask{p.code(n, s)}
	}
	return &setTask{p.kindValue(n, expr.KindObject, s)}
}

// switchTask reads conditions with ways to go on (Open Workflow §Switch).
func (p *parser) switchTask(f *dialect.Fields) *switchTask {
	b := &switchTask{}
	for _, item := range f.Full(kindSwitch) {
		n := p.item(item, "a case")
		if n == nil {
			continue
		}
		c := p.Fields(n, "a case")
		if c == nil {
			continue
		}
		c.Called(n.Key)
		one := &switchCase{node: n, name: n.Key, when: p.condition(c.Get("when"), p.in(taskBody, "when"))}
		one.then = p.directive(c.Need("then"))
		c.Done()
		switch {
		case n.Get("when") != nil:
			b.cases = append(b.cases, one)
		case b.otherwise != nil:
			p.Errorf(n.KeySpan(), codeTwoDefaults, "the switch has a second case without when, %q", one.name.Text).
				WithHint("the first is %q at line %d", b.otherwise.name.Text, b.otherwise.name.Pos().Line)
		default:
			b.otherwise = one
		}
	}
	return b
}
