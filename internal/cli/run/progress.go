package run

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/lockstep-workflows/lockstep/internal/cli"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// progress shows on stderr what an instance does, one line for each state.
type progress struct {
	w        io.Writer
	color    bool
	virtual  bool // waits are not shown
	types    map[stateKey]string
	program  func(instance string) string // the definition of an instance
	nameWide int
	typeWide int
	entered  map[string]core.Time
	held     map[string]*held // by instance
}

// finalState is the type of a job's final states.
const finalState = "final"

// stateKey names a state among several definitions.
type stateKey struct{ definition, name string }

// held is a state that an instance left, with the lines since. The instance may still fail on the way out
// of the state: then the state failed.
type held struct {
	state string
	lines []string // the first is that of the state
}

func newProgress(w io.Writer, programs []*ir.Program, virtual bool, program func(instance string) string) *progress {
	p := &progress{w: w, color: cli.Color(w), virtual: virtual, program: program, types: map[stateKey]string{}, entered: map[string]core.Time{}, held: map[string]*held{}}
	for _, program := range programs {
		for _, s := range program.States {
			p.know(program, s.Name, s.Type)
		}
		p.knowAsides(program)
	}
	return p
}

// know keeps the type of a state, and room for both.
func (p *progress) know(program *ir.Program, name, typ string) {
	p.types[stateKey{program.ID, name}] = typ
	p.nameWide = max(p.nameWide, utf8.RuneCountInString(name))
	p.typeWide = max(p.typeWide, len(typ))
}

// knowAsides keeps the states of functions and extensions. Those of an extension have another name
// for each state that is extended, so they are found by what they are in the definition.
func (p *progress) knowAsides(program *ir.Program) {
	types := map[string]string{}
	for _, a := range program.Asides {
		for _, s := range a.States {
			types[s.ID] = s.Type
		}
	}
	for _, n := range program.Nodes {
		if typ, ok := types[n.Ref]; ok && n.Mark == ir.MarkEntered {
			p.know(program, n.Name, typ)
		}
	}
}

// record shows a record, if it is of interest to people. inner says that the instance is a child.
func (p *progress) record(instance string, inner bool, r core.Record) {
	key := instance + "\x00" + r.Node
	p.release(instance, r)
	switch r.Type {
	case core.RecEntered:
		p.entered[key] = r.Time
		if p.types[stateKey{p.program(instance), r.Node}] == finalState { // a job ends here, and never leaves it
			p.line("32", "✓", instance, inner, r.Node, "over")
		}
	case core.RecLeft:
		p.held[instance] = &held{r.Node, []string{p.text("32", "✓", instance, inner, r.Node, p.took(key, r.Time))}}
	case core.RecWaiting:
		if r.Text != "" && !p.virtual {
			p.line("36", "…", instance, inner, r.Node, "waits for "+r.Text)
		}
	case core.RecRetrying:
		p.line("33", "↻", instance, inner, r.Node, p.took(key, r.Time)+"   "+faultName(r.Fault)+", retry "+fmt.Sprint(r.Attempt)+" in "+cli.HumanDuration(r.At.Std().Sub(r.Time.Std())))
	case core.RecCaught:
		p.line("33", "✗", instance, inner, r.Node, p.took(key, r.Time)+"   "+faultName(r.Fault)+", handled")
	case core.RecFinished:
		if r.Fault != nil && r.Fault.Node != "" {
			p.line("31", "✗", instance, inner, r.Fault.Node, p.took(instance+"\x00"+r.Fault.Node, r.Time)+"   "+faultName(r.Fault)+", failed")
			delete(p.entered, instance+"\x00"+r.Fault.Node)
		}
	case core.RecWarning:
		line := fmt.Sprintf("! %s\n", cli.Plain(r.Text))
		if r.Node != "" {
			line = fmt.Sprintf("! %s: %s\n", cli.Plain(r.Node), cli.Plain(r.Text))
		}
		if h := p.held[instance]; h != nil {
			h.lines = append(h.lines, line)
			return
		}
		fmt.Fprint(p.w, line)
	}
}

// release shows the held lines, if the next record says how the state ended.
func (p *progress) release(instance string, next core.Record) {
	h := p.held[instance]
	if h == nil {
		return
	}
	switch {
	case next.Type == core.RecWarning, next.Type == core.RecProduced: // on the way out
		return
	case next.Type == core.RecFinished && next.Fault != nil && next.Fault.Node == h.state:
		h.lines = h.lines[1:]
	default:
		delete(p.entered, instance+"\x00"+h.state) // do not keep every child of an endless run
	}
	for _, line := range h.lines {
		fmt.Fprint(p.w, line)
	}
	delete(p.held, instance)
}

func faultName(f *core.Fault) string {
	if f == nil {
		return ""
	}
	return f.Name
}

func (p *progress) took(key string, until core.Time) string {
	from, ok := p.entered[key]
	if !ok {
		return ""
	}
	return cli.HumanDuration(until.Std().Sub(from.Std()))
}

func (p *progress) line(code, mark, instance string, inner bool, name, rest string) {
	fmt.Fprint(p.w, p.text(code, mark, instance, inner, name, rest))
}

func (p *progress) text(code, mark, instance string, inner bool, name, rest string) string {
	kind := p.types[stateKey{p.program(instance), name}]
	name, rest = cli.Plain(name), cli.Plain(strings.TrimSpace(rest))
	if p.color {
		mark = "\x1b[" + code + "m" + mark + "\x1b[0m"
	}
	if inner {
		mark = "  " + mark
	}
	pad := strings.Repeat(" ", max(0, p.nameWide-utf8.RuneCountInString(name)))
	return fmt.Sprintf("%s %s%s   %-*s   %s\n", mark, name, pad, p.typeWide, kind, rest)
}
