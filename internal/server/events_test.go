package server

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

func (w *world) event(text string) answered {
	w.t.Helper()
	return w.do("POST", "/api/v1/events", text, "Content-Type", "application/cloudevents+json")
}

func (w *world) batch(text string) answered {
	w.t.Helper()
	return w.do("POST", "/api/v1/events", text, "Content-Type", "application/cloudevents-batch+json")
}

// TestThreeModes: the same event in each mode reaches the instance that waits for it.
func TestThreeModes(t *testing.T) {
	eachStore(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s, nil)
		w.deploy("await")
		for mode, send := range map[string]func() answered{
			"structured": func() answered {
				return w.event(`{"specversion":"1.0","id":"s","source":"shop","type":"paid","orderid":"ö structured","data":{"amount":10}}`)
			},
			"binary": func() answered {
				return w.do("POST", "/api/v1/events", `{"amount":10}`, "ce-specversion", "1.0", "ce-id", "b", "ce-source", "shop", "ce-type", "paid", "ce-orderid", "%C3%B6%20binary")
			},
			"batch": func() answered {
				return w.batch(`[{"specversion":"1.0","id":"l","source":"shop","type":"paid","orderid":"ö batch","data":{"amount":10}}]`)
			},
		} {
			id := w.start("await", `{"order":"ö `+mode+`"}`)
			send().want(202).is("accepted", "1").is("matched", "1").is("events.0.matched.0", `"`+id+`"`)
			w.reach(id, "completed").is("output", `{"order":"ö `+mode+`","amount":10}`)
			send().want(202).is("accepted", "0").is("duplicates", "1").is("events.0.result", `"duplicate"`)
		}
	})
}

func TestSameIDWithOtherContentIsRefused(t *testing.T) {
	eachStore(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s, nil)
		w.event(`{"specversion":"1.0","id":"1","source":"s","type":"a"}`).want(202).is("events.0.result", `"accepted"`)
		w.event(`{"specversion":"1.0","id":"1","source":"s","type":"b"}`).problem(api.CodeEventConflict)
		w.event(`{"specversion":"1.0","id":"1","source":"other","type":"b"}`).want(202)
		a := w.batch(`[{"specversion":"1.0","id":"2","source":"s","type":"a"},{"specversion":"1.0","id":"1","source":"s","type":"b"},{"specversion":"1.0","id":"1","source":"s","type":"a"},{"specversion":"1.0","id":"3","source":"s","type":"a"}]`)
		a.want(202).is("accepted", "2").is("refused", "1").is("duplicates", "1").is("events.1.result", `"refused"`)
		w.get("/metrics").want(200).says(`lockstep_events_total{result="refused"} 2`).says(`lockstep_events_total{result="accepted"} 4`)
	})
}

// TestInvalidEvents: one that is wrong refuses its batch, with every error; none is taken.
func TestInvalidEvents(t *testing.T) {
	w := newWorld(t, newMemory(), nil)
	w.event(`{"specversion":"1.0","source":"s","type":"t"}`).problem(api.CodeInvalidEvent).is("errors.0.pointer", `"/id"`)
	w.batch(`[{"specversion":"1.0","id":"1","source":"s","type":"t"},{"specversion":"1.0","source":"s","type":"t"},{"specversion":"1.0","id":"2","source":"s","type":"t","x":[]},7]`).
		problem(api.CodeInvalidEvent).is("errors.0.pointer", `"/1/id"`).is("errors.1.pointer", `"/2/x"`).is("errors.2.pointer", `"/3"`)
	// What CloudEvents forbids, alone and in a batch.
	for bad, attribute := range map[string]string{
		`{"id":"1","source":"s","type":"t"}`:                                            "specversion",
		`{"specversion":"1.0","id":"1\n","source":"s","type":"t"}`:                      "id",
		`{"specversion":"1.0","id":"1","source":"s","type":"t","subject":"\u0000"}`:     "subject",
		`{"specversion":"1.0","id":"1","source":"s","type":"t","source":"other"}`:       "source",
		`{"specversion":"1.0","id":"1","source":"s","type":"t","data":{"a":1,"a":2}}`:   "data",
		`{"specversion":"1.0","id":"1","source":"s","type":"t","ext":"\u0085","n":"1"}`: "ext",
	} {
		w.event(bad).problem(api.CodeInvalidEvent).is("errors.0.pointer", `"/`+attribute+`"`)
		w.batch(`[{"specversion":"1.0","id":"0","source":"s","type":"t"},`+bad+`]`).problem(api.CodeInvalidEvent).is("errors.0.pointer", `"/1/`+attribute+`"`)
	}
	w.event(`{"specversion":"1.0","id":"1","source":"s","type":"t","data":"\ud800"}`).problem(api.CodeInvalidEvent).says("surrogate")
	w.batch(`{}`).problem(api.CodeInvalidEvent).says("array")
	w.batch(`[]`).want(202).is("accepted", "0")
	w.event(`nonsense`).problem(api.CodeInvalidEvent)
	w.do("POST", "/api/v1/events", `{"specversion":"1.0","id":"1","source":"s","type":"t"}`).problem(api.CodeMediaType).says("application/cloudevents+json")
	w.do("POST", "/api/v1/events", "").problem(api.CodeMediaType)
	w.do("POST", "/api/v1/events", "<a/>", "Content-Type", "application/cloudevents+xml").problem(api.CodeMediaType)
	w.do("POST", "/api/v1/events", "x", "ce-id", "1", "ce-source", "s", "ce-type", "t").problem(api.CodeInvalidEvent).says("specversion")
	w.do("POST", "/api/v1/events", "{", "ce-specversion", "1.0", "ce-id", "1", "ce-source", "s", "ce-type", "t").problem(api.CodeInvalidEvent).says("not JSON")
	w.get("/api/v1/events").want(200).is("items", "[]")
}

// TestEarlyEvent: one that comes before its wait is kept, listed with the reason, and
// delivered when the wait begins.
func TestEarlyEvent(t *testing.T) {
	eachStore(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s, nil)
		w.deploy("await")
		w.event(`{"specversion":"1.0","id":"1","source":"shop","type":"paid","orderid":"7"}`).want(202).is("matched", "0").says("no instance waits for events of type")
		other := w.start("await", `{"order":"8"}`)
		w.event(`{"specversion":"1.0","id":"2","source":"shop","type":"paid","orderid":"9"}`).want(202).says(`orderid is \"9\", not \"8\"`)
		w.event(`{"specversion":"1.0","id":"3","source":"shop","type":"sold"}`).want(202)
		w.get("/api/v1/events?unmatched=true").want(200).is("items.0.event.id", `"3"`).is("items.2.event.id", `"1"`).says("no instance waits")
		w.get("/api/v1/events?type=paid&limit=1").want(200).is("items.0.event.id", `"2"`)
		w.get("/api/v1/instances/"+other+"/why").want(200).
			is("waits.0.match", `{"source":"shop","type":"paid","attributes":[{"name":"orderid","value":"8"}]}`).
			is("nearMisses.0.event.id", `"2"`).says(`orderid is \"9\", not \"8\"`).says("It waits for the event").says("nextWake")
		id := w.start("await", `{"order":"7"}`)
		w.reach(id, "completed")
		w.get("/api/v1/events?unmatched=true").want(200).is("items.0.event.id", `"3"`).is("items.1.event.id", `"2"`).is("items.2", "null")
		a := w.get("/api/v1/events?limit=2").want(200).is("items.1.event.id", `"2"`)
		w.get("/api/v1/events?limit=2&after="+a.t2("next")).want(200).is("items.0.event.id", `"1"`).is("items.0.taken", "true").is("next", "null")
		w.get("/api/v1/instances/"+id+"/why").want(200).is("summary", `"It has ended: completed."`)
		w.get("/api/v1/instances/none/why").problem(api.CodeNotFound)
	})
}

// TestUnmatchedFromOutsideBehindProducedOnes: what instances produce does not hide an event that nothing took.
func TestUnmatchedFromOutsideBehindProducedOnes(t *testing.T) {
	eachStore(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s, nil)
		w.event(`{"specversion":"1.0","id":"lost","source":"shop","type":"sold"}`).want(202)
		for i := range 210 {
			e := store.Event{Event: event.Event{ID: fmt.Sprint(i), Source: "here", Type: "done"}, Until: 1 << 60, Producer: "i1"}
			_, err := s.Ingest(t.Context(), e, 0, func(e store.Event, _ store.View) (store.Routing, error) {
				return store.Routing{Events: []store.Event{e}}, nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		w.get("/api/v1/events?unmatched=true&outside=true&limit=200").want(200).is("items.0.event.id", `"lost"`).is("items.1", "null").is("next", "null")
		w.get("/api/v1/events?outside=true&limit=1").want(200).is("items.0.event.id", `"lost"`)
		w.get("/api/v1/events?unmatched=true&limit=200").want(200).is("items.0.producer", `"i1"`).is("items.199.producer", `"i1"`)
		w.get("/api/v1/events?outside=yes").problem(api.CodeBadParameter)
	})
}

// TestNearMissesAreTold: what differs has names, so that nobody has to read sentences.
func TestNearMissesAreTold(t *testing.T) {
	w := newWorld(t, newMemory(), nil)
	w.deploy("await")
	id := w.start("await", `{"order":"8"}`)
	miss := `[{"why":"instance \"` + id + `\" waits for \"Paid\": orderid is \"9\", not \"8\"","instance":"` + id + `","name":"Paid","differs":"orderid is \"9\", not \"8\"","attribute":"orderid","has":"9","wants":"8"}]`
	w.event(`{"specversion":"1.0","id":"2","source":"shop","type":"paid","orderid":"9"}`).want(202).is("events.0.misses", miss)
	w.event(`{"specversion":"1.0","id":"3","source":"shop","type":"sold"}`).want(202).is("events.0.misses", "null").says("no instance waits")
	w.get("/api/v1/events").want(200).is("items.0.misses", "null").is("items.1.misses", miss)
}

// TestNearMissBehindOthers: events that nobody nearly waits for do not hide one that somebody does.
func TestNearMissBehindOthers(t *testing.T) {
	eachStore(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s, nil)
		w.deploy("await")
		w.start("await", `{"order":"8"}`)
		near := func(id string) {
			w.event(`{"specversion":"1.0","id":"` + id + `","source":"shop","type":"paid","orderid":"9"}`).want(202)
		}
		others := func(name string) {
			for i := range 5 {
				w.event(fmt.Sprintf(`{"specversion":"1.0","id":"%s%d","source":"shop","type":"sold"}`, name, i)).want(202)
			}
		}
		near("oldest")
		others("a")
		near("older")
		others("b")
		first := w.get("/api/v1/events?near=true&outside=true&limit=1").want(200).is("items.0.event.id", `"older"`).is("items.1", "null")
		w.get("/api/v1/events?near=true&limit=1&after="+first.str("next")).want(200).is("items.0.event.id", `"oldest"`).is("next", "null")
		w.get("/api/v1/events?near=true&type=sold").want(200).is("items.0", "null").is("next", "null")
		w.get("/api/v1/events?near=yes").problem(api.CodeBadParameter)
	})
}

func TestEventLimits(t *testing.T) {
	w := newWorld(t, newMemory(), func(c *Config, _ *engine.Config) {
		c.Limits.Events.Event, c.Limits.Events.Batch, c.Limits.Events.Events = 200, 1000, 5
	})
	long := strings.Repeat("x", 200)
	w.event(`{"specversion":"1.0","id":"1","source":"s","type":"t","data":"`+long+`"}`).problem(api.CodeTooLarge).is("limit", `"event-bytes"`)
	w.do("POST", "/api/v1/events", long+"x", "Content-Type", "text/plain", "ce-specversion", "1.0", "ce-id", "1", "ce-source", "s", "ce-type", "t").
		problem(api.CodeTooLarge).is("limit", `"event-bytes"`)
	w.batch(`[{"specversion":"1.0","id":"1","source":"s","type":"t","data":"` + long + `"}]`).problem(api.CodeInvalidEvent).says("event-bytes")
	w.batch(`[`+strings.Repeat(" ", 1000)+`]`).problem(api.CodeTooLarge).is("limit", `"event-batch-bytes"`)
	var six []string
	for i := range 6 {
		six = append(six, fmt.Sprintf(`{"specversion":"1.0","id":"%d","source":"s","type":"t"}`, i))
	}
	w.batch("["+strings.Join(six, ",")+"]").problem(api.CodeTooLarge).is("limit", `"event-batch-items"`)
	w.batch("["+strings.Join(six[:5], ",")+"]").want(202).is("accepted", "5")
}
