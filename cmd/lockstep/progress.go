package main

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/lockstep-workflows/lockstep/core"
	"github.com/lockstep-workflows/lockstep/ir"
)

// progress tells on stderr what an instance does, a line a state.
type progress struct {
	w        io.Writer
	color    bool
	virtual  bool              // nobody has to be told what is waited for
	types    map[string]string // of states, by name
	nameWide int
	typeWide int
	entered  map[string]core.Time
}

func newProgress(w io.Writer, programs []*ir.Program, virtual bool) *progress {
	p := &progress{w: w, color: color(w), virtual: virtual, types: map[string]string{}, entered: map[string]core.Time{}}
	for _, program := range programs {
		for _, s := range program.States {
			p.types[s.Name] = s.Type
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
	switch r.Type {
	case core.RecEntered:
		p.entered[key] = r.Time
	case core.RecLeft:
		p.line("32", "✓", inner, r.Node, p.took(key, r.Time))
		delete(p.entered, key) // of a run without an end, not every child is remembered
	case core.RecWaiting:
		if r.Text != "" && !p.virtual {
			p.line("36", "…", inner, r.Node, "waits for "+r.Text)
		}
	case core.RecRetrying:
		p.line("33", "↻", inner, r.Node, p.took(key, r.Time)+"   "+faultName(r.Fault)+", retry "+fmt.Sprint(r.Attempt)+" in "+humanDuration(r.At.Std().Sub(r.Time.Std())))
	case core.RecCaught:
		p.line("33", "✗", inner, r.Node, p.took(key, r.Time)+"   "+faultName(r.Fault)+", handled")
	case core.RecFinished:
		if r.Fault != nil && r.Fault.Node != "" {
			p.line("31", "✗", inner, r.Fault.Node, p.took(instance+"\x00"+r.Fault.Node, r.Time)+"   "+faultName(r.Fault)+", failed")
		}
	case core.RecWarning:
		fmt.Fprintf(p.w, "! %s: %s\n", plain(r.Node), plain(r.Text))
	}
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

func (p *progress) line(code, mark string, inner bool, name, rest string) {
	name, rest = plain(name), plain(strings.TrimSpace(rest))
	if p.color {
		mark = "\x1b[" + code + "m" + mark + "\x1b[0m"
	}
	if inner {
		mark = "  " + mark
	}
	pad := strings.Repeat(" ", max(0, p.nameWide-utf8.RuneCountInString(name)))
	fmt.Fprintf(p.w, "%s %s%s   %-*s   %s\n", mark, name, pad, p.typeWide, p.types[name], rest)
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
