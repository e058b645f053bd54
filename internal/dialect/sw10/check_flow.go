package sw10

import (
	"slices"

	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

// targets are the tasks of one list by name.
type targets struct {
	by    map[string]*task
	twice map[string]bool
	words []string // what then may say
}

// directives are the words that are not names.
var directives = []string{wordContinue, wordExit, wordEnd}

// targets finds the tasks of a list by name and reports names that repeat.
func (c *checker) targets(l *taskList) targets {
	out := targets{map[string]*task{}, map[string]bool{}, slices.Clone(directives)}
	for _, t := range l.tasks {
		name := t.name.Text
		if slices.Contains(directives, name) {
			c.Warnf(t.name, codeReservedName, "no task can lead to a task named %q: then: %s has a meaning of its own", name, name)
		}
		if first := out.by[name]; first != nil {
			c.Warnf(t.name, codeSameName, "task %q is in this list twice; the first is at line %d", name, first.name.Pos().Line)
			out.twice[name] = true
			continue
		}
		out.by[name] = t
		out.words = append(out.words, name)
	}
	return out
}

// jumps resolves the ways out of a task.
func (c *checker) jumps(t *task, in targets) {
	if t.list != nil && t.list.separate { // a branch is a list of one task
		in = targets{by: map[string]*task{t.name.Text: t}, words: directives}
	}
	for _, d := range t.ways() {
		c.jump(t, d, in)
	}
}

// ways are the directives of a task: its own, and those of its cases or its catch.
func (t *task) ways() []*directive {
	out := []*directive{&t.then}
	switch b := t.body.(type) {
	case *switchTask:
		for _, one := range b.cases {
			out = append(out, &one.then)
		}
		if b.otherwise != nil {
			out = append(out, &b.otherwise.then)
		}
	case *tryTask:
		if b.catch != nil {
			out = append(out, &b.catch.then)
		}
	}
	return out
}

func (c *checker) jump(t *task, d *directive, in targets) {
	if d.flow != flowTask {
		return
	}
	name := d.node.Text
	switch to := in.by[name]; {
	case in.twice[name]:
		c.Errorf(d.node, codeAmbiguous, "there are two tasks named %q in this list", name).WithHint("give one of them another name")
	case to != nil:
		d.to = to
	default:
		c.noTarget(t, d.node, in)
	}
}

func (c *checker) noTarget(t *task, n *dialect.Node, in targets) {
	d := c.Errorf(n, codeNoTask, "there is no task %q in this list", n.Text)
	switch other := c.tasks[n.Text]; {
	case other != nil && t.list != nil && t.list.separate:
		d.WithHint("a branch of a fork is a list of its own: then leads nowhere else")
	case other != nil:
		d.WithHint("the one at line %d is in another list, and then leads only to tasks of the same list", other.name.Pos().Line)
	case c.DidYouMean(d, n.Text, in.words) == "":
		d.Hint = "continue, exit and end are the other words for then"
	}
}

// flow finds the tasks of a list that nothing leads to, and whether the list can be completed.
func (c *checker) flow(l *taskList) {
	l.completes = true
	if l.unsure || l.separate || len(l.tasks) == 0 {
		return
	}
	for _, t := range l.tasks {
		for _, d := range t.ways() {
			if t.kind == "" || d.flow == flowTask && d.to == nil { // wrong: it may lead anywhere
				return
			}
		}
	}
	l.completes = false
	queue := []*task{l.tasks[0]}
	visit := func(t *task) {
		if !t.reachable {
			t.reachable = true
			queue = append(queue, t)
		}
	}
	l.tasks[0].reachable = true
	for len(queue) > 0 {
		t := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		follow := func(d directive) {
			switch {
			case d.flow == flowTask:
				visit(d.to)
			case d.flow == flowExit, d.flow == flowContinue && t.index == len(l.tasks)-1:
				l.completes = true
			case d.flow == flowContinue:
				visit(l.tasks[t.index+1])
			}
		}
		if t.when != nil { // skipped, it leads to the next
			follow(directive{})
		}
		for _, d := range t.exits() {
			follow(d)
		}
	}
	c.unreachable(l)
}

// exits are the directives that are followed once a task has run.
func (t *task) exits() []directive {
	switch b := t.body.(type) {
	case *raiseTask:
		return nil
	case *doTask:
		if b.do != nil && !b.do.completes {
			return nil
		}
	case *switchTask:
		var out []directive
		for _, one := range b.cases {
			out = append(out, one.then)
		}
		if b.otherwise != nil {
			return append(out, b.otherwise.then)
		}
		return append(out, t.then)
	case *tryTask:
		out := []directive{t.then}
		if b.catch != nil && b.catch.then.node != nil {
			out = append(out, b.catch.then)
		}
		return out
	}
	return []directive{t.then}
}

// unreachable reports the first of tasks that follow each other and are never reached.
func (c *checker) unreachable(l *taskList) {
	for i, t := range l.tasks {
		if t.reachable || i > 0 && !l.tasks[i-1].reachable && l.tasks[i-1].then.flow == flowContinue {
			continue
		}
		c.Warnf(t.name, codeUnreachable, "task %q is never reached", t.name.Text).
			WithHint("nothing leads to it, and %s before it never goes on to the next task", l.tasks[i-1].title())
	}
}

// cases reports those of a switch that are never chosen.
func (c *checker) cases(b *switchTask) {
	seen := map[string]*switchCase{}
	var always *switchCase
	for _, one := range b.cases {
		if one.when == nil {
			continue
		}
		src := one.when.src
		first := seen[src]
		switch {
		case always != nil:
			c.Warnf(one.name, codeNeverMatches, "case %q never matches: %q before it always does", one.name.Text, always.name.Text)
		case src == "false" || src == "null":
			c.Warnf(one.when.node, codeNeverMatches, "case %q never matches: its condition is always false", one.name.Text)
		case first != nil:
			c.Warnf(one.when.node, codeNeverMatches, "case %q never matches: %q has the same condition", one.name.Text, first.name.Text)
		case src == "true":
			always = one
		}
		seen[src] = one
	}
	if always != nil && b.otherwise != nil {
		c.Warnf(b.otherwise.name, codeNeverMatches, "case %q never matches: %q always does", b.otherwise.name.Text, always.name.Text)
	}
}
