package sim

import (
	"slices"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
)

// The reference interpreter of wfx, written from wfx's documentation and
// docs/definitions-wfx.md. A job is one state machine, so there is nothing to
// recurse into: it takes what comes in order of time.

type job struct {
	def        expr.Value
	w          *world // for what the cases come by
	status     expr.Value
	definition expr.Value
	tags       []string
	in         Instance
	entered    time.Duration // the state that it is in
	changed    time.Duration
	changes    int // since it was created
	history    []string
}

// interpretWFX runs a case of wfx.
func interpretWFX(c *Case) (out Outcome, open string) {
	j := &job{def: c.Def, definition: c.Input, w: newWorld(c, nil), in: Instance{Workflow: str(c.Def, "name"), Status: Waiting}}
	j.status = obj("clientId", expr.String(jobClient))
	j.enter(j.initial(), 0)
	for _, u := range c.Updates {
		j.lapse(u.At)
		out.Replies = append(out.Replies, Reply{u.At, j.take(u)})
	}
	j.lapse(never)
	j.w.saw("a job that is " + j.in.Status)
	j.in.Job = jobText(jobClient, j.state(), j.group(), j.tags)
	j.in.Output = j.status
	out.Instances = []Instance{j.in}
	out.History = append([]string{jobNow(j.changed, j.status, j.definition)}, j.history...)
	out.Reached = j.w.reached
	return out, ""
}

const never = time.Duration(1<<63 - 1)

func (j *job) state() string { return str(j.status, "state") }

// ways lists the transitions from the state that the job is in to others.
func (j *job) ways() (list []expr.Value) {
	for _, t := range get(j.def, "transitions").Items() {
		if str(t, "from") == j.state() && str(t, "to") != j.state() {
			list = append(list, t)
		}
	}
	return list
}

// initial is the state that no other leads to.
func (j *job) initial() string {
	for _, st := range get(j.def, "states").Items() {
		name := str(st, "name")
		if !slices.ContainsFunc(get(j.def, "transitions").Items(), func(t expr.Value) bool {
			return str(t, "to") == name && str(t, "from") != name
		}) {
			return name
		}
	}
	panic("sim: no initial state")
}

func (j *job) group() string {
	for _, g := range get(j.def, "groups").Items() {
		if slices.Contains(list(get(g, "states")), j.state()) {
			j.w.saw("a state of a group")
			return str(g, "name")
		}
	}
	return ""
}

// enter puts the job into a state, and takes IMMEDIATE transitions from there. What was
// sent stays in the status.
func (j *job) enter(state string, now time.Duration) {
	for hops := 0; ; hops++ {
		if hops > 1 {
			j.w.saw("a chain of immediate transitions")
		}
		j.status = j.status.With("state", expr.String(state))
		j.in.Path = append(j.in.Path, state)
		j.entered, j.changed = now, now
		ways := j.ways()
		if len(ways) == 0 {
			j.in.Status, j.in.Ended = Completed, now
			return
		}
		i := slices.IndexFunc(ways, func(t expr.Value) bool { return str(t, "action") == "IMMEDIATE" })
		if i < 0 {
			return
		}
		j.w.saw("an immediate transition")
		j.replace("", now)
		state = str(ways[i], "to")
	}
}

// replace notes the status that goes.
func (j *job) replace(actor string, now time.Duration) {
	j.history = slices.Insert(j.history, 0, jobWas(j.changed, now, actor, j.status, j.definition, true))
}

// lapse lets the time limits run out that end until then. What comes at the very end
// is late.
func (j *job) lapse(until time.Duration) {
	for {
		limit := expr.Null
		for _, st := range get(j.def, "states").Items() {
			if str(st, "name") == j.state() {
				limit = get(st, "timeout")
			}
		}
		if limit.IsNull() {
			return
		}
		after := str(limit, "after")
		at := j.entered + j.w.span(after)
		if at > until {
			return
		}
		j.w.saw("a time limit")
		j.replace("", at)
		j.status = obj("message", expr.String(j.state()+" took longer than "+after))
		j.changes++
		j.enter(str(limit, "to"), at)
	}
}

// take reports whether an update is taken, and does what it says.
func (j *job) take(u Update) bool {
	switch {
	case u.Client != "" && u.Client != jobClient:
		j.w.saw("an update of another client")
		return false
	case u.Rev == RevStale && j.changes > 0:
		j.w.saw("a stale update")
		return false
	}
	switch u.Kind {
	case UpdateStatus:
		return j.move(u)
	case UpdateDefinition:
		if !j.definition.IsNull() { // else nothing is replaced
			j.history = slices.Insert(j.history, 0, jobWas(j.changed, u.At, "", expr.Null, j.definition, false))
		}
		j.definition, j.changed = u.Value, u.At
		j.w.saw("another definition")
	default:
		tags := slices.Clone(j.tags)
		for _, tag := range list(u.Value) {
			tags = slices.DeleteFunc(tags, func(have string) bool { return have == tag })
			if u.Kind == UpdateAddTags {
				tags = append(tags, tag)
			}
		}
		slices.Sort(tags)
		if slices.Equal(tags, j.tags) {
			return true // nothing changes
		}
		j.tags, j.changed = tags, u.At
		j.w.saw("other tags")
	}
	j.changes++
	return true
}

// move takes a status: of the same state always, of another where a transition for
// the actor leads to.
func (j *job) move(u Update) bool {
	to := str(u.Value, "state")
	switch {
	case to == j.state():
		j.w.saw("news of a state")
		if j.in.Status == Completed {
			j.w.saw("news of a final state")
		}
		j.replace(u.Actor, u.At)
		j.status, j.changed = u.Value, u.At
	case slices.ContainsFunc(j.ways(), func(t expr.Value) bool { return str(t, "to") == to && str(t, "eligible") == u.Actor }):
		j.w.saw("a transition of " + u.Actor)
		j.replace(u.Actor, u.At)
		j.status = u.Value
		j.enter(to, u.At)
	default:
		j.w.saw("a transition that is refused")
		return false
	}
	j.changes++
	return true
}
