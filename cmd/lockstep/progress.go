package main

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// progress tells on stderr what an instance does, a line a state.
type progress struct {
	w        io.Writer
	color    bool
	virtual  bool // nobody has to be told what is waited for
	types    map[stateKey]string
	program  func(instance string) string // the definition of an instance
	nameWide int
	typeWide int
	entered  map[string]core.Time
	held     map[string]*held // by instance
}

// finalState is the type of a job's last state.
const finalState = "final"

// stateKey names a state among several definitions.
type stateKey struct{ definition, name string }

// held is a state that an instance left, with what was told since. What comes on the
// way out may still fail it: then it did not end well.
type held struct {
	state string
	lines []string // the first is that of the state
}

func newProgress(w io.Writer, programs []*ir.Program, virtual bool, program func(instance string) string) *progress {
	p := &progress{w: w, color: color(w), virtual: virtual, program: program, types: map[stateKey]string{}, entered: map[string]core.Time{}, held: map[string]*held{}}
	for _, program := range programs {
		for _, s := range program.States {
			p.types[stateKey{program.ID, s.Name}] = s.Type
			p.nameWide = max(p.nameWide, utf8.RuneCountInString(s.Name))
			p.typeWide = max(p.typeWide, len(s.Type))
		}
	}
	return p
}

// record tells one line of history, if it is one that people follow. inner says
// that the instance is another's child.
func (p *progress) record(instance string, inner bool, r core.Record) {
	key := instance + "\x00" + r.Node
	p.release(instance, r)
	switch r.Type {
	case core.RecEntered:
		p.entered[key] = r.Time
		if p.types[stateKey{p.program(instance), r.Node}] == finalState { // a job is over there, and never leaves it
			p.line("32", "✓", instance, inner, r.Node, "over")
		}
	case core.RecLeft:
		p.held[instance] = &held{r.Node, []string{p.text("32", "✓", instance, inner, r.Node, p.took(key, r.Time))}}
	case core.RecWaiting:
		if r.Text != "" && !p.virtual {
			p.line("36", "…", instance, inner, r.Node, "waits for "+r.Text)
		}
	case core.RecRetrying:
		p.line("33", "↻", instance, inner, r.Node, p.took(key, r.Time)+"   "+faultName(r.Fault)+", retry "+fmt.Sprint(r.Attempt)+" in "+humanDuration(r.At.Std().Sub(r.Time.Std())))
	case core.RecCaught:
		p.line("33", "✗", instance, inner, r.Node, p.took(key, r.Time)+"   "+faultName(r.Fault)+", handled")
	case core.RecFinished:
		if r.Fault != nil && r.Fault.Node != "" {
			p.line("31", "✗", instance, inner, r.Fault.Node, p.took(instance+"\x00"+r.Fault.Node, r.Time)+"   "+faultName(r.Fault)+", failed")
			delete(p.entered, instance+"\x00"+r.Fault.Node)
		}
	case core.RecWarning:
		line := fmt.Sprintf("! %s\n", plain(r.Text))
		if r.Node != "" {
			line = fmt.Sprintf("! %s: %s\n", plain(r.Node), plain(r.Text))
		}
		if h := p.held[instance]; h != nil {
			h.lines = append(h.lines, line)
			return
		}
		fmt.Fprint(p.w, line)
	}
}

// release tells what was held back, if the next record says how the state ended.
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
		delete(p.entered, instance+"\x00"+h.state) // of a run without an end, not every child is remembered
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
	return humanDuration(until.Std().Sub(from.Std()))
}

func (p *progress) line(code, mark, instance string, inner bool, name, rest string) {
	fmt.Fprint(p.w, p.text(code, mark, instance, inner, name, rest))
}

func (p *progress) text(code, mark, instance string, inner bool, name, rest string) string {
	kind := p.types[stateKey{p.program(instance), name}]
	name, rest = plain(name), plain(strings.TrimSpace(rest))
	if p.color {
		mark = "\x1b[" + code + "m" + mark + "\x1b[0m"
	}
	if inner {
		mark = "  " + mark
	}
	pad := strings.Repeat(" ", max(0, p.nameWide-utf8.RuneCountInString(name)))
	return fmt.Sprintf("%s %s%s   %-*s   %s\n", mark, name, pad, p.typeWide, kind, rest)
}

// humanDuration is short: 0ms, 250ms, 2.5s, 1m30s, 30d.
func humanDuration(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	case d < time.Minute:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", d.Seconds()), ".0") + "s"
	case d < day:
		text := d.Round(time.Second).String()
		if strings.HasSuffix(text, "m0s") {
			text = strings.TrimSuffix(text, "0s")
		}
		if strings.HasSuffix(text, "h0m") {
			text = strings.TrimSuffix(text, "0m")
		}
		return text
	case d%day == 0:
		return fmt.Sprintf("%dd", d/day)
	}
	return fmt.Sprintf("%dd%s", d/day, humanDuration(d%day))
}
