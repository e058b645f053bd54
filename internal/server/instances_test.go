package server

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/expr"
	effecthttp "github.com/lockstep-workflows/lockstep/internal/effect/http"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/memory"
)

func newMemory() store.Store { return memory.New() }

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// ok is a function that gives an object with one member.
func ok(name string) func(effect.Call) effect.Outcome {
	return func(effect.Call) effect.Outcome {
		return effect.Outcome{Value: expr.Object(expr.Member{Key: name, Value: expr.Bool(true)})}
	}
}

func failing(name string) func(effect.Call) effect.Outcome {
	return func(effect.Call) effect.Outcome {
		return effect.Fail(effect.Failure{Name: name, Code: "402", Detail: "no money"})
	}
}

// TestSynchronousAnswer: with wait the answer is the output, if it comes in time.
func TestSynchronousAnswer(t *testing.T) {
	eachStore(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s, nil)
		w.deploy("hello", "pay", "await")
		a := w.do("POST", "/api/v1/definitions/hello/instances?wait=20s", `{"name":"Ada"}`).want(200)
		a.is("status", `"completed"`).is("output", `{"greeting":"Hello, Ada"}`).is("allowed", `["restart","delete"]`)
		if a.header.Get("ETag") != `"`+a.at("rev").String()+`"` || a.header.Get("Location") != "/api/v1/instances/"+a.str("id") {
			t.Errorf("headers %v", a.header)
		}
		w.get("/api/v1/instances/" + a.str("id") + "/output").want(200).says("Hello, Ada")
		w.answers.put("charge", failing("CardDeclined"))
		a = w.do("POST", "/api/v1/definitions/pay/instances?wait=20s", `{"amount":1}`).want(200)
		a.is("status", `"failed"`).is("error.name", `"CardDeclined"`).is("error.code", `"402"`).is("error.node", `"Charge"`).is("output", "null")
		w.get("/api/v1/instances/" + a.str("id") + "/output").problem(api.CodeNoOutput)
		a = w.do("POST", "/api/v1/definitions/await/instances?wait=1ms", `{"order":"1"}`).want(202)
		w.get("/api/v1/instances/"+a.t2("id")+"?wait=1ms").want(200).is("status", `"waiting"`).is("state", `"WaitForPayment"`)
		w.do("POST", "/api/v1/definitions/hello/instances?wait=2h", `{}`).problem(api.CodeBadParameter)
		w.do("POST", "/api/v1/definitions/hello/instances?wait=2m", `{}`).problem(api.CodeBadParameter).says("request-wait")
		w.do("POST", "/api/v1/definitions/hello/instances?wait=", `{}`).problem(api.CodeBadParameter)
	})
}

// TestWaitEndsWithTheInstance: who waits is told by the change, not by a clock.
func TestWaitEndsWithTheInstance(t *testing.T) {
	eachStore(t, func(t *testing.T, s store.Store) {
		clock := engine.NewVirtualClock(engine.RealClock{}.Now())
		w := newWorld(t, s, func(c *Config, _ *engine.Config) { c.Clock = clock }) // no wait of it ends by itself
		w.deploy("pay")
		id := w.start("pay", `{"amount":1}`)
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				if a := w.get("/api/v1/instances/" + id + "?wait=1m"); a.str("status") != "completed" {
					t.Errorf("%s", a.text)
				}
			})
		}
		w.answer(id, "charge", `{"result":{"charged":true}}`)
		w.answer(id, "ship", `{"result":{"shipped":true}}`)
		wg.Wait()
		w.get("/api/v1/instances/"+id).is("output", `{"amount":1,"charged":true,"shipped":true}`)
	})
}

// answer answers the parked call of a function, once it is there.
func (w *world) answer(id, function, body string) {
	w.t.Helper()
	w.do("POST", "/api/v1/instances/"+id+"/calls/"+w.parkedCall(id, function), body).want(200)
}

func TestInput(t *testing.T) {
	w := newWorld(t, newMemory(), nil)
	w.deploy("hello")
	at := "/api/v1/definitions/hello/instances"
	w.do("POST", at, "").want(200)
	w.do("POST", at, `[1]`).problem(api.CodeInput).says("must be a JSON object")
	w.do("POST", at, `{"a":`).problem(api.CodeBadJSON)
	w.do("POST", at, `{}`, "Content-Type", "text/plain").problem(api.CodeMediaType)
	w.do("POST", at, `{}`, "Content-Type", "application/json; charset=latin1").problem(api.CodeMediaType)
	w.do("POST", "/api/v1/definitions/none/instances", `{}`).problem(api.CodeNotFound)
	w.do("POST", at+"?version=9", `{}`).problem(api.CodeNotFound)
}

// TestFetchedAtDeploy: a schema behind an address is fetched once, under the policy.
func TestFetchedAtDeploy(t *testing.T) {
	docs := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"type":"object","required":["name"]}`)
	}))
	defer docs.Close()
	text := strings.Replace(read(t, "testdata/hello.yaml"), "states:", "dataInputSchema: "+docs.URL+"/in.json\nstates:", 1)

	w := newWorld(t, newMemory(), nil)
	w.put(text, "").problem(api.CodeInvalid).says("this server does not fetch documents")
	w.put(strings.Replace(text, docs.URL+"/", "", 1), "").problem(api.CodeInvalid).says("without files to refer to")
	w.put(strings.Replace(text, docs.URL+"/", "file:///etc/", 1), "").problem(api.CodeInvalid).says("without files to refer to")

	closed, err := effecthttp.New(effecthttp.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w = newWorld(t, newMemory(), func(c *Config, _ *engine.Config) { c.Outbound = closed })
	w.put(text, "").problem(api.CodeInvalid).says("--outbound-allow")

	open, err := effecthttp.New(effecthttp.Options{Allow: []string{"127.0.0.1/32"}})
	if err != nil {
		t.Fatal(err)
	}
	w = newWorld(t, newMemory(), func(c *Config, _ *engine.Config) { c.Outbound = open })
	w.put(text, "").want(201)
	docs.Close() // nobody needs it any more
	w.do("POST", "/api/v1/definitions/hello/instances", `{}`).problem(api.CodeInput).says("name")
	w.do("POST", "/api/v1/definitions/hello/instances", `{"name":"Ada"}`).want(200)
}

// TestIdempotencyKey: a hundred repetitions start one instance.
func TestIdempotencyKey(t *testing.T) {
	eachStore(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s, nil)
		w.deploy("await", "hello")
		at := "/api/v1/definitions/await/instances"
		first := w.do("POST", at, `{"order":"1"}`, "Idempotency-Key", "k-1").want(202).t2("id")
		var wg sync.WaitGroup
		for i := range 100 {
			wg.Go(func() {
				a := w.do("POST", at, `{"order": "1"}`, "Idempotency-Key", fmt.Sprint("k-", 1+i%2))
				if i%2 == 0 && a.str("id") != first || a.status != 202 {
					t.Errorf("%d %s", a.status, a.text)
				}
			})
		}
		wg.Wait()
		w.get("/api/v1/instances/count?q=def:await").want(200).is("count", "2").is("exact", "true")
		w.do("POST", at, `{"order":"2"}`, "Idempotency-Key", "k-1").problem(api.CodeKeyReused)
		w.do("POST", at+"?version=1.0", `{"order":"1"}`, "Idempotency-Key", "k-1").want(202).is("id", `"`+first+`"`)
		w.do("POST", "/api/v1/definitions/hello/instances", `{"order":"1"}`, "Idempotency-Key", "k-1").want(200)
		w.do("POST", at, `{}`, "Idempotency-Key", "a b").problem(api.CodeBadParameter)
		w.do("POST", at, `{}`, "Idempotency-Key", strings.Repeat("x", maxKey+1)).problem(api.CodeBadParameter)
		// A key finds its instance whatever became of the definition.
		w.do("POST", "/api/v1/instances/"+first+"/cancel", "").want(200)
		w.do("POST", at, `{"order":"1"}`, "Idempotency-Key", "k-1").want(200).is("status", `"cancelled"`)
	})
}

func TestListAndCount(t *testing.T) {
	eachStore(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s, nil)
		w.deploy("hello", "await")
		var ids []string
		for i := range 7 {
			ids = append(ids, w.start("await", fmt.Sprintf(`{"order":"%d"}`, i)))
		}
		w.do("POST", "/api/v1/definitions/hello/instances?wait=20s", `{"name":"x"}`).want(200)
		w.do("POST", "/api/v1/instances/"+ids[3]+"/cancel", "").want(200)
		for _, c := range []struct {
			q    string
			want int
		}{
			{"", 8},
			{"def:await", 7},
			{"def:await@1.0 status:cancelled", 1},
			{"-status:cancelled,completed", 6},
			{"status:waiting state:WaitForPayment", 6},
			{"id:" + ids[2], 1},
			{"-id:" + ids[2] + " def:await", 6},
			{"text:hell", 1},
			{"hell", 0},
			{"age:<1h", 8},
			{"age:>1h", 0},
		} {
			q := url.QueryEscape(c.q)
			w.get("/api/v1/instances/count?q="+q).want(200).is("count", fmt.Sprint(c.want)).is("exact", "true")
			for _, order := range []string{"newest", "oldest"} {
				var got []string
				after := ""
				for {
					a := w.get("/api/v1/instances?limit=2&order=" + order + "&q=" + q + after).want(200)
					for _, it := range a.at("items").Items() {
						id, _ := it.Get("id")
						got = append(got, id.Str())
					}
					if a.str("next") == "" {
						break
					}
					after = "&after=" + a.str("next")
				}
				if len(got) != c.want {
					t.Errorf("%q %s: %d instances in pages, want %d", c.q, order, len(got), c.want)
				}
			}
		}
		w.get("/api/v1/instances?limit=1").is("items.0.definition.id", `"hello"`)
		w.get("/api/v1/instances?limit=1&order=oldest").is("items.0.id", `"`+ids[0]+`"`)
		w.get("/api/v1/instances?q=stauts:failed").problem(api.CodeBadFilter).says(`did you mean \"status\"?`).is("errors.0.column", "1")
		next := w.get("/api/v1/instances?limit=1").t2("next")
		w.get("/api/v1/instances?order=oldest&after=" + next).problem(api.CodeBadCursor)
		w.get("/api/v1/stats").want(200).is("total", "8").is("statuses.waiting", "6").is("definitions.0.id", `"await"`).is("definitions.0.statuses.cancelled", "1")
	})
}

// TestScanIsBounded: a filter that the store cannot answer looks at so many instances
// for a request, and goes on in the next page.
func TestScanIsBounded(t *testing.T) {
	w := newWorld(t, newMemory(), func(c *Config, _ *engine.Config) { c.Limits.QueryScan, c.Limits.Count = 3, 4 })
	w.deploy("await")
	first := w.start("await", `{"order":"0"}`)
	for range 7 {
		w.start("await", `{"order":"1"}`)
	}
	w.get("/api/v1/instances/count?q=text:await").want(200).is("count", "3").is("exact", "false")
	w.get("/api/v1/instances/count?q=age:<1h").want(200).is("count", "4").is("exact", "false")
	w.get("/api/v1/instances/count?q=status:waiting").want(200).is("count", "8").is("exact", "true")
	w.get("/api/v1/instances/count?q="+first).want(200).is("count", "1").is("exact", "true")
	found, pages, after := 0, 0, ""
	for {
		a := w.get("/api/v1/instances?q=text:" + first + after).want(200)
		found += a.at("items").Len()
		pages++
		if a.str("next") == "" {
			break
		}
		after = "&after=" + a.str("next")
	}
	if found != 1 || pages < 3 {
		t.Errorf("found %d in %d pages", found, pages)
	}
}

// namedOrder declares a name and labels for its instances.
const namedOrder = `
id: named
version: '1.0'
name: Named
metadata:
  lockstep.name: Order {{ $.order }}
  lockstep.label.order: '{{ $.order }}'
  lockstep.label.bad: '{{ $.bad }}'
states:
- {name: Wait, type: delay, timeDelay: PT1H, start: {kind: default}, end: {kind: default}}
`

// TestFindInstances: instances have names and labels, from the definition or from the start, and are found by them.
func TestFindInstances(t *testing.T) {
	eachStore(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s, nil)
		w.put(namedOrder, "?dialect=sw05").want(201)
		start := func(query, body string) answered {
			t.Helper()
			return w.do("POST", "/api/v1/definitions/named/instances"+query, body)
		}
		a := start("", `{"order":"A-1038","bad":{"a":1}}`).want(202)
		a.is("name", `"Order A-1038"`).is("labels", `{"order":"A-1038"}`)
		first := a.str("id")
		w.get("/api/v1/instances/" + first + "/history").want(200).says(`label \"bad\"`).says("the instance runs without it")
		start("?id=mine&name=Mine&label=team=red&label=order=B%3D7", `{"order":"7","bad":7}`).want(202).is("id", `"mine"`).is("name", `"Mine"`).
			is("labels", `{"bad":7,"order":"B=7","team":"red"}`)
		start("?id=mine", `{"order":"7","bad":7}`).want(202).is("id", `"mine"`).is("name", `"Mine"`)
		start("?id=mine", `{"order":"8"}`).problem(api.CodeExists)
		for query, says := range map[string]string{
			"?id=a:b": "cannot be the id", "?id=": "cannot be the id", "?label=x": "is not key=value", "?label=a=1&label=a=2": "more than once", "?label=name=x": "is the name",
			"?name=" + strings.Repeat("x", 300): "limit instance-name", "?id=" + strings.Repeat("x", 129): "1 to 128",
		} {
			start(query, `{}`).problem(api.CodeBadParameter).says(says)
		}
		w.do("POST", "/api/v1/definitions/named/instances?id=x", `{}`, "Idempotency-Key", "k").problem(api.CodeBadParameter).says("together")
		keyed := w.do("POST", "/api/v1/definitions/named/instances", `{"order":"9"}`, "Idempotency-Key", "order-9").want(202).is("key", `"order-9"`).str("id")
		for q, want := range map[string]string{
			"order:A-1038": first, "A-1038": first, `name:"Order A-1038"`: first, `"Order A-1038"`: first, first: first, "label:order=A-1038": first, "tag:order=A-1038": first,
			"order:A-1038 status:waiting": first, "text:a-10": first, "team:red": "mine", "mine": "mine", "bad:7": "mine", "order:B=7": "mine",
			"key:order-9": keyed, "order-9": keyed, "order:A": "", "name:Order": "", "-order:A-1038 order:A-1038": "",
		} {
			a := w.get("/api/v1/instances?fold=true&q=" + url.QueryEscape(q)).want(200)
			got := ""
			for _, in := range a.at("items").Items() {
				id, _ := in.Get("id")
				got += id.Str()
			}
			if got != want {
				t.Errorf("%s: %s, want %s", q, got, want)
			}
			w.get("/api/v1/instances/count?q="+url.QueryEscape(q)).want(200).is("count", map[bool]string{true: "1", false: "0"}[want != ""])
		}
	})
}
