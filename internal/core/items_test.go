package core

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
)

// eachItem calls a function for each item, and appends the results.
const eachItem = `
expr jsonpath $.items
func f
region main 1
region body 3 {"collect":true}
node Each fan {"each":{"over":1,"body":1,"var":"item"},"join":"append","path":["out"]} -> 2
node Each end
node Each call`

// TestItemWhoseOutputIsRefused: an item whose output is larger than data-bytes allows is not done, and
// a retry of the failed items runs it again. A limit that is lower than when the item began is one way to get there.
func TestItemWhoseOutputIsRefused(t *testing.T) {
	h := newHost(t, mustAssemble(t, `
variables
expr jq .list
expr jq {list, text: "a text that is longer than the limit"}
func f
region main 1
region body 3
node L fan {"each":{"over":1,"body":1,"var":"x","at":"i","carry":true},"join":"last"} -> 2
node L end
node B eval {"from":2,"put":{"mode":"replace"}} -> 4
node B call`))
	h.do("start", `{"list":[1,2]}`)
	limit := h.p.Limits.DataBytes
	h.p.Limits.DataBytes = 20
	if got := h.do("reply", "2.1 {}"); !strings.Contains(got, "data-bytes") || h.state().Status() != Failed {
		t.Fatalf("the output was taken:\n%s", got)
	}
	if p := h.state().Progress(h.p); len(p) != 1 || p[0].Done != 0 {
		t.Errorf("the item counts as done: %+v", p)
	}
	h.p.Limits.DataBytes = limit
	h.do("control", "retry items")
	open := h.state().Open(h.p)
	if len(open) != 1 {
		t.Fatalf("%d calls are open", len(open))
	}
	h.do("reply", open[0].Ticket.String()+" {}")
	if p := h.state().Progress(h.p); len(p) != 1 || p[0].Done != 1 || p[0].InFlight != 1 {
		t.Errorf("after the retry of item 0: %+v", p)
	}
}

// TestRefusedRetryKeepsItems: a retry whose data is too large changes nothing.
func TestRefusedRetryKeepsItems(t *testing.T) {
	h := newHost(t, mustAssemble(t, eachItem))
	h.do("start", `{"items":[10,20]}`)
	h.do("reply", "2.1 {}")
	h.do("fault", "3.1 Bad")
	s := h.state()
	before := frames(h.p, s)
	h.p.Limits.DataBytes = 20
	_, err := StepFor(h.host, h.p, s, h.now, Control{Verb: VerbRetry, HasData: true, Data: expr.Object(expr.Member{Key: "items", Value: expr.String(strings.Repeat("x", 40))})})
	if err == nil {
		t.Fatal("data beyond the limit was taken")
	}
	if after := frames(h.p, s); after != before {
		t.Errorf("a rejected retry changed the state:\n%s\nto\n%s", before, after)
	}
}

// TestRetryItemsWhoseTimeoutFails: where the timeout of the foreach cannot be set again and something
// handles that, the handler goes on, and no item runs.
func TestRetryItemsWhoseTimeoutFails(t *testing.T) {
	for name, catch := range map[string]string{
		"handled": `{"error":"DataError","next":3}`,
		"retried": `{"error":"DataError","retry":{"max":1,"delay":{"set":true,"nanos":1000000000}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t, mustAssemble(t, `
expr jsonpath $.items
func f
region main 1
region Each 4 {"timeout":{"set":true,"months":1200},"catch":[`+catch+`]}
region body 5 {"collect":true}
node @entered Each enter {"region":1} -> 2
node @left Each end
node @entered Handler end
node Each fan {"each":{"over":1,"body":2,"var":"item"},"join":"append","path":["out"]}
node Each call`))
			h.do("start", `{"items":[10,20]}`)
			h.do("fault", "3.1 Bad")
			h.do("fault", "4.1 Bad")
			if s := h.state(); s.Status() != Failed {
				t.Fatalf("the instance is %s", s.Status())
			}
			h.now = TimeOf(time.Date(farthest-1, 1, 1, 0, 0, 0, 0, time.UTC)) // a hundred years later is too far
			got := h.do("control", "retry items")
			want := map[string]string{"handled": "completed", "retried": "retrying"}[name]
			if !strings.Contains(got, want) || strings.Contains(got, "invoke") {
				t.Errorf("the retry:\n%s", got)
			}
		})
	}
}

// TestItemsAreListed: every item of a foreach with how it stands, page by page, and after its failure too.
func TestItemsAreListed(t *testing.T) {
	h := newHost(t, mustAssemble(t, eachItem))
	h.p.Limits.FanInFlight = 2
	list := func(q ItemQuery) string {
		items, next, ok := h.state().Items(h.p, q)
		out := ""
		for _, it := range items {
			out += fmt.Sprintf("%d %s %s", it.Index, it.Status, it.Value)
			if it.Fault != nil {
				out += " " + it.Fault.Name
			}
			for _, ticket := range it.Tickets {
				out += " " + ticket.String()
			}
			out += "; "
		}
		return fmt.Sprintf("%snext %d %t", out, next, ok)
	}
	check := func(when string, q ItemQuery, want string) {
		t.Helper()
		if got := list(q); got != want {
			t.Errorf("%s:\n got %s\nwant %s", when, got, want)
		}
	}
	h.do("start", `{"items":[10,20,30,40,50]}`)
	h.do("reply", "2.1 {}")
	h.do("fault", "3.1 Bad")
	all := ItemQuery{Limit: 10}
	check("while it runs", all, "0 done 10; 1 failed 20 Bad; 2 inFlight 30 4.1; 3 inFlight 40 5.1; 4 pending 50; next 0 true")
	check("a page", ItemQuery{Limit: 2}, "0 done 10; 1 failed 20 Bad; next 2 true")
	check("the next page", ItemQuery{From: 2, Limit: 2}, "2 inFlight 30 4.1; 3 inFlight 40 5.1; next 4 true")
	check("of a status", ItemQuery{Status: []ItemStatus{ItemFailed, ItemPending}, Limit: 10}, "1 failed 20 Bad; 4 pending 50; next 0 true")
	check("beyond the end", ItemQuery{From: 99, Limit: 10}, "next 0 true")
	check("another state", ItemQuery{State: "Other", Limit: 10}, "next 0 false")
	for _, ticket := range []string{"4.1", "5.1", "6.1"} {
		h.do("reply", ticket+" {}")
	}
	if s := h.state(); s.Status() != Failed {
		t.Fatalf("it is %s", s.Status())
	}
	check("once it failed", all, "0 done 10; 1 failed 20 Bad; 2 done 30; 3 done 40; 4 done 50; next 0 true")
	h.do("control", "retry items")
	check("when the failed one runs again", ItemQuery{Status: []ItemStatus{ItemInFlight}, Limit: 10}, "1 inFlight 20 7.1; next 0 true")
}
