package sw10

import (
	"cmp"
	"strings"

	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// The lists of tasks that tasks have inside, as diagrams tell them apart.
const (
	listDo       = "do"
	listTry      = "try"
	listCatch    = "catch"
	listBranches = "branches"
	listForeach  = "foreach"
)

// graph lists the tasks and the ways between them as the author sees them.
func (c *compiler) graph(main *flowList) {
	var all outline
	all.tasks(main.taskList, "", "", "")
	if len(all.states) > 0 {
		all.states[0].Start = true // the tasks inside of a task come after it
	}
	c.Program.States, c.Program.Edges = all.states, all.edges
	for _, f := range c.d.use.functions {
		c.aside("function "+f.name.Text, "", "", &taskList{tasks: []*task{f.task}})
	}
	for _, x := range c.d.use.extensions {
		about := "every task"
		switch x.extend {
		case extendAll:
		case extendComposite:
			about = "every do and fork"
		default:
			about = "every " + x.extend
		}
		if x.when != nil {
			about += ", if " + x.when.src
		}
		if x.before != nil {
			c.aside("extension "+x.name.Text, "before "+about, x.name.Text+"/before/", x.before)
		}
		if x.after != nil {
			c.aside("extension "+x.name.Text, "after "+about, x.name.Text+"/after/", x.after)
		}
	}
}

func (c *compiler) aside(title, note, prefix string, tasks *taskList) {
	all := outline{aside: true}
	all.tasks(tasks, prefix, "", "")
	c.Program.Asides = append(c.Program.Asides, ir.Aside{Title: title, Note: note, States: all.states, Edges: all.edges})
}

// outline is what people see of task lists.
type outline struct {
	states []ir.State
	edges  []ir.Edge
	aside  bool // its end is not that of the workflow
}

// tasks adds the tasks of a list; in names the task around it, list says which of its lists it is.
func (o *outline) tasks(l *taskList, prefix, in, list string) {
	nested := in != "" || o.aside
	for i, t := range l.tasks {
		name := prefix + t.name.Text
		s := ir.State{
			Name: name, ID: t.ref, Type: t.kind, In: in, List: list, End: t.then.flow == flowEnd || !nested && i == len(l.tasks)-1,
			Does: t.does(), Metadata: t.metadata.JSON(), Pos: t.node.IRPos(),
		}
		if t.when != nil {
			s.If = t.when.src
		}
		o.states = append(o.states, s)
		o.ways(l, i, prefix, nested)
		inner := name + "/"
		switch b := t.body.(type) {
		case *tryTask:
			o.tasks(b.try, inner, name, listTry)
			if b.catch != nil && b.catch.do != nil {
				o.tasks(b.catch.do, inner+"catch/", name, listCatch)
			}
		case *forkTask:
			for _, branch := range b.branches.tasks {
				o.tasks(&taskList{tasks: []*task{branch}}, inner, name, listBranches)
			}
		case *listenTask, *callTask:
			for _, nested := range t.body.lists() {
				o.tasks(nested, inner, name, listForeach)
			}
		default:
			for _, nested := range t.body.lists() {
				o.tasks(nested, inner, name, listDo)
			}
		}
	}
}

// does says in a few words what a task does, where its operations do not tell it as the author
// wrote it.
func (t *task) does() string {
	switch b := t.body.(type) {
	case *callTask:
		switch call := b.args.(type) {
		case nil:
			return b.function.Text
		case *httpCall:
			method, _ := call.method.text()
			if call.endpoint != nil {
				uri, _ := call.endpoint.uri.text()
				return strings.TrimSpace(strings.ToUpper(cmp.Or(method, b.function.Text)) + " " + uri)
			}
		case *openapiCall:
			if operation, ok := call.operation.text(); ok {
				return "openapi " + operation
			}
		case *asyncapiCall:
			words := "send "
			if call.subscription != nil {
				words = "receive "
			}
			if name, ok := cmp.Or(call.operation, call.channel).text(); ok {
				return words + name
			}
		}
		return b.function.Text
	case *raiseTask:
		if e := b.err.def; e != nil {
			for _, x := range []*expression{e.title, e.typ} {
				if words, ok := x.text(); ok && words != "" {
					return "fail with " + words[strings.LastIndexByte(words, '/')+1:]
				}
			}
		}
		return "fail"
	}
	return ""
}

// ways adds the edges from a task. None leads on from one that raises an error.
func (o *outline) ways(l *taskList, i int, prefix string, nested bool) {
	t := l.tasks[i]
	if _, ok := t.body.(*raiseTask); ok {
		return
	}
	edge := func(d directive, e ir.Edge) {
		e.From = prefix + t.name.Text
		switch {
		case d.flow == flowTask:
			e.To = prefix + d.to.name.Text
		case d.flow == flowContinue && i+1 < len(l.tasks):
			e.To = prefix + l.tasks[i+1].name.Text
		default:
			e.Exit = nested && d.flow != flowEnd
		}
		o.edges = append(o.edges, e)
	}
	b, ok := t.body.(*switchTask)
	if !ok {
		edge(t.then, ir.Edge{Kind: ir.EdgeNext})
	} else {
		for _, one := range b.cases {
			edge(one.then, ir.Edge{Kind: ir.EdgeCondition, Label: one.name.Text, When: one.when.src})
		}
		if b.otherwise != nil {
			edge(b.otherwise.then, ir.Edge{Kind: ir.EdgeDefault, Label: b.otherwise.name.Text})
		} else {
			edge(t.then, ir.Edge{Kind: ir.EdgeDefault})
		}
	}
	if b, ok := t.body.(*tryTask); ok && b.catch != nil && b.catch.then.node != nil {
		edge(b.catch.then, ir.Edge{Kind: ir.EdgeError})
	}
}
