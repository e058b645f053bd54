package server

import (
	"fmt"
	"sync"
	"testing"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// verbs are the interventions, each with a body that it takes.
var verbs = map[string]string{
	"retry": "{}", "skip": `{"output":{"charged":true}}`, "pause": "{}", "resume": "{}", "cancel": "{}", "terminate": "{}", "restart": "{}",
}

// TestAllowed walks statuses × verbs: what an instance says is allowed is, and the rest
// is refused with what would be.
func TestAllowed(t *testing.T) {
	eachStore(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s, nil)
		w.deploy("hello", "pay", "await")
		w.answers.put("charge", failing("CardDeclined"))
		states := map[string]func() string{
			"completed": func() string { return w.start("hello", `{"name":"x"}`) },
			"failed":    func() string { return w.reach(w.start("pay", `{}`), "failed").str("id") },
			"waiting":   func() string { return w.start("await", `{"order":"1"}`) },
			"paused": func() string {
				id := w.start("await", `{"order":"1"}`)
				w.do("POST", "/api/v1/instances/"+id+"/pause", "").want(200)
				return id
			},
			"cancelled": func() string {
				id := w.start("await", `{"order":"1"}`)
				w.do("POST", "/api/v1/instances/"+id+"/cancel", "").want(200)
				return id
			},
			"terminated": func() string {
				id := w.start("await", `{"order":"1"}`)
				w.do("POST", "/api/v1/instances/"+id+"/terminate", "").want(200)
				return id
			},
		}
		for status, make := range states {
			for verb, body := range verbs {
				id := make()
				before := w.get("/api/v1/instances/" + id).want(200)
				if got := before.str("status"); got != status {
					t.Fatalf("it is %s, not %s", got, status)
				}
				may := false
				for _, v := range before.at("allowed").Items() {
					may = may || v.Str() == verb
				}
				a := w.do("POST", "/api/v1/instances/"+id+"/"+verb, body)
				switch {
				case !may:
					a.problem(api.CodeNotAllowedNow).is("allowed", before.at("allowed").String())
					w.get("/api/v1/instances/"+id).is("rev", before.at("rev").String())
				case verb == "restart":
					a.want(201).is("restartOf", `"`+id+`"`)
				default:
					a.want(200)
				}
			}
		}
	})
}

// pay starts a payment whose charge is answered like this.
func (w *world) pay(charge func(effect.Call) effect.Outcome) string {
	w.t.Helper()
	w.deploy("pay")
	w.answers.put("charge", charge)
	w.answers.put("ship", ok("shipped"))
	return w.start("pay", `{"amount":5}`)
}

func TestRetryWithAmendedData(t *testing.T) {
	eachStore(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s, nil)
		id := w.pay(failing("CardDeclined"))
		w.reach(id, "failed").is("error.name", `"CardDeclined"`)
		w.do("POST", "/api/v1/instances/"+id+"/retry", "").want(200)
		w.reach(id, "failed")
		w.answers.put("charge", ok("charged"))
		w.do("POST", "/api/v1/instances/"+id+"/retry", `{"data":{"amount":3},"reason":"a smaller amount"}`).want(200)
		w.reach(id, "completed").is("output", `{"amount":3,"charged":true,"shipped":true}`)
		w.get("/api/v1/instances/" + id + "/history").says("anonymous: a smaller amount")
	})
}

func TestSkip(t *testing.T) {
	eachStore(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s, nil)
		id := w.pay(failing("CardDeclined"))
		w.reach(id, "failed")
		at := "/api/v1/instances/" + id + "/skip"
		w.do("POST", at, "{}").problem(api.CodeInput).is("errors.0.pointer", `"/output"`)
		w.do("POST", at, `{"ouptut":1}`).problem(api.CodeUnknownField).says(`did you mean \"output\"?`)
		w.do("POST", at, `{"output":{"paid":"in cash"}}`).want(200)
		done := w.reach(id, "completed").is("output", `{"paid":"in cash","shipped":true}`)
		if done.str("ended") != done.str("updated") {
			t.Errorf("it ended when it had failed: %s", done.text)
		}
	})
}

func TestCancelWithCompensation(t *testing.T) {
	eachStore(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s, nil)
		w.deploy("pay")
		w.answers.put("charge", ok("charged"))
		w.answers.put("refund", ok("refunded"))
		id := w.start("pay", `{"amount":5}`)
		w.parkedCall(id, "ship")
		at := "/api/v1/instances/" + id + "/cancel"
		w.do("POST", at, `{"compensate":"yes"}`).problem(api.CodeUnknownField)
		w.do("POST", at, `[]`).problem(api.CodeBadJSON)
		w.do("POST", at, `{"compensate":true}`).want(200)
		w.reach(id, "cancelled")
		w.get("/api/v1/instances/" + id + "/history").says(`"compensating"`).says("refund")
	})
}

// parkedCall waits until a function's call waits for a person.
func (w *world) parkedCall(id, function string) string {
	w.t.Helper()
	for {
		changed := w.engine.Changes()
		for _, c := range w.get("/api/v1/calls?parked=true&instance=" + id).want(200).at("items").Items() {
			if name, _ := c.Get("function"); name.Str() == function {
				ticket, _ := c.Get("ticket")
				return ticket.Str()
			}
		}
		select {
		case <-changed:
		case <-w.t.Context().Done():
			w.t.Fatalf("%s does not call %s", id, function)
		}
	}
}

// TestIfMatch: of many who read the same revision, one gets through.
func TestIfMatch(t *testing.T) {
	eachStore(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s, nil)
		w.deploy("await")
		id := w.start("await", `{"order":"1"}`)
		at := "/api/v1/instances/" + id
		tag := w.get(at).want(200).header.Get("ETag")
		var mu sync.Mutex
		count := map[int]int{}
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				a := w.do("POST", at+"/pause", "", "If-Match", tag)
				mu.Lock()
				defer mu.Unlock()
				count[a.status]++
			})
		}
		wg.Wait()
		if count[200] != 1 || count[412] != 7 {
			t.Errorf("statuses %v, want one 200", count)
		}
		w.do("POST", at+"/resume", "", "If-Match", tag).problem(api.CodeChanged)
		w.do("POST", at+"/restart", "", "If-Match", tag).problem(api.CodeChanged)
		w.do("POST", at+"/resume", "", "If-Match", "*").want(200)
		w.do("POST", at+"/pause", "", "If-Match", w.get(at).header.Get("ETag")).want(200)
		for _, bad := range []string{"1", `"x"`, `"-1"`, `W/"1"`, `"`} {
			w.do("POST", at+"/resume", "", "If-Match", bad).problem(api.CodeBadParameter)
		}
	})
}

func TestRestart(t *testing.T) {
	eachStore(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s, nil)
		w.deploy("hello", "onorder")
		w.put(read(t, "testdata/hello.yaml")+"# changed\n", "").problem(api.CodeVersion)
		id := w.start("hello", `{"name":"Ada"}`)
		at := "/api/v1/instances/" + id + "/restart"
		a := w.do("POST", at, "").want(201).is("output", `{"greeting":"Hello, Ada"}`).is("restartOf", `"`+id+`"`)
		if a.str("id") == id {
			t.Error("it is the same instance")
		}
		w.do("POST", at, `{"input":{"name":"Grace"}}`).want(201).is("output", `{"greeting":"Hello, Grace"}`)
		w.do("POST", at, `{"version":"9"}`).problem(api.CodeNotFound)
		w.do("POST", at, `{"version":9}`).problem(api.CodeUnknownField)
		w.do("POST", at, `{"input":7}`).problem(api.CodeInput)
		first := w.do("POST", at, "", "Idempotency-Key", "r").want(201).str("id")
		w.do("POST", at, "", "Idempotency-Key", "r").want(201).is("id", `"`+first+`"`)
		w.do("POST", at, `{"input":{}}`, "Idempotency-Key", "r").problem(api.CodeKeyReused)
		w.do("POST", "/api/v1/instances/none/restart", "").problem(api.CodeNotFound)

		// What an event started begins again with that event.
		w.answers.put("pack", failing("OutOfTape"))
		id = w.do("POST", "/api/v1/events", `{"specversion":"1.0","id":"1","source":"s","type":"ordered","orderid":"7","data":{"item":"tea"}}`,
			"Content-Type", "application/cloudevents+json").want(202).t2("events.0.started.0")
		w.reach(id, "failed")
		w.answers.put("pack", ok("packed"))
		again := w.do("POST", "/api/v1/instances/"+id+"/restart", "").want(201).t2("id")
		w.reach(again, "completed").is("output", `{"item":"tea","packed":true}`)
	})
}

func TestAnswerCall(t *testing.T) {
	eachStore(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s, nil)
		w.deploy("pay")
		id := w.start("pay", `{"amount":5}`)
		ticket := w.parkedCall(id, "charge")
		w.get("/api/v1/calls?instance="+id).want(200).is("items.0.arguments", `{"amount":5}`).is("items.0.node", `"Charge"`).is("items.0.parked", "true")
		w.get("/api/v1/instances/"+id+"/why").want(200).says("an operator to answer the call of").is("waits.0.function", `"charge"`)
		at := "/api/v1/instances/" + id + "/calls/" + ticket
		w.do("POST", at, "").problem(api.CodeInput)
		w.do("POST", at, `{"result":1,"error":{"name":"x"}}`).problem(api.CodeInput)
		w.do("POST", at, `{"error":{}}`).problem(api.CodeInput).is("errors.0.pointer", `"/error/name"`)
		w.do("POST", at, `{"error":"x"}`).problem(api.CodeBadJSON)
		w.do("POST", at, `{"error":{"name":"x","cod":"1"}}`).problem(api.CodeUnknownField).is("errors.0.pointer", `"/error/cod"`)
		w.do("POST", at, `{"error":{"name":7}}`).problem(api.CodeUnknownField)
		w.do("POST", "/api/v1/instances/"+id+"/calls/x", `{"result":1}`).problem(api.CodeNotFound)
		w.do("POST", "/api/v1/instances/"+id+"/calls/9.9", `{"result":1}`).problem(api.CodeNotFound)
		w.do("POST", "/api/v1/instances/none/calls/1.1", `{"result":1}`).problem(api.CodeNotFound)
		w.do("POST", at, `{"error":{"name":"CardDeclined","code":"402","data":{"balance":1}}}`).want(200).is("status", `"failed"`).is("error.data", `{"balance":1}`)
		w.do("POST", at, `{"result":1}`).problem(api.CodeNotFound)
		for i := range 3 {
			w.parkedCall(w.start("pay", fmt.Sprintf(`{"amount":%d}`, i)), "charge")
		}
		a := w.get("/api/v1/calls?limit=2").want(200).is("items.1.arguments", `{"amount":1}`)
		w.get("/api/v1/calls?limit=2&after="+a.t2("next")).want(200).is("items.0.arguments", `{"amount":2}`).is("items.1", "null").is("next", "null")
		w.get("/api/v1/calls?parked=maybe").problem(api.CodeBadParameter)
	})
}

func TestHistoryInPages(t *testing.T) {
	eachStore(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s, nil)
		id := w.pay(ok("charged"))
		w.reach(id, "completed")
		whole := w.get("/api/v1/instances/" + id + "/history").want(200)
		whole.is("items.0.type", `"started"`).is("items.0.seq", "1").is("items.0.data", `{"amount":5}`).is("next", "null")
		n, after := 0, ""
		for {
			a := w.get("/api/v1/instances/" + id + "/history?limit=3" + after).want(200)
			for _, it := range a.at("items").Items() {
				if want := whole.at(fmt.Sprint("items.", n)); it.String() != want.String() {
					t.Fatalf("record %d is %s in a page, %s in whole", n, it, want)
				}
				n++
			}
			if a.str("next") == "" {
				break
			}
			after = "&after=" + a.str("next")
		}
		if n != whole.at("items").Len() || n < 6 {
			t.Errorf("%d records in pages, %d in whole", n, whole.at("items").Len())
		}
		w.get("/api/v1/instances/none/history").problem(api.CodeNotFound)
	})
}

func TestHistoryNewestFirst(t *testing.T) {
	eachStore(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s, nil)
		id := w.pay(ok("charged"))
		w.reach(id, "completed")
		history := "/api/v1/instances/" + id + "/history"
		whole := w.get(history).want(200)
		left, after := whole.at("items").Len(), ""
		for {
			a := w.get(history + "?order=newest&limit=3" + after).want(200)
			for _, it := range a.at("items").Items() {
				left--
				if want := whole.at(fmt.Sprint("items.", left)); it.String() != want.String() {
					t.Fatalf("record %d is %s from the end, %s in whole", left, it, want)
				}
			}
			if a.str("next") == "" {
				break
			}
			after = "&after=" + a.str("next")
		}
		if left != 0 {
			t.Errorf("%d records were not told from the end", left)
		}
		next := w.get(history + "?limit=3").str("next")
		w.get(history + "?order=newest&after=" + next).problem(api.CodeBadCursor)
		w.get(history + "?order=latest").problem(api.CodeBadParameter)
		w.get("/api/v1/instances/none/history?order=newest").problem(api.CodeNotFound)
	})
}
