package sw10

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// flowList is a task list that is compiled: where it begins, and where each task does.
type flowList struct {
	*taskList
	prefix  string // of the names of its tasks
	begin   ir.NodeID
	entries []ir.NodeID
	end     ir.NodeID // where the list is complete; 0 returns from its region
	exit    ir.NodeID // instead, where exit leads to outside of the region; 0: as end
	plain   bool      // its tasks belong to an extension, and are not extended
}

// list compiles the tasks of a list into the frame of the region around it.
func (c *compiler) list(tasks *taskList, prefix string, end ir.NodeID) *flowList {
	return c.fill(&flowList{taskList: tasks, prefix: prefix, end: end})
}

func (c *compiler) fill(l *flowList) *flowList {
	for _, t := range l.tasks {
		l.entries = append(l.entries, c.at(c.Reserve(l.place(t)), t.ref))
	}
	l.begin = l.end
	if len(l.entries) > 0 {
		l.begin = l.entries[0]
	}
	for i := range l.tasks {
		c.task(l, i)
	}
	return l
}

// place names a task: by the names of the tasks around it, because names are unique in a list only.
func (l *flowList) place(t *task) ir.Place {
	return ir.Place{Name: l.prefix + t.name.Text, Pos: t.node.IRPos()}
}

// after is the task behind the i-th.
func (l *flowList) after(i int) ir.NodeID {
	if i+1 < len(l.entries) {
		return l.entries[i+1]
	}
	return l.end
}

// region compiles a list into a region of its own.
func (c *compiler) region(r ir.Region, tasks *taskList, prefix string, plain bool) ir.RegionID {
	l := c.fill(&flowList{taskList: tasks, prefix: prefix, plain: plain})
	r.Entry, r.Nested = l.begin, true
	return c.Region(r)
}

// chain builds the nodes of one task.
type chain struct {
	*compiler
	l     *flowList
	i     int
	t     *task
	place ir.Place
	left  map[ir.NodeID]ir.NodeID // what follows the body, by where it leads to
	exts  []*extension
	task  bool // an expression asks for $task
}

// node adds a node of the task.
func (k *chain) node(op ir.Op, next ir.NodeID) ir.NodeID {
	return k.at(k.Node(k.place, op, next), k.t.ref)
}

// task compiles a task (Open Workflow §Data Flow). In the order in which they run:
//
//	bind $task, where something asks for it
//	branch: if
//	entry
//	before of extensions
//	check input.schema and apply input.from
//	bind $input
//	the body
//	output.as and output.schema, export.as and export.schema
//	after of extensions
//	the directive
func (c *compiler) task(l *flowList, i int) {
	t := l.tasks[i]
	k := &chain{compiler: c, l: l, i: i, t: t, place: l.place(t), left: map[ir.NodeID]ir.NodeID{}}
	if !l.plain {
		k.exts = c.extending(t)
	}
	own := t.expressions()
	for _, x := range k.exts {
		own = append(own, x.expressions()...)
	}
	k.task = !l.plain && slices.ContainsFunc(own, func(e *expression) bool { return e.asks(varTask, "") })

	next := k.body(k.then(t.then))
	if slices.ContainsFunc(t.expressions(), func(e *expression) bool { return e.asks(varInput, "") }) {
		next = k.node(&ir.Eval{Put: bound(varInput)}, next)
	}
	entry := l.entries[i]
	input := c.transform(t.input, false)
	if slices.ContainsFunc(k.exts, func(x *extension) bool { return x.before != nil || x.when != nil }) {
		next = k.before(k.node(input, next))
		input = &ir.Eval{}
	}
	if t.when == nil && !k.task {
		c.Fill(entry, input, next)
		return
	}
	// The entry of the list is not that of the task, which may be skipped.
	first := c.at(c.Reserve(k.place), t.ref)
	c.Fill(first, input, next)
	c.Program.Nodes[entry].Mark = ir.MarkNone
	switch {
	case t.when == nil:
		c.Fill(entry, k.bindTask(), first)
	case !k.task:
		c.Fill(entry, &ir.Branch{Cases: []ir.Case{{When: c.expr(t.when), Next: first}}}, l.after(i))
	default:
		branch := k.node(&ir.Branch{Cases: []ir.Case{{When: c.expr(t.when), Next: first}}}, l.after(i))
		c.Fill(entry, k.bindTask(), branch)
	}
}

// bindTask gives $task its value. Extensions see the members of the definition in it, too: the examples of the specification
// read $task.with. That of its output is none of them: $task.output is what the task gave.
func (k *chain) bindTask() *ir.Eval {
	src := fmt.Sprintf(`{name: %s, reference: %s, definition: %s, input: ., startedAt: $now}`,
		literal(expr.String(k.t.name.Text)), literal(expr.String(k.t.ref)), k.t.node.JSON())
	if len(k.exts) > 0 {
		src = literal(k.t.node.Value().Without("output")) + " + " + src
	}
	return &ir.Eval{From: k.jq(src, k.t.node.IRPos()), Put: bound(varTask)}
}

// then is where a directive leads to.
func (k *chain) then(d directive) ir.NodeID {
	switch d.flow {
	case flowTask:
		return k.l.entries[d.to.index]
	case flowEnd:
		return k.finish
	case flowExit:
		if k.l.exit != 0 {
			return k.Out(k.place, &ir.Eval{}, k.l.exit)
		}
		return k.l.end
	}
	return k.l.after(k.i)
}

// leave is what follows the body on the way to a node: output, export, the end of the task.
func (k *chain) leave(to ir.NodeID) ir.NodeID {
	if id, ok := k.left[to]; ok {
		return id
	}
	next := k.behind(to)
	last := &ir.Eval{}
	if t := k.t; t.export.node != nil {
		last = k.exported(t.export)
	} else if t.output.node != nil {
		last = k.transform(t.output, true)
	}
	next = k.at(k.Leave(k.place, last, next), k.t.ref)
	if t := k.t; t.export.node != nil {
		next = k.replaced(t.export, next)
		if t.export.value.asks(varOutput, "") {
			next = k.node(&ir.Eval{Put: bound(varOutput)}, next)
		}
		if t.output.node != nil {
			next = k.node(k.transform(t.output, true), next)
		}
	}
	if k.task {
		next = k.node(&ir.Eval{From: k.jq("$task + {output: .}", k.t.node.IRPos()), Put: bound(varTask)}, next)
	}
	k.left[to] = next
	return next
}

// replaced is where an export begins: with a schema, the context is replaced before it is checked.
func (k *chain) replaced(d dataFlow, next ir.NodeID) ir.NodeID {
	if d.schema == nil || d.value == nil {
		return next
	}
	d.schema = nil
	return k.node(k.exported(d), next)
}

// exported is an operation that replaces the context, or checks it, where it has a schema: see replaced.
func (c *compiler) exported(d dataFlow) *ir.Eval {
	out := c.transform(d, true)
	if d.schema != nil {
		out.From = c.jq("$context", d.node.IRPos())
	}
	out.Put = ir.Put{Mode: ir.PutReplace, To: ir.ToContext}
	return out
}

// timed runs nodes under the timeout of the task. body gets where to go on.
func (k *chain) timed(body func(next ir.NodeID) ir.NodeID, next ir.NodeID) ir.NodeID {
	if k.t.timeout.def == nil {
		return body(next)
	}
	return k.node(&ir.Enter{Region: k.Region(ir.Region{
		Name: k.place.Name, Ref: k.t.ref, Entry: body(0), Timeout: k.span(k.t.timeout.def.after),
	})}, next)
}

// body compiles what the kind of the task adds; to is where its own directive leads to.
func (k *chain) body(to ir.NodeID) ir.NodeID {
	next := k.leave(to)
	inner := k.place.Name + "/"
	switch b := k.t.body.(type) {
	case *setTask:
		return k.node(&ir.Eval{From: k.expr(b.value), Put: asData}, next)
	case *switchTask:
		return k.switched(b, to)
	case *raiseTask:
		return k.node(&ir.Raise{From: k.raised(b.err.def)}, 0)
	case *emitTask:
		return k.emitted(b, next)
	case *waitTask:
		return k.timed(func(next ir.NodeID) ir.NodeID {
			if next == 0 { // a wait goes on at a node
				next = k.node(&ir.Eval{}, 0)
			}
			return k.node(&ir.Await{Timeout: k.span(b.duration), OnTimeout: next}, 0)
		}, next)
	case *doTask:
		return k.timed(func(next ir.NodeID) ir.NodeID {
			return k.node(&ir.Enter{Region: k.region(ir.Region{Name: k.place.Name}, b.do, inner, k.l.plain)}, next)
		}, next)
	case *forTask:
		return k.timed(func(next ir.NodeID) ir.NodeID {
			each := &ir.Each{
				Over: k.expr(b.in), Var: b.each, At: b.at, While: k.expr(b.while), Carry: true,
				Body: k.region(ir.Region{Name: k.place.Name}, b.do, inner, k.l.plain),
			}
			return k.node(&ir.Fan{Each: each, Join: ir.JoinLast}, next)
		}, next)
	case *forkTask:
		return k.timed(func(next ir.NodeID) ir.NodeID { return k.forked(b, inner, next) }, next)
	case *tryTask:
		return k.timed(func(next ir.NodeID) ir.NodeID { return k.tried(b, inner, to, next) }, next)
	case *listenTask:
		return k.timed(func(next ir.NodeID) ir.NodeID { return k.listened(b, inner, next) }, next)
	case *runTask:
		return k.timed(func(next ir.NodeID) ir.NodeID { return k.ran(b, next) }, next)
	case *callTask:
		return k.timed(func(next ir.NodeID) ir.NodeID { return k.called(b, next) }, next)
	}
	panic(fmt.Sprintf("sw10: a task of kind %q", k.t.kind))
}

func (k *chain) switched(b *switchTask, to ir.NodeID) ir.NodeID {
	op := &ir.Branch{}
	for _, one := range b.cases {
		op.Cases = append(op.Cases, ir.Case{When: k.expr(one.when), Next: k.leave(k.then(one.then))})
	}
	if b.otherwise != nil {
		to = k.then(b.otherwise.then)
	}
	return k.node(op, k.leave(to))
}

// raised is the error object of a definition of an error.
func (c *compiler) raised(e *errorDef) ir.ExprID {
	value := *e.value
	if v, err := expr.ParseJSON([]byte(value.src)); err == nil {
		if text, ok := e.typ.text(); ok {
			value.src = v.With("type", expr.String(errorType(text))).String()
		}
	}
	return c.expr(&value)
}

func (k *chain) emitted(b *emitTask, next ir.NodeID) ir.NodeID {
	typ, _ := b.typ.text()
	d := k.d.document
	event := k.Event(ir.Event{
		Name: cmp.Or(typ, k.place.Name), Type: typ, Produced: true, Pos: k.t.node.IRPos(),
		Source: "/" + strings.Join([]string{d.namespace.Text, d.name.Text, d.version.Text}, "/"),
	})
	return k.node(&ir.Emit{Event: event, Whole: true, From: k.expr(b.event), Result: asData}, next)
}

func (k *chain) forked(b *forkTask, inner string, next ir.NodeID) ir.NodeID {
	op := &ir.Fan{Join: ir.JoinArray}
	if b.compete {
		op.Join = ir.JoinFirst
	}
	if len(b.branches.tasks) == 0 {
		return k.node(&ir.Eval{From: k.jq("[]", k.t.node.IRPos()), Put: asData}, next)
	}
	for _, branch := range b.branches.tasks {
		alone := &taskList{node: b.branches.node, ref: b.branches.ref, tasks: []*task{branch}}
		op.Branches = append(op.Branches, ir.FanBranch{
			Region: k.region(ir.Region{Name: inner + branch.name.Text}, alone, inner, k.l.plain),
		})
	}
	return k.node(op, next)
}

// ran compiles a run task.
func (k *chain) ran(b *runTask, next ir.NodeID) ir.NodeID {
	w, ok := b.process.(*workflowRun)
	if !ok {
		return k.ranProgram(b, next)
	}
	op := &ir.Spawn{Workflow: workflowID(w.namespace.Text, w.name.Text), Wait: b.await, From: k.jq("{}", k.t.node.IRPos())}
	if w.version != nil && w.version.Text != latestVersion {
		op.Version = w.version.Text
	} else {
		op.Latest = true
	}
	if w.input != nil {
		op.From = k.expr(w.input)
	}
	if b.await {
		op.Result = asData
	}
	return k.node(op, next)
}

// ranProgram compiles a run task that runs a program: a call, whose arguments are the process and what is
// returned of it.
func (k *chain) ranProgram(b *runTask, next ir.NodeID) ir.NodeID {
	op := ir.Builtin{Kind: b.process.processName(), Exec: true}
	if script, ok := b.process.(*scriptRun); ok && script.source != nil {
		var problem string
		if op.Document, problem = pinned("run: script", script.source, ""); problem != "" {
			return k.notYet(problem)
		}
	}
	with := *b.with
	if v, err := expr.ParseJSON([]byte(with.src)); err == nil {
		if b.returns != returnStdout {
			v = v.With("return", expr.String(b.returns))
		}
		if !b.await {
			v = v.With("await", expr.Bool(false))
		}
		with.src, with.constant = v.String(), false
	}
	f := ir.Function{Name: cmp.Or(k.inside, k.t.name.Text), Type: op.Kind, Operation: op.Operation(), Pos: b.with.node.IRPos()}
	f.Metadata = metadata(programOf(b.process))
	if op.Kind == runContainer { // for the name of the container
		about, _ := expr.ParseJSON([]byte(f.Metadata)) // it is ours
		f.Metadata = about.With("namespace", expr.String(k.d.document.namespace.Text)).With("name", expr.String(k.d.document.name.Text)).String()
	}
	call := &ir.Call{Function: k.Function(f), Args: k.expr(&with)}
	if b.await {
		call.Result = asData
	}
	return k.node(call, next)
}

// called compiles a call.
func (k *chain) called(b *callTask, next ir.NodeID) ir.NodeID {
	args := k.jq("{}", k.t.node.IRPos())
	if b.with != nil {
		with, uri := k.arguments(b)
		args = k.expr(with)
		if uri != "" {
			call := k.calling(b, args, next)
			return k.node(&ir.Eval{From: k.jq(uri, k.t.node.IRPos()), Put: bound(varURI)}, call)
		}
	}
	return k.calling(b, args, next)
}

// calling compiles a call whose arguments are an expression.
func (k *chain) calling(b *callTask, args ir.ExprID, next ir.NodeID) ir.NodeID {
	if b.custom != nil && b.custom.function != nil {
		body := k.compiler.function
		if b.custom.fetched {
			body = k.fetched
		}
		enter := k.node(&ir.Enter{Region: body(b.custom.function)}, next)
		return k.node(&ir.Eval{From: args, Put: asData}, enter)
	}
	f := ir.Function{Name: b.function.Text, Pos: b.function.IRPos()}
	if b.custom == nil {
		op, problem := k.operation(b)
		if problem != "" {
			return k.notYet(problem)
		}
		f.Name, f.Type, f.Operation = cmp.Or(k.inside, k.t.name.Text), b.function.Text, op.Operation()
		f.Metadata = metadata(b.target())
	}
	call := &ir.Call{Function: k.Function(f), Args: args, Result: asData}
	if s := b.subscription(); s != nil {
		return k.subscribed(call, s, k.place.Name+"/", next)
	}
	return k.node(call, next)
}

// notYet raises an error in the place of what cannot run yet.
func (k *chain) notYet(what string) ir.NodeID {
	k.r.Warnf(k.t.node, codeNotYet, "%s: %s cannot run yet: the task raises an error", k.t.title(), what)
	return k.node(&ir.Raise{Error: faultNotYet, Detail: what + " cannot run yet"}, 0)
}

// fetched compiles the body of a function from another document. All of it stands in the place of the
// call: the definition has no other.
func (k *chain) fetched(f *function) ir.RegionID {
	nodes, exprs, regions := len(k.Program.Nodes), len(k.Program.Exprs), len(k.Program.Regions)
	id := k.function(f)
	for i := range k.Program.Regions[regions:] {
		k.Program.Regions[regions+i].Ref = k.t.ref
	}
	for i := range k.Program.Nodes[nodes:] {
		n := &k.Program.Nodes[nodes+i]
		n.Pos, n.Ref = k.place.Pos, k.t.ref
	}
	for i := range k.Program.Exprs[exprs:] {
		k.Program.Exprs[exprs+i].Pos, k.Program.Exprs[exprs+i].Parts = k.place.Pos, nil
	}
	return id
}

// function compiles the body of a function once: those who call it share the region.
func (c *compiler) function(f *function) ir.RegionID {
	if id, ok := c.functions[f]; ok {
		return id
	}
	id := c.Region(ir.Region{Name: f.name.Text, Nested: true})
	c.functions[f] = id // before its body: check refuses recursion, and this does not depend on it
	alone := &taskList{node: f.node, ref: f.task.ref, tasks: []*task{f.task}}
	around := c.inside
	c.inside = f.name.Text
	l := c.fill(&flowList{taskList: alone})
	c.inside = around
	c.Program.Regions[id].Entry = l.begin
	return id
}
