package server

import (
	"fmt"
	"strconv"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/internal/core"
)

// groupOf is the group that a wait belongs to, without its count.
func groupOf(w *wait) *api.WaitGroup {
	return &api.WaitGroup{
		Kind: w.Kind, State: w.state, Function: w.Function, Event: w.Event, Workflow: w.workflow,
		Parked: w.Parked, Timeout: w.Timeout, Then: w.Then,
	}
}

func sameGroup(a, b *api.WaitGroup) bool {
	return a.Kind == b.Kind && a.State == b.State && a.Function == b.Function && a.Event == b.Event && a.Workflow == b.Workflow &&
		a.Parked == b.Parked && a.Timeout == b.Timeout && a.Then == b.Then
}

// groupWaits puts waits together that are alike. Choices of actors stay apart: each is another one.
func groupWaits(waits []wait, progress []core.Progress) []api.WaitGroup {
	var out []api.WaitGroup
	at := map[api.WaitGroup]int{}
	for i := range waits {
		w := &waits[i]
		g := groupOf(w)
		key := *g
		if w.Kind == api.WaitOffer {
			key.Then = w.Actor + " " + w.Choice
		}
		j, ok := at[key]
		if !ok {
			j = len(out)
			at[key] = j
			out = append(out, *g)
		}
		if out[j].Count++; !w.At.IsZero() && (out[j].At.IsZero() || w.At.Before(out[j].At)) {
			out[j].At = w.At
		}
		if out[j].Count == 1 {
			out[j].Text = phrase(&w.Wait)
		}
	}
	for i := range out {
		if p := progressOf(progress, out[i].State); out[i].Count > 1 || p != nil && out[i].Kind == api.WaitCall && !out[i].Parked && out[i].Workflow == "" {
			out[i].Text = groupText(&out[i], p)
		}
	}
	return out
}

// progressOf is the progress of the foreach of a state, nil if it is none.
func progressOf(list []core.Progress, state string) *core.Progress {
	for i := range list {
		if list[i].State == state {
			return &list[i]
		}
	}
	return nil
}

// groupText describes several waits that are alike.
func groupText(g *api.WaitGroup, p *core.Progress) string {
	first := ""
	if !g.At.IsZero() {
		first = ", the first at " + g.At.Format(timeText)
	}
	switch g.Kind {
	case api.WaitCall:
		switch {
		case g.Workflow != "":
			return plural(g.Count, "job", "jobs") + " of workflow " + g.Workflow + progressText(p)
		case g.Parked:
			return plural(g.Count, "call", "calls") + " of " + g.Function + " that an operator must answer" + progressText(p)
		}
		return plural(g.Count, "call", "calls") + " of " + g.Function + " in flight" + progressText(p)
	case api.WaitChild:
		if g.Workflow == "" {
			return plural(g.Count, "instance", "instances") + progressText(p)
		}
		return plural(g.Count, "instance", "instances") + " of " + g.Workflow + progressText(p)
	case api.WaitEvent, api.WaitListen:
		return fmt.Sprintf("the event %q, %s times", g.Event, grouped(g.Count))
	case api.WaitRetry:
		return plural(g.Count, "next attempt", "next attempts") + first
	}
	if g.Timeout {
		return plural(g.Count, "timeout", "timeouts") + first
	}
	return plural(g.Count, "timer", "timers") + first
}

// progressText tells how far a foreach is.
func progressText(p *core.Progress) string {
	if p == nil {
		return ""
	}
	text := ", " + grouped(p.Done) + " of " + grouped(p.Total) + " done"
	if p.Failed > 0 {
		text += ", " + grouped(p.Failed) + " failed"
	}
	return text
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return grouped(n) + " " + many
}

// grouped is a number with a comma after each thousand.
func grouped(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
