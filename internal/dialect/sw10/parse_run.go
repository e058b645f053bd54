package sw10

import (
	"strings"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
)

var processKinds = []string{runContainer, runScript, runShell, runWorkflow}

// runTask reads a process (Open Workflow §Run).
func (p *parser) runTask(f *dialect.Fields) *runTask {
	b := &runTask{await: true, returns: returnStdout}
	run := p.Fields(f.Get(kindRun), kindRun)
	if run == nil {
		return b
	}
	b.await, _ = run.Flag("await", true)
	word, returns := run.Choice("return", returnStdout, "stderr", "code", "all", "none")
	if word != "" {
		b.returns = word
	}
	s := p.secretly(p.in(taskBody, kindRun))
	var first *dialect.Node
	for _, kind := range processKinds {
		n := run.Get(kind)
		switch {
		case n == nil:
			continue
		case first != nil:
			run.Both(first, n)
			continue
		}
		first = n
		if one := p.Fields(n, kind); one != nil {
			b.process = p.process(one, kind, s)
			one.Done()
			b.with = p.whole(n)
		}
	}
	run.Done()
	switch {
	case first == nil:
		p.Errorf(run.Node.KeySpan(), codeMissing, "run needs one of %s", strings.Join(processKinds, ", "))
	case first.Name() == runWorkflow && returns != nil:
		p.Warnf(returns.KeySpan(), codeIgnored, "return is for other processes; a workflow returns its output")
	case !b.await && returns != nil:
		p.Warnf(returns.KeySpan(), codeIgnored, "return is ignored with await: false; the output is the task's input")
	}
	return b
}

func (p *parser) process(f *dialect.Fields, kind string, s scope) process {
	switch kind {
	case runContainer:
		return p.containerRun(f, s)
	case runScript:
		return p.scriptRun(f, s)
	case runShell:
		return &shellRun{
			command:     p.commandText(f.Need("command"), s),
			stdin:       p.textValue(f.Get("stdin"), s),
			arguments:   p.versioned(f.Get("arguments"), s),
			environment: p.textsValue(f.Get("environment"), expr.KindObject, s),
		}
	}
	s.leaves = true
	return p.workflowRun(f, s)
}

// commandText reads a program or a command, in which ${ } is the shell's.
func (p *parser) commandText(n *dialect.Node, s scope) *expression {
	if n == nil || p.Named(n, n.Name()) == nil {
		return nil
	}
	return p.code(n, s)
}

// versioned reads the arguments of a script or a command: a list since 1.0.3, an object before.
func (p *parser) versioned(n *dialect.Node, s scope) *expression {
	if n == nil {
		return nil
	}
	dsl := p.def.document.dsl
	listed := dsl.patch >= 3
	switch {
	case listed && n.Kind == expr.KindObject:
		p.Errorf(n, codeArguments, "arguments is a list of texts since version 1.0.3").
			WithHint(`as in ["--name", "value"]; document.dsl says 1.0.%d`, dsl.patch)
		return nil
	case !listed && n.Kind == expr.KindArray:
		p.Errorf(n, codeArguments, "arguments is an object before version 1.0.3").
			WithHint("for a list set document.dsl to 1.0.3; it says 1.0.%d", dsl.patch)
		return nil
	case listed:
		return p.textsValue(n, expr.KindArray, s)
	}
	return p.objectValue(n, s)
}

// containerRun reads Open Workflow §Container Process.
func (p *parser) containerRun(f *dialect.Fields, s scope) *containerRun {
	c := &containerRun{
		image:       p.textValue(f.Need("image"), s),
		name:        p.textValue(f.Get("name"), s),
		command:     p.commandText(f.Get("command"), s),
		ports:       p.objectValue(f.Get("ports"), s),
		volumes:     p.objectValue(f.Get("volumes"), s),
		environment: p.textsValue(f.Get("environment"), expr.KindObject, s),
		stdin:       p.textValue(f.Get("stdin"), s),
		arguments:   p.textsValue(f.Get("arguments"), expr.KindArray, s),
	}
	c.pullPolicy, _ = f.Choice("pullPolicy", "ifNotPresent", "always", "never")
	if lifetime := p.Fields(f.Get("lifetime"), "lifetime"); lifetime != nil {
		c.cleanup = needChoice(lifetime, "cleanup", []string{"always", "never", "eventually"})
		c.after = p.duration(lifetime.Get("after"), s)
		switch after := lifetime.Peek("after"); {
		case c.cleanup == "eventually" && after == nil:
			lifetime.Missing("after")
		case c.cleanup != "eventually" && c.cleanup != "" && after != nil:
			p.Errorf(after.KeySpan(), codeOutOfPlace, "after is for cleanup: eventually, not %s", c.cleanup)
		}
		lifetime.Done()
	}
	return c
}

// scriptRun reads Open Workflow §Script Process.
func (p *parser) scriptRun(f *dialect.Fields, s scope) *scriptRun {
	c := &scriptRun{
		language:    p.textValue(f.Need("language"), s),
		code:        p.commandText(f.Get("code"), s),
		source:      p.resource(f.Get("source"), s),
		stdin:       p.textValue(f.Get("stdin"), s),
		arguments:   p.versioned(f.Get("arguments"), s),
		environment: p.textsValue(f.Get("environment"), expr.KindObject, s),
	}
	f.Either("code", "source")
	return c
}

// workflowRun reads Open Workflow §Workflow Process.
func (p *parser) workflowRun(f *dialect.Fields, s scope) *workflowRun {
	c := &workflowRun{namespace: p.name(f.Name("namespace")), name: p.name(f.Name("name"))}
	if n := f.OptionalName("version"); n != nil && n.Text != latestVersion {
		c.version = p.semantic(n)
	}
	c.input = p.template(f.Get("input"), s)
	return c
}
