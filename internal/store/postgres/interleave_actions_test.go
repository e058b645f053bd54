package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/storetest"
)

func compareText(a, b string) int { return strings.Compare(a, b) }

// action is an operation of the store. Those that share a topic get in each other's way.
type action struct {
	name      string
	topics    string // separated by spaces
	needs     string // pieces of the world
	free      bool   // it writes without the lock of the namespace
	impatient bool   // it does not wait long for a lock
	routes    bool   // it has a router
	twice     bool   // it is tried beside itself, too, where not all pairs are
	event     string // that it takes
	unread    bool   // it commits without having read the inbox
	do        func(w *world, s nodeStore) (string, error)
}

// ingests is an action that takes an event.
func ingests(name, topics, needs string, e event.Event) action {
	return action{name: name, topics: topics, needs: needs, routes: true, event: e.ID, do: func(_ *world, s nodeStore) (string, error) {
		out, err := s.Ingest(ctx, store.Event{Event: e, Received: present, Until: future}, 0, route(nil))
		return fateText(out), err
	}}
}

func fateText(e store.Event) string {
	return strings.TrimSpace(strings.Join([]string{e.Event.ID, map[bool]string{true: "taken"}[e.Taken], strings.Join(e.For, ","), strings.Join(e.Used, ","), strings.Join(e.Why, ",")}, " "))
}

// steps is an action that commits to an instance as it was in the beginning.
func steps(name, topics, needs, id string, change func(w *world, c *store.Commit)) action {
	return action{name: name, topics: topics, needs: needs, do: func(w *world, s nodeStore) (string, error) {
		row := w.rows[id]
		row.Updated = present
		c := store.Commit{Instance: row, Records: []core.Record{{Time: present, Text: name}}}
		change(w, &c)
		return "", s.Commit(ctx, c)
	}}
}

// takes is an action that commits a step with the event that causes it, if the instance is the only one to get it. Of
// several reasons against it a store may give any.
func takes(name, topics, needs, id string, e event.Event, change func(c *store.Commit)) action {
	return action{name: name, topics: topics, needs: needs, routes: true, do: func(w *world, s nodeStore) (string, error) {
		row := w.rows[id]
		row.Updated = present
		c := store.Commit{Instance: row, Unread: true, Deployed: w.deployments, Records: []core.Record{{Time: present, Text: name}}}
		c.Event = &store.Arrival{Event: store.Event{Event: e, Received: present, Until: future}, Route: func(e store.Event, v store.View) (store.Routing, error) {
			out := routeEvent(e, v, false)
			if len(out.Deliver) != 1 || out.Deliver[0].Instance != id || len(out.Start) > 0 {
				return out, errOthers
			}
			return out, nil
		}}
		change(&c)
		err := s.Commit(ctx, c)
		for _, no := range []error{errOthers, store.ErrConflict, store.ErrNotFound, store.ErrDuplicate, store.ErrOutdated} {
			if errors.Is(err, no) {
				return "refused", nil
			}
		}
		return "stored", err
	}}
}

var errOthers = errors.New("others get the event")

func twice(a action) action {
	a.twice = true
	return a
}

func unread(a action) action {
	a.unread = true
	return a
}

func ends(c *store.Commit) { c.Instance.Status, c.Instance.Ended = core.Completed, present }

func routes(name, topics, needs string, router func(*world) store.Router) action {
	return action{name: name, topics: topics, needs: needs, routes: true, do: func(w *world, s nodeStore) (string, error) {
		return "", s.Route(ctx, router(w))
	}}
}

func inboxOf(w *world, id string) (out []int64) {
	for _, m := range w.inbox[id] {
		out = append(out, m.Seq)
	}
	return out
}

// actions are what may happen at a time.
var actions = []action{
	ingests("event a", "w", "w", eventOf("a", "t", "k", "1")),
	ingests("event b", "w", "w", eventOf("b", "t", "k", "1")),
	twice(takes("event a with its step", "w", "w d", "w", eventOf("a", "t", "k", "1"), func(c *store.Commit) {
		c.Unsubscribe, c.Subscribe = []core.Ticket{1}, []store.Subscription{waitFor(2, "k", "1")}
		c.Calls = []store.Call{{Invoke: core.Invoke{Ticket: 4}}}
	})),
	takes("event b with the end", "w", "w d", "w", eventOf("b", "t", "k", "1"), ends),
	ingests("another event a", "w", "w o", eventOf("a", "t", "k", "2")),
	steps("o waits as w does", "w", "w o", "o", func(_ *world, c *store.Commit) { c.Subscribe = []store.Subscription{waitFor(3, "k", "1")} }),
	ingests("event c", "nine", "", eventOf("c", "t", "k", "9")),
	ingests("event d", "nine", "", eventOf("d", "t", "k", "9")),
	ingests("event c again", "nine", "", eventOf("c", "t", "k", "9")),
	ingests("event for m", "m", "m", eventOf("x", "t", "k", "3")),
	ingests("event for o", "o", "o", eventOf("y", "t", "k", "2")),
	ingests("event l", "l", "", eventOf("l", "v", "l", "1")),
	ingests("event s", "e", "e", eventOf("p", "s")),
	ingests("event g", "g", "d", eventOf("g", "g", "k", "1")),
	ingests("event h", "g", "d", eventOf("h", "g", "k", "1")),
	ingests("event late", "late", "late", eventOf("late", "x")),
	{name: "emit", twice: true, topics: "out", needs: "w", free: true, routes: true, event: "out", do: func(w *world, s nodeStore) (string, error) {
		e := w.emits[0]
		out, err := s.Ingest(ctx, store.Event{Event: e.Event, Producer: e.Instance, Origin: e.Definition, Received: present, Until: future}, e.Seq, route(nil))
		return fateText(out), err
	}},
	twice(steps("step w", "w out", "w", "w", func(_ *world, c *store.Commit) {
		c.Calls = []store.Call{{Invoke: core.Invoke{Ticket: 4}}}
		c.Unsubscribe = []core.Ticket{1}
		c.Subscribe = []store.Subscription{waitFor(2, "k", "1")}
		c.Emits = []store.Emit{{Definition: "d", Event: eventOf("out2", "v")}}
		c.Pages = []core.Page{{Frame: 1, Data: []byte("x")}}
	})),
	unread(steps("end w unread", "w", "w", "w", func(_ *world, c *store.Commit) { c.Unread = true; ends(c) })),
	{name: "delete w", topics: "w out", needs: "w", do: func(_ *world, s nodeStore) (string, error) {
		return "", s.DeleteInstance(ctx, "w", store.Deletion{At: present, Live: true})
	}},
	steps("o waits", "o", "o", "o", func(_ *world, c *store.Commit) { c.Subscribe = []store.Subscription{waitFor(1, "k", "2")} }),
	steps("o waits by l", "l", "o", "o", func(_ *world, c *store.Commit) {
		c.Subscribe = []store.Subscription{{Ticket: 2, Name: "e", Filter: event.Filter{Type: "v", Keys: []event.Key{{Name: "l", Value: "1", Fixed: true}}}}}
	}),
	steps("end o", "o", "o", "o", func(_ *world, c *store.Commit) { ends(c) }),
	steps("o starts e", "o e", "o e", "o", func(_ *world, c *store.Commit) {
		row := store.Instance{ID: "child", Definition: "e", Version: "1", Digest: "y", Status: core.Running, Created: present, Parent: "o"}
		c.Children = []store.NewInstance{{Instance: row}}
	}),
	routes("route kept", "o", "o", func(w *world) store.Router { return routeAgain(w.events["kept"]) }),
	steps("m refuses", "m", "m", "m", func(w *world, c *store.Commit) { c.Taken = inboxOf(w, "m"); c.Release = c.Taken }),
	steps("m takes", "m", "m", "m", func(w *world, c *store.Commit) {
		c.Taken, c.Subscribe = inboxOf(w, "m"), []store.Subscription{waitFor(2, "k", "3")}
	}),
	{name: "delete m", topics: "m", needs: "m", do: func(_ *world, s nodeStore) (string, error) {
		return "", s.DeleteInstance(ctx, "m", store.Deletion{At: present, Live: true, Rev: 1})
	}},
	steps("end n", "n", "n", "n", func(w *world, c *store.Commit) { c.Taken = inboxOf(w, "n"); ends(c) }),
	routes("route seven", "n", "n", func(w *world) store.Router { return routeAgain(w.events["seven"]) }),
	twice(routes("check u", "u", "u", func(*world) store.Router { return checkFresh("u") })),
	steps("end u", "u", "u", "u", func(_ *world, c *store.Commit) { ends(c) }),
	routes("route five", "u", "u", func(w *world) store.Router { return routeAgain(w.events["five"]) }),
	ingests("event for v", "v", "v", eventOf("v8", "t", "k", "8")),
	ingests("next event for v", "v", "v", eventOf("v9", "t", "k", "8")),
	twice(routes("check v", "v", "v", func(*world) store.Router { return checkFresh("v") })),
	steps("v takes", "v", "v", "v", func(w *world, c *store.Commit) { c.Taken = inboxOf(w, "v") }),
	steps("v refuses", "v", "v", "v", func(w *world, c *store.Commit) { c.Taken = inboxOf(w, "v"); c.Release = c.Taken }),
	steps("v asks again", "v", "v", "v", func(_ *world, c *store.Commit) {
		c.Unsubscribe, c.Subscribe = []core.Ticket{standing(1)}, []store.Subscription{waitFor(standing(3), "k", "8")}
	}),
	{name: "delete v", topics: "v", needs: "v", do: func(_ *world, s nodeStore) (string, error) {
		return "", s.DeleteInstance(ctx, "v", store.Deletion{At: present, Live: true})
	}},
	{name: "deploy d", twice: true, topics: "d g", needs: "d", do: func(_ *world, s nodeStore) (string, error) {
		d := store.Definition{ID: "d", Version: "2", Digest: "z", Program: storetest.Program("z"), Deployed: present}
		_, err := store.PutDefinition(ctx, s, d, &store.Schedule{Definition: "d", Digest: "z", Next: 30}, false)
		return "", err
	}},
	{name: "deploy d and e", twice: true, topics: "d e g", needs: "d", do: func(_ *world, s nodeStore) (string, error) {
		d := store.Definition{ID: "d", Version: "2", Digest: "z", Program: storetest.Program("z"), Deployed: present, Bundle: "b"}
		e := store.Definition{ID: "e", Version: "2", Digest: "v", Program: storetest.Program("v"), Deployed: present, Bundle: "b"}
		_, err := s.PutDefinitions(ctx, []store.Deployment{{Definition: d, Schedule: &store.Schedule{Definition: "d", Digest: "z", Next: 30}}, {Definition: e}}, false)
		return "", err
	}},
	{name: "start d", topics: "d", needs: "d", do: func(w *world, s nodeStore) (string, error) {
		row := store.Instance{ID: "new", Definition: "d", Version: "1", Digest: "x", Status: core.Running, Created: present, Updated: present}
		return "", s.Commit(ctx, store.Commit{Instance: row, Deployed: w.deployments})
	}},
	{name: "advance d", twice: true, topics: "d", needs: "d", free: true, do: func(_ *world, s nodeStore) (string, error) {
		next := core.Time(20)
		return "", s.Advance(ctx, store.Schedule{Definition: "d", Digest: "x", Next: 10}, &next, "fired")
	}},
	{name: "pause d", twice: true, topics: "d", needs: "d", do: func(_ *world, s nodeStore) (string, error) {
		return "", s.SetPolicy(ctx, store.Policy{Definition: "d", Data: "paused"})
	}},
	{name: "pause e", twice: true, topics: "e", needs: "e", do: func(_ *world, s nodeStore) (string, error) {
		return "", s.SetPolicy(ctx, store.Policy{Definition: "e", Data: "paused"})
	}},
	{name: "delete e", twice: true, topics: "e", needs: "e", do: func(_ *world, s nodeStore) (string, error) {
		_, err := s.DeleteDefinition(ctx, "e", "1", func(store.Definition) *store.Schedule { return nil })
		return "", err
	}},
	{name: "start e", topics: "e", needs: "e", do: func(_ *world, s nodeStore) (string, error) {
		row := store.Instance{ID: "new e", Definition: "e", Version: "1", Digest: "y", Status: core.Running, Created: present, Updated: present}
		return "", s.Commit(ctx, store.Commit{Instance: row})
	}},
	{name: "purge", twice: true, topics: "late", needs: "late", free: true, do: func(_ *world, s nodeStore) (string, error) { return "", s.Purge(ctx, present) }},
	{name: "purge instances", topics: "f", needs: "f", do: func(_ *world, s nodeStore) (string, error) {
		n, err := s.PurgeInstances(ctx, 60, present, 10)
		return map[bool]string{true: "some"}[n > 0], err
	}},
	steps("restart f", "f", "f", "f", func(_ *world, c *store.Commit) { c.Instance.Status, c.Instance.Ended = core.Running, 0 }),
	{name: "purge feed", topics: "f", needs: "f", do: func(_ *world, s nodeStore) (string, error) {
		_, err := s.PurgeFeed(ctx, 60, 10)
		return "", err
	}},
	{name: "put note", twice: true, topics: "note", free: true, do: func(_ *world, s nodeStore) (string, error) {
		return "", s.PutNote(ctx, store.Note{Kind: "k", Key: "n", Value: "1", Until: future}, present)
	}},
	{name: "put expired note", topics: "note", free: true, do: func(_ *world, s nodeStore) (string, error) {
		return "", s.PutNote(ctx, store.Note{Kind: "k", Key: "n", Value: "2", Until: present - 1}, present-1)
	}},
	{name: "delete note", twice: true, topics: "note", free: true, do: func(_ *world, s nodeStore) (string, error) {
		had, err := s.DeleteNote(ctx, "k", "n")
		return map[bool]string{true: "there was one"}[had], err
	}},
	{name: "read note", topics: "note", free: true, do: func(_ *world, s nodeStore) (string, error) {
		n, err := s.Note(ctx, "k", "n")
		if errors.Is(err, store.ErrNotFound) {
			return "none", nil
		}
		return n.Value, err
	}},
	{name: "append entry", twice: true, topics: "audit", free: true, do: func(_ *world, s nodeStore) (string, error) {
		return "", s.AppendEntry(ctx, store.Entry{ID: "1", At: present - 1, Who: "w"}, 0)
	}},
	{name: "append and forget", topics: "audit", free: true, do: func(_ *world, s nodeStore) (string, error) {
		return "", s.AppendEntry(ctx, store.Entry{ID: "2", At: present, Who: "w"}, present)
	}},
	{name: "read entries", topics: "audit", free: true, do: func(_ *world, s nodeStore) (string, error) {
		list, err := s.Entries(ctx, store.EntryQuery{Limit: 10})
		text := ""
		for _, e := range list {
			text += e.ID
		}
		return text, err
	}},
	{name: "tally", topics: "tally", needs: "tally", free: true, do: func(_ *world, s nodeStore) (string, error) {
		return "", s.AddTallies(ctx, []store.Hour{{At: 0, Tallies: []store.Tally{{Definition: "d", Started: 1}}}}, 0)
	}},
	{name: "tally two hours", topics: "tally", needs: "tally", free: true, do: func(_ *world, s nodeStore) (string, error) {
		late := store.HourOf(core.Time(2 * time.Hour))
		return "", s.AddTallies(ctx, []store.Hour{{At: 0, Tallies: []store.Tally{{Definition: "d", Failed: 1}}}, {At: late, Tallies: []store.Tally{{Definition: "e", Started: 1}}}}, 0)
	}},
	{name: "read tallies", topics: "tally", needs: "tally", free: true, do: func(_ *world, s nodeStore) (string, error) {
		hours, err := s.ListTallies(ctx, 0, 1<<60)
		return fmt.Sprint(hours), err
	}},
	{name: "cursor 5", twice: true, topics: "cursor", needs: "cursor", free: true, do: func(_ *world, s nodeStore) (string, error) { return "", s.SetCursor(ctx, "a", 5) }},
	{name: "cursor 7", topics: "cursor", needs: "cursor", free: true, do: func(_ *world, s nodeStore) (string, error) { return "", s.SetCursor(ctx, "a", 7) }},
	{name: "hold", topics: "", do: func(_ *world, s nodeStore) (string, error) { // somebody has the lock and does nothing
		if own, ok := s.(*Store); ok {
			return "", own.transact(ctx, func(ctx context.Context, t *tx) error { return t.exclusive(ctx) })
		}
		return "", nil
	}},
}

// houses keep house: nobody sees it. What there is to do, all namespaces together decide.
var houses = []action{
	{name: "keep house of history", free: true, impatient: true, do: func(_ *world, s nodeStore) (string, error) { return "", keepHouse(s, historyRing) }},
	{name: "keep house of events", free: true, impatient: true, do: func(_ *world, s nodeStore) (string, error) { return "", keepHouse(s, eventRing) }},
}

func keepHouse(s nodeStore, ring int16) error {
	if own, ok := s.(*Store); ok {
		_, err := own.db.keepHouse(ctx, ring)
		if again, _ := passing(err); again {
			return nil // somebody else is at it, or in the way
		}
		return err
	}
	return nil
}
