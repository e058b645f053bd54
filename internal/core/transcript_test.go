package core

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/calendar"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// TestTranscripts runs testdata/*.txt: each gives a program, then one input a
// time, and shows what came of it. Every step is also done a second time from the
// stored pages: the same inputs must give the same bytes.
func TestTranscripts(t *testing.T) {
	datadriven.Walk(t, "testdata/transcripts", func(t *testing.T, path string) {
		var h *host
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd == "program" {
				h = newHost(t, mustAssemble(t, d.Input))
				return ""
			}
			return h.do(d.Cmd, d.Input)
		})
	})
}

// host plays the shell's part for one instance: it stores pages and nothing else.
type host struct {
	t     testing.TB
	p     *Program
	now   Time
	pages map[[2]int64][]byte
	alive bool
	host  Host
}

func newHost(t testing.TB, p *Program) *host {
	start := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	return &host{t: t, p: p, now: TimeOf(start), pages: map[[2]int64][]byte{}}
}

// state decodes the instance from its stored pages.
func (h *host) state() *State {
	if !h.alive {
		return nil
	}
	var pages []Page
	for k, data := range h.pages {
		pages = append(pages, Page{Frame: FrameID(k[0]), Part: int32(k[1]), Data: data})
	}
	s, err := DecodeState(h.p, pages, nil)
	if err != nil {
		h.t.Fatal(err)
	}
	return s
}

func (h *host) step(in Input) (Result, error) {
	first, err := StepFor(h.host, h.p, h.state(), h.now, in)
	second, err2 := StepFor(h.host, h.p, h.state(), h.now, in)
	if fmt.Sprint(err) != fmt.Sprint(err2) || show(h.p, first) != show(h.p, second) {
		h.t.Fatalf("the same step differs the second time:\n%s\n%s", show(h.p, first), show(h.p, second))
	}
	if err != nil || first.Stale {
		return first, err
	}
	pages, again := first.State.TakeDirty(nil), second.State.TakeDirty(nil)
	if !slices.EqualFunc(pages, again, func(a, b Page) bool {
		return a.Frame == b.Frame && a.Part == b.Part && bytes.Equal(a.Data, b.Data)
	}) {
		h.t.Fatal("the same step stores other bytes the second time")
	}
	for _, page := range pages {
		k := [2]int64{int64(page.Frame), int64(page.Part)}
		if page.Data == nil {
			delete(h.pages, k)
		} else {
			h.pages[k] = page.Data
		}
	}
	h.alive = true
	if got, want := frames(h.p, h.state()), frames(h.p, first.State); got != want {
		h.t.Fatalf("stored state differs from the state in memory:\n%s\n%s", got, want)
	}
	return first, nil
}

// do carries out one line of a transcript.
func (h *host) do(cmd, input string) string {
	head, rest, _ := strings.Cut(strings.TrimSpace(input), " ")
	var in Input
	switch cmd {
	case "awaited": // another instance waits for this one
		h.host.Awaited = true
		return ""
	case "start":
		in = h.startInput(input)
	case "reply", "fault":
		tk, err := ParseTicket(head)
		if err != nil {
			return err.Error()
		}
		r := Reply{Ticket: tk}
		switch {
		case cmd == "fault":
			r.Fault = &Fault{}
			f := append(strings.Fields(rest), "", "", "", "")
			r.Fault.Name, r.Fault.Code, r.Fault.Status, r.Fault.Type = f[0], strings.Trim(f[1], "-"), strings.Trim(f[2], "-"), f[3]
		case rest == "none":
			r.None = true
		case strings.HasPrefix(rest, "terminate "):
			r.Terminate, r.Value = true, h.json(strings.TrimPrefix(rest, "terminate "))
		case rest != "":
			r.Value = h.json(rest)
		}
		in = r
	case "after":
		d, err := calendar.ParseDuration(head)
		if err != nil {
			return err.Error()
		}
		h.now = TimeOf(d.AddTo(h.now.Std()))
		var out strings.Builder
		due := h.state().Due(h.now)
		for _, tk := range due {
			r, err := h.step(Reply{Ticket: tk})
			fmt.Fprintf(&out, "timer %s\n%s", tk, outcome(h.p, r, err))
		}
		if len(due) == 0 {
			return "nothing is due\n"
		}
		return out.String()
	case "take":
		choice, value, _ := strings.Cut(rest, " ")
		in = Take{Actor: head, Choice: choice, Value: h.json(value)}
	case "control":
		c := Control{Verb: Verb(head), Actor: "test"}
		if rest == "compensate" {
			c.Compensate = true
		} else if rest == "items" {
			c.Items = true
		} else if rest != "" {
			c.Data, c.HasData = h.json(rest), true
		}
		in = c
	case "continue":
		in = Continue{}
	case "frames":
		return frames(h.p, h.state())
	case "progress":
		var out strings.Builder
		for _, p := range h.state().Progress(h.p) {
			fmt.Fprintf(&out, "%s: %d of %d done, %d failed, %d in flight\n", p.State, p.Done, p.Total, p.Failed, p.InFlight)
			for _, x := range p.Failures {
				fmt.Fprintf(&out, "  %d %s: %s\n", x.Index, x.Fault.Item.Value, x.Fault.Error())
			}
		}
		return out.String()
	default:
		return "unknown command " + cmd
	}
	r, err := h.step(in)
	return outcome(h.p, r, err)
}

// startInput reads the input, and on further lines "event-id {event}".
func (h *host) startInput(text string) Start {
	data, events, _ := strings.Cut(strings.TrimSpace(text), "\n")
	s := Start{Data: h.json(data), Seed: 7}
	for _, line := range strings.Split(events, "\n") {
		if id, ev, ok := strings.Cut(line, " "); ok {
			var n int
			fmt.Sscan(id, &n)
			s.Events = append(s.Events, Arrival{ir.EventID(n), h.json(ev)})
		}
	}
	return s
}

func (h *host) json(text string) expr.Value {
	if text == "" {
		return expr.Null
	}
	v, err := expr.ParseJSON([]byte(text))
	if err != nil {
		h.t.Fatalf("%s: %v", text, err)
	}
	return v
}

func outcome(p *Program, r Result, err error) string {
	var rejected *Rejected
	switch {
	case errors.As(err, &rejected):
		return fmt.Sprintf("rejected: %s %v\n", rejected.Msg, rejected.Allowed)
	case err != nil:
		return "error: " + err.Error() + "\n"
	case r.Stale:
		return "stale\n"
	}
	return show(p, r)
}

func show(p *Program, r Result) string {
	var b strings.Builder
	for _, rec := range r.Records {
		fmt.Fprintf(&b, "  %s", rec.Type)
		for _, s := range []string{rec.Node, rec.Name, rec.Text, string(rec.Status)} {
			if s != "" {
				fmt.Fprintf(&b, " %s", s)
			}
		}
		if rec.Type == RecRetrying {
			fmt.Fprintf(&b, " #%d in %s", rec.Attempt, time.Duration(rec.At-rec.Time))
		}
		if rec.HasData {
			fmt.Fprintf(&b, " %s", rec.Data)
		}
		if rec.Fault != nil {
			fmt.Fprintf(&b, " !%s", rec.Fault.Error())
			if item := rec.Fault.Item; item != nil {
				fmt.Fprintf(&b, " [item %d: %s]", item.Index, item.Value)
			}
		}
		b.WriteByte('\n')
	}
	for _, c := range r.Commands {
		fmt.Fprintf(&b, "> %s\n", showCommand(p, c))
	}
	if r.State != nil {
		fmt.Fprintf(&b, "%s", r.State.Status())
		if at, ok := r.State.Wake(); ok && !r.State.Status().Final() {
			fmt.Fprintf(&b, ", wakes %s", at)
		}
		if reason := r.State.PauseReason(); reason != "" {
			b.WriteString(", " + reason)
		}
		if r.More {
			b.WriteString(", more")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func showCommand(p *Program, c Command) string {
	switch c := c.(type) {
	case Invoke:
		return fmt.Sprintf("invoke %s %s %s", c.Ticket, c.Function.Name, c.Args)
	case Subscribe:
		e := p.Events[c.Event]
		return fmt.Sprintf("subscribe %s %s %s/%s %v", c.Ticket, c.Name, e.Source, e.Type, c.Keys)
	case Offers:
		return fmt.Sprintf("offer %s %v", c.Ticket, c.Offers)
	case Spawn:
		if c.Continue {
			return fmt.Sprintf("spawn %s %s %s continue", c.Ticket, c.Workflow, c.Input)
		}
		return fmt.Sprintf("spawn %s %s %s wait=%t", c.Ticket, c.Workflow, c.Input, c.Wait)
	case Emit:
		return fmt.Sprintf("emit %s %s data=%s attrs=%v", c.Ticket, c.Type, c.Data, c.Attrs)
	case Cancel:
		return fmt.Sprintf("cancel %s %s", c.Ticket, c.Kind)
	case Finish:
		return fmt.Sprintf("finish %s %s", c.Status, c.Output)
	}
	return fmt.Sprintf("%#v", c)
}

func frames(p *Program, s *State) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s keys=%v undo=%v\n", s.Status(), s.keys, s.done.regions)
	for _, f := range s.frames {
		fmt.Fprintf(&b, "%d<%d %s@%d %s data=%s", f.id, f.parent, p.Regions[f.region].Name, f.node, [...]string{"run", "wait", "parked"}[f.phase], f.data)
		if f.delta.Len() > 0 {
			fmt.Fprintf(&b, " delta=%s", f.delta)
		}
		for _, w := range f.waits {
			fmt.Fprintf(&b, " %s:%d", w.kind, w.n&^standing)
		}
		if f.fan != nil {
			fmt.Fprintf(&b, " fan=%d/%d/%d", f.fan.ended, f.fan.next, f.fan.total)
			if len(f.fan.bad) > 0 {
				fmt.Fprintf(&b, " bad=%v", f.fan.bad)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}
