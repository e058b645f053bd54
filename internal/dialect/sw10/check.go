package sw10

import (
	"regexp"
	"slices"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// checker says what only the whole definition can tell: references, flow, what
// is never used. It resolves the references on its way.
type checker struct {
	*parser

	authentications names[authentication]
	catalogs        names[catalog]
	errors          names[errorDef]
	functions       names[function]
	retries         names[retry]
	timeouts        names[timeout]

	tasks     map[string]*task // by name, one of them
	refs      map[string]bool  // pointers of all tasks
	catalogue map[string]bool  // functions of the server
	callable  []string         // what a call may name
	calls     map[*function][]*callTask
	around    *sources // of errors, in extensions
	files     map[string]*fetched
	copied    int // bytes of what they were copied for so far
}

// names are the components of one kind.
type names[T any] struct {
	what, code string
	by         map[string]*T
	list       []string
}

func (x *names[T]) add(name *dialect.Node, one *T) {
	if x.by == nil {
		x.by = map[string]*T{}
	}
	x.by[name.Text] = one
	x.list = append(x.list, name.Text)
}

func newChecker(p *parser, opts dialect.Options) *checker {
	c := &checker{
		parser:          p,
		authentications: names[authentication]{what: "authentication", code: codeNoAuth},
		catalogs:        names[catalog]{what: "catalog", code: codeNoCatalog},
		errors:          names[errorDef]{what: "error", code: codeNoError},
		functions:       names[function]{what: "function", code: codeNoFunction},
		retries:         names[retry]{what: "retry", code: codeNoRetry},
		timeouts:        names[timeout]{what: "timeout", code: codeNoTimeout},
		tasks:           map[string]*task{}, refs: map[string]bool{}, catalogue: map[string]bool{},
		calls: map[*function][]*callTask{}, files: map[string]*fetched{},
	}
	c.collect()
	for _, name := range opts.Functions {
		c.catalogue[name] = true
	}
	c.callable = slices.Concat(c.functions.list, builtinCalls, opts.Functions)
	return c
}

func check(p *parser, opts dialect.Options) {
	c := newChecker(p, opts)
	d := p.def
	c.timeout(&d.timeout)
	for _, a := range d.use.catalogs {
		c.endpointUse(a.endpoint)
	}
	for _, f := range d.use.functions {
		c.task(f.task, f)
	}
	for _, x := range d.use.extensions {
		c.list(x.before, nil)
		c.list(x.after, nil)
	}
	c.list(d.do, nil)
	c.recursion()
	c.unused()
	c.readEnvelope()
}

// collect finds every definition by its name. That a key stands there twice is reported when the
// document is read.
func (c *checker) collect() {
	u := &c.def.use
	for _, a := range u.authentications {
		c.authentications.add(a.name, a)
	}
	for _, a := range u.catalogs {
		c.catalogs.add(a.name, a)
	}
	for _, e := range u.errors {
		c.errors.add(e.name, e)
	}
	for _, f := range u.functions {
		c.functions.add(f.name, f)
		c.collectTask(f.task)
	}
	for _, r := range u.retries {
		c.retries.add(r.name, r)
	}
	for _, t := range u.timeouts {
		c.timeouts.add(t.name, t)
	}
	for _, x := range u.extensions {
		c.collectList(x.before)
		c.collectList(x.after)
	}
	c.collectList(c.def.do)
}

func (c *checker) collectList(l *taskList) {
	if l == nil {
		return
	}
	for _, t := range l.tasks {
		if c.tasks[t.name.Text] == nil {
			c.tasks[t.name.Text] = t
		}
		c.collectTask(t)
	}
}

func (c *checker) collectTask(t *task) {
	c.refs[t.ref] = true
	if t.body == nil {
		return
	}
	for _, l := range t.body.lists() {
		c.collectList(l)
	}
}

// list checks a list of tasks. in is the function whose body it belongs to, nil outside of those.
func (c *checker) list(l *taskList, in *function) {
	if l == nil {
		return
	}
	c.Budget.Spend(len(l.tasks))
	targets := c.targets(l)
	for _, t := range l.tasks {
		c.task(t, in)
		c.jumps(t, targets)
	}
	c.flow(l)
}

// task checks what stands in one task.
func (c *checker) task(t *task, in *function) {
	c.timeout(&t.timeout)
	if t.list == nil {
		c.jumps(t, targets{})
	}
	if t.body == nil {
		return
	}
	for _, l := range t.body.lists() {
		c.list(l, in)
	}
	switch b := t.body.(type) {
	case *callTask:
		c.call(b, in)
	case *raiseTask:
		c.raised(&b.err)
	case *switchTask:
		c.cases(b)
	case *tryTask:
		if b.catch != nil {
			c.retry(&b.catch.retry)
			c.neverCaught(t, b)
		}
	}
}

// unused warns of components that nothing refers to.
func (c *checker) unused() {
	u := &c.def.use
	for _, a := range u.authentications {
		c.unusedOne(&a.shared, "authentication")
	}
	for _, a := range u.catalogs {
		c.unusedOne(&a.shared, "catalog")
	}
	for _, e := range u.errors {
		c.unusedOne(&e.shared, "error")
	}
	for _, f := range u.functions {
		c.unusedOne(&f.shared, "function")
	}
	for _, r := range u.retries {
		c.unusedOne(&r.shared, "retry")
	}
	for _, t := range u.timeouts {
		c.unusedOne(&t.shared, "timeout")
	}
}

func (c *checker) unusedOne(s *shared, what string) {
	if !s.used {
		c.Warnf(s.name, codeUnused, "%s %q is never used", what, s.name.Text)
	}
}

var envelopeUse = regexp.MustCompile(`^\$workflow\.input\[\d+\]\.data\b`)

// readEnvelope warns where the events that started the workflow are used as if they were whole.
func (c *checker) readEnvelope() {
	s := c.def.schedule
	if s == nil || s.on == nil || s.read != readData {
		return
	}
	for _, e := range c.def.expressions {
		for _, v := range e.vars {
			if v.Name != varWorkflow || v.Member != varInput {
				continue
			}
			if used := envelopeUse.FindString(v.node.Text[v.Offset:]); used != "" {
				c.Warnf(v.node.SpanIn(v.Offset, v.Offset+len(used)), codeReadEnvelope,
					"the workflow's input has the data of events, not the events: there is no member data").
					WithHint("set schedule.read to envelope, or leave .data out")
			}
		}
	}
}
