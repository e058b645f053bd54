package server

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/internal/pgtest"
)

// TestExamplesOfTheContract sends every example of a request, where it makes sense, and
// expects success.
func TestExamplesOfTheContract(t *testing.T) {
	w := newWorld(t, newMemory(), nil)
	w.answers.put("charge", failing("CardDeclined"))
	w.answers.put("ship", ok("shipped"))
	w.deploy("pay", "await", "relay") // hello is an example itself
	failed := func() string { return w.reach(w.start("pay", `{"amount":1}`), "failed").str("id") }
	waiting := func() string { return w.start("await", `{"order":"1"}`) }
	// Where an operation needs an instance, which one.
	needs := map[string]func() string{
		"retryInstance": failed, "skipInstance": failed,
		"pauseInstance": waiting, "cancelInstance": waiting, "terminateInstance": waiting, "restartInstance": waiting,
		"resumeInstance": func() string {
			id := waiting()
			w.do("POST", "/api/v1/instances/"+id+"/pause", "").want(200)
			return id
		},
	}
	w.do("POST", "/api/v1/definitions", `{"id": "nightly", "version": "1", "name": "Nightly", "states": [{"name": "A", "type": "inject", "data": {"a": 1},
		"start": {"kind": "scheduled", "schedule": {"cron": "0 4 * * *", "timezone": "UTC"}}, "end": {"kind": "default"}}]}`).want(201)
	sent := 0
	c := theContract()
	for _, op := range c.Operations() {
		body, ok := op.Value.Lookup("requestBody", "content")
		if !ok {
			continue
		}
		for _, m := range body.Members() {
			examples, _ := m.Value.Get("examples")
			for _, ex := range examples.Members() {
				value, _ := ex.Value.Get("value")
				text := value.String()
				if m.Key == "application/yaml" {
					text = value.Str()
				}
				if schema, ok := m.Value.Get("schema"); ok && m.Key == "application/json" {
					if err := c.Check(schema, value); err != nil {
						t.Errorf("%s, example %s: %v", op.ID, ex.Key, err)
					}
				}
				path := strings.NewReplacer("schedules/{definition}", "schedules/nightly", "{definition}", "hello").Replace(op.Path)
				switch {
				case op.ID == "answerCall":
					w.answers.put("charge", nil)
					id := w.start("pay", `{"amount":1}`)
					path = strings.NewReplacer("{instance}", id, "{ticket}", w.parkedCall(id, "charge")).Replace(path)
					w.answers.put("charge", failing("CardDeclined"))
				case needs[op.ID] != nil:
					path = strings.ReplaceAll(path, "{instance}", needs[op.ID]())
				}
				if op.ID == "controlInstances" { // which names two
					text = strings.NewReplacer(`"a","rev":3`, `"`+failed()+`"`, `"b"`, `"`+failed()+`"`).Replace(text)
				}
				if a := w.do(op.Method, path, text, "Content-Type", m.Key); a.status >= 300 {
					t.Errorf("%s, example %s: %d %s", op.ID, ex.Key, a.status, a.text)
				}
				sent++
			}
		}
	}
	if sent < 15 {
		t.Errorf("only %d examples", sent)
	}
	for _, name := range []string{"Query", "Wait"} { // of parameters
		p, _ := c.Root.Lookup("components", "parameters", name)
		example, _ := p.Get("example")
		key, _ := p.Get("name")
		switch key.Str() {
		case "q":
			w.get("/api/v1/instances?q=" + strings.NewReplacer(" ", "+", ">", "%3E").Replace(example.Str())).want(200)
		case "wait":
			w.do("POST", "/api/v1/definitions/hello/instances?wait="+example.Str(), "{}").want(200)
		}
	}
}

// TestMain sees to it that the tests together saw every answer of success that the
// contract has.
func TestMain(m *testing.M) { pgtest.Main(&complete{m}) }

type complete struct{ *testing.M }

func (m *complete) Run() int {
	code := m.M.Run()
	if all := flag.Lookup("test.run").Value.String() + flag.Lookup("test.skip").Value.String() + flag.Lookup("test.list").Value.String(); code == 0 && all == "" {
		c := theContract()
		for _, op := range c.Operations() {
			responses, _ := op.Value.Get("responses")
			for _, status := range responses.Members() {
				if status.Key < "300" && !c.Seen(op.ID, status.Key) {
					fmt.Printf("no test has seen the answer %s of %s\n", status.Key, op.ID)
					code = 1
				}
			}
		}
	}
	return code
}
