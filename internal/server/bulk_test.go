package server

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// TestBulk retries several at once: one that moved on, one that never failed and one that
// does not exist are told, and the others go on.
func TestBulk(t *testing.T) {
	eachStore(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s, nil)
		w.deploy("pay", "await")
		w.answers.put("charge", failing("CardDeclined"))
		w.answers.put("ship", ok("shipped"))
		failed := func() answered { return w.reach(w.start("pay", `{"amount":1}`), "failed") }
		good, other, moved := failed(), failed(), failed()
		w.do("POST", "/api/v1/instances/"+moved.str("id")+"/retry", "").want(200)
		w.reach(moved.str("id"), "failed")
		waits := w.start("await", `{"order":"1"}`)
		w.answers.put("charge", ok("charged"))

		body := fmt.Sprintf(`{"verb":"retry","reason":"the bank is back","instances":[{"id":%q,"rev":%s},{"id":%q},{"id":%q,"rev":%s},{"id":%q},{"id":"nobody"}]}`,
			good.str("id"), good.at("rev"), other.str("id"), moved.str("id"), moved.at("rev"), waits)
		w.do("POST", "/api/v1/instances/bulk", body).want(200).is("done", "2").is("refused", "3").
			is("items.2.code", `"changed-meanwhile"`).is("items.3.code", `"not-allowed-now"`).is("items.4.code", `"not-found"`)
		w.reach(good.str("id"), "completed")
		w.reach(other.str("id"), "completed")
		w.get("/api/v1/instances/" + good.str("id") + "/history").says("anonymous: the bank is back")
		w.get("/api/v1/instances/"+moved.str("id")).is("status", `"failed"`)

		w.do("POST", "/api/v1/instances/bulk", fmt.Sprintf(`{"verb":"cancel","compensate":true,"instances":[{"id":%q}]}`, waits)).want(200).is("items.0.status", `"cancelled"`)
	})
}

// TestBulkSkipAndDelete: what failed gets an output, what has ended is deleted, and the others are told.
func TestBulkSkipAndDelete(t *testing.T) {
	eachStore(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s, nil)
		w.deploy("pay", "await")
		w.answers.put("charge", failing("CardDeclined"))
		w.answers.put("ship", ok("shipped"))
		first := w.reach(w.start("pay", `{"amount":1}`), "failed")
		second := w.reach(w.start("pay", `{"amount":2}`), "failed")
		waits := w.start("await", `{"order":"1"}`)
		both := fmt.Sprintf(`[{"id":%q,"rev":%s},{"id":%q}]`, first.str("id"), first.at("rev"), waits)

		w.do("POST", "/api/v1/instances/bulk", `{"verb":"skip","output":{"paid":true},"reason":"paid in cash","instances":`+both+`}`).want(200).
			is("done", "1").is("items.1.code", `"not-allowed-now"`)
		w.reach(first.str("id"), "completed")
		w.get("/api/v1/instances/" + first.str("id") + "/history").says("anonymous: paid in cash")

		stale := fmt.Sprintf(`[{"id":%q,"rev":%s},{"id":%q},{"id":%q}]`, first.str("id"), first.at("rev"), second.str("id"), waits)
		w.do("POST", "/api/v1/instances/bulk", `{"verb":"delete","instances":`+stale+`}`).want(200).
			is("done", "1").is("refused", "2").is("items.0.code", `"changed-meanwhile"`).is("items.2.code", `"not-allowed-now"`)
		w.get("/api/v1/instances/" + second.str("id")).problem(api.CodeNotFound)
		w.get("/api/v1/instances/" + first.str("id")).want(200)
	})
}

func TestBulkRefusesWhatItDoesNotUnderstand(t *testing.T) {
	w := newWorld(t, newMemory(), nil)
	for body, pointer := range map[string]string{
		`{"verb":"restart","instances":[{"id":"a"}]}`:            "/verb",
		`{"verb":"skip","instances":[{"id":"a"}]}`:               "/output",
		`{"verb":"delete","output":{},"instances":[{"id":"a"}]}`: "/output",
		`{"verb":"retry"}`:                                                "/instances",
		`{"verb":"retry","instances":[]}`:                                 "/instances",
		`{"verb":"retry","instances":[{"rev":1}]}`:                        "/instances/0/id",
		`{"verb":"retry","instances":[{"id":"a","rev":0}]}`:               "/instances/0/rev",
		`{"verb":"retry","instances":[{"id":"a"},{"id":"a"}]}`:            "/instances/1/id",
		`{"verb":"retry","compensate":true,"instances":[{"id":"a"}]}`:     "/compensate",
		`{"verb":"cancel","compensate":"maybe","instances":[{"id":"a"}]}`: "/compensate",
	} {
		w.do("POST", "/api/v1/instances/bulk", body).problem(api.CodeInput).is("errors.0.pointer", `"`+pointer+`"`)
	}
	w.do("POST", "/api/v1/instances/bulk", `{"verb":"retry","instances":["a"]}`).problem(api.CodeBadJSON)
	many := strings.Repeat(`{"id":"a"},`, maxBulk) + `{"id":"b"}`
	w.do("POST", "/api/v1/instances/bulk", `{"verb":"retry","instances":[`+many+`]}`).problem(api.CodeTooLarge).is("limit", `"bulk-items"`)

	// Each instance keeps the output of a skip: a small request must not fill the disk.
	var all []string
	for i := range 200 {
		all = append(all, fmt.Sprintf(`{"id":"i%d"}`, i))
	}
	skip := func(output int) answered {
		return w.do("POST", "/api/v1/instances/bulk", fmt.Sprintf(`{"verb":"skip","output":{"x":%q},"instances":[%s]}`, strings.Repeat("x", output), strings.Join(all, ",")))
	}
	skip(maxBulkOutput/200).problem(api.CodeTooLarge).is("limit", `"bulk-output"`)
	skip(maxBulkOutput/200-100).want(200).is("refused", "200")
}

// TestFailures: groups by definition, error and state, the largest first, each of which
// the filter finds.
func TestFailures(t *testing.T) {
	eachStore(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s, func(c *Config, _ *engine.Config) { c.Limits.Count = 4 })
		w.deploy("pay")
		w.get("/api/v1/failures").want(200).is("items", "[]").is("exact", "true")
		fail := func() string { return w.reach(w.start("pay", `{"amount":1}`), "failed").str("id") }
		w.answers.put("charge", failing("CardDeclined"))
		fail()
		w.answers.put("charge", ok("charged"))
		w.answers.put("ship", failing("NoTruck"))
		fail()
		newest := fail()
		a := w.get("/api/v1/failures").want(200).is("exact", "true").
			is("items.0.error", `"NoTruck"`).is("items.0.state", `"Ship"`).is("items.0.count", "2").is("items.0.instance", `"`+newest+`"`).
			is("items.1.error", `"CardDeclined"`).is("items.1.state", `"Charge"`).is("items.1.count", "1")
		q := "status:failed+def:pay+error:" + a.str("items.0.error") + "+state:" + a.str("items.0.state")
		w.get("/api/v1/instances/count?q="+q).is("count", "2")
		fail()
		fail()
		w.get("/api/v1/failures").want(200).is("exact", "false").is("items.0.count", "4")
	})
}
