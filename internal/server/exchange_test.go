package server

import (
	"fmt"
	"testing"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// TestExchangeInHistory: a record of an answer says where the call went, and one of a call its key; what is
// text elsewhere is not shown twice.
func TestExchangeInHistory(t *testing.T) {
	eachStore(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s, nil)
		key := ""
		id := w.pay(func(c effect.Call) effect.Outcome {
			key = c.Key
			out := effect.Fail(effect.Failure{Name: "Declined", Status: "402"})
			out.Exchange = &effect.Exchange{Method: "POST", Address: "https://bank.example/charge", Status: 402, RequestHeaders: []effect.Header{{Name: "Authorization"}}, Headers: []effect.Header{{Name: "Retry-After", Value: "30"}}}
			return out
		})
		w.reach(id, "failed")
		h := w.get("/api/v1/instances/" + id + "/history").want(200)
		called, answered := -1, -1
		for i, r := range h.at("items").Items() {
			switch kind, _ := r.Get("type"); kind.Str() {
			case "called":
				called = i
			case "callFailed":
				answered = i
			}
		}
		if called < 0 || answered < 0 {
			t.Fatal("the records are not there")
		}
		h.is(fmt.Sprintf("items.%d.key", called), `"`+key+`"`)
		h.is(fmt.Sprintf("items.%d.exchange", answered), `{"address":"https://bank.example/charge","headers":[{"name":"Retry-After","value":"30"}],"method":"POST","requestHeaders":[{"name":"Authorization"}],"status":402}`)
		h.is(fmt.Sprintf("items.%d.text", answered), "null")
	})
}
