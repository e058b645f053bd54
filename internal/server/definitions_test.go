package server

import (
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

// greeting is a definition of a version that says something.
func greeting(version, text string) string {
	return "id: greet\nversion: \"" + version + "\"\nname: Greet\nstates:\n- name: Say\n  type: inject\n  start: {kind: default}\n  data: {text: " + text + "}\n  end: {kind: default}\n"
}

func (w *world) put(text string, params string) answered {
	w.t.Helper()
	return w.do("POST", "/api/v1/definitions"+params, text, "Content-Type", "application/yaml")
}

func TestDeploy(t *testing.T) {
	eachStore(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s, nil)
		a := w.put(greeting("1.0", "one"), "?dialect=sw05").want(201).is("current", "true").is("diagnostics", "[]")
		if got := a.header.Get("Location"); got != "/api/v1/definitions/greet?version=1.0" {
			t.Errorf("Location %q", got)
		}
		w.get(a.header.Get("Location")).want(200).is("version", `"1.0"`)
		w.put(greeting("1.0", "one"), "").want(200)
		w.put(greeting("1.0", "two"), "").problem(api.CodeVersion)
		w.put(greeting("1.1", "two"), "").want(201)
		w.get("/api/v1/definitions/greet").want(200).is("version", `"1.1"`)
		w.get("/api/v1/definitions/greet?version=1.0").want(200).is("current", "false")
		w.get("/api/v1/definitions/greet?digest="+a.str("digest")).want(200).is("version", `"1.0"`)
		w.get("/api/v1/definitions/greet?digest=none").problem(api.CodeNotFound)
		w.get("/api/v1/definitions/greet?version=1.0&digest=x").problem(api.CodeBadParameter)
		w.get("/api/v1/definitions/greet/versions").want(200).is("items.0.version", `"1.0"`).is("items.1.version", `"1.1"`)
		w.get("/api/v1/definitions/none/versions").problem(api.CodeNotFound)
		w.put(greeting("1.0", "one"), "").want(200) // the old version becomes the current one again
		w.get("/api/v1/definitions/greet").want(200).is("version", `"1.0"`)
	})
}

func TestDryRunStoresNothing(t *testing.T) {
	eachStore(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s, nil)
		w.put(greeting("1.0", "one"), "?dry-run=true").want(200).is("id", `"greet"`).is("deployed", "null")
		w.get("/api/v1/definitions/greet").problem(api.CodeNotFound)
		w.put(greeting("1.0", "one"), "").want(201)
		w.put(greeting("1.0", "one"), "?dry-run=true").want(200).is("current", "true")
		w.put(greeting("1.0", "two"), "?dry-run=true").problem(api.CodeVersion)
	})
}

// TestJobWorkflowsNeverChange: they have no version that could be changed, so nothing speaks of one.
func TestJobWorkflowsNeverChange(t *testing.T) {
	w := newWorld(t, newMemory(), nil)
	text := "name: steps\nstates: [{name: A}, {name: B}]\ntransitions:\n- {from: A, to: B, eligible: CLIENT}\n"
	w.put(text, "").want(201)
	for _, params := range []string{"", "?dry-run=true"} {
		a := w.put(text+"- {from: A, to: B, eligible: WFX}\n", params).problem(api.CodeVersion).
			says("is deployed with different content; a job workflow never changes").says("use another name, or delete")
		if strings.Contains(a.str("detail")+a.str("hint"), "version") {
			t.Errorf("it speaks of a version: %s", a.text)
		}
	}
}

// TestInvalidDefinition: all errors at once, each with its place and code.
func TestInvalidDefinition(t *testing.T) {
	w := newWorld(t, newMemory(), nil)
	text := "id: x\nversion: \"1\"\nname: X\nstates:\n- name: A\n  type: inejct\n  data: {}\n  start: {kind: default}\n  transition: {nextState: Nowhere}\n"
	a := w.put(text, "?dialect=sw05").problem(api.CodeInvalid)
	if n := a.at("errors").Len(); n < 2 {
		t.Errorf("%d errors: %s", n, a.text)
	}
	a.is("errors.0.line", "6").is("errors.0.column", "9").is("errors.0.code", `"SW104"`).says(`did you mean \"inject\"?`)
	w.put("id: x", "?dialect=sw99").problem(api.CodeInvalid).says("there is no dialect")
	w.put("{", "").problem(api.CodeInvalid)
	w.do("POST", "/api/v1/definitions", "", "Content-Type", "application/yaml").problem(api.CodeInvalid)
	w.do("POST", "/api/v1/definitions", "id: x", "Content-Type", "text/plain").problem(api.CodeMediaType).says("application/yaml")
	w.do("POST", "/api/v1/definitions", "id: x", "Content-Type", "application/yaml", "Content-Encoding", "gzip").problem(api.CodeMediaType)
	w.put(greeting("1", "x"), "?dryrun=true").problem(api.CodeBadParameter).says(`did you mean \"dry-run\"?`)
	w.put(greeting("1", "x"), "?dry-run=yes").problem(api.CodeBadParameter)
	w.put(greeting("1", "x"), "?dialect=a&dialect=b").problem(api.CodeBadParameter).says("more than once")
}

// TestWarningsStay: what there was to say against a definition is told later too.
func TestWarningsStay(t *testing.T) {
	eachStore(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s, nil)
		text := greeting("1.0", "x") + "- name: Lost\n  type: inject\n  data: {a: 1}\n  end: {kind: default}\n"
		w.put(text, "").want(201).is("diagnostics.0.severity", `"warning"`)
		w.get("/api/v1/definitions/greet").is("diagnostics.0.severity", `"warning"`).says("Lost")
	})
}

func TestSourceGraphDiff(t *testing.T) {
	eachStore(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s, nil)
		w.put(greeting("1.0", "one"), "").want(201)
		w.put(greeting("1.1", "two"), "").want(201)
		a := w.get("/api/v1/definitions/greet/source?version=1.0").want(200)
		if a.text != greeting("1.0", "one") || a.header.Get("Content-Type") != "application/yaml" {
			t.Errorf("%s %s", a.header.Get("Content-Type"), a.text)
		}
		w.get("/api/v1/definitions/greet/graph.svg").want(200).says("<svg")
		for format, says := range map[string]string{"mermaid": "flowchart", "dot": "digraph", "plantuml": "@startuml", "smcat": "Say", "text": "Say"} {
			w.get("/api/v1/definitions/greet/graph.svg?format=" + format).want(200).says(says)
		}
		w.get("/api/v1/definitions/greet/graph.svg?format=png").problem(api.CodeBadParameter)
		w.get("/api/v1/definitions/greet/diff?from=1.0").want(200).says("-  data: {text: one}\n+  data: {text: two}\n")
		w.get("/api/v1/definitions/greet/diff?from=1.0&to=1.0").want(200)
		w.get("/api/v1/definitions/greet/diff").problem(api.CodeBadParameter)
		w.get("/api/v1/definitions/greet/diff?from=9").problem(api.CodeNotFound)
		w.do("POST", "/api/v1/definitions", `{"id":"j","name":"J","version":"1","states":[{"name":"A","type":"inject","start":{"kind":"default"},"data":{},"end":{"kind":"default"}}]}`).want(201)
		if a := w.get("/api/v1/definitions/j/source").want(200); a.header.Get("Content-Type") != "application/json" {
			t.Errorf("content type %s", a.header.Get("Content-Type"))
		}
	})
}

func TestListDefinitionsInPages(t *testing.T) {
	eachStore(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s, nil)
		for _, id := range []string{"c", "a", "b"} {
			w.put(strings.Replace(greeting("1", "x"), "id: greet", "id: "+id, 1), "").want(201)
			w.put(strings.Replace(greeting("2", "y"), "id: greet", "id: "+id, 1), "").want(201)
		}
		a := w.get("/api/v1/definitions?limit=2").want(200).is("items.0.id", `"a"`).is("items.1.id", `"b"`).is("items.1.version", `"2"`)
		w.get("/api/v1/definitions?limit=2&after="+a.t2("next")).want(200).is("items.0.id", `"c"`).is("items.1", "null").is("next", "null")
		a = w.get("/api/v1/definitions?limit=5&versions=all").want(200).is("items.4.version", `"1"`)
		w.do("DELETE", "/api/v1/definitions/c?version=1", "").want(204) // the one that the page ended with
		w.get("/api/v1/definitions?versions=all&after="+a.t2("next")).want(200).is("items.1", "null")
		w.get("/api/v1/definitions?after=xyz").problem(api.CodeBadCursor)
		w.get("/api/v1/definitions?limit=0").problem(api.CodeBadParameter)
		w.get("/api/v1/definitions?limit=1001").problem(api.CodeBadParameter).says("page-items")
	})
}

func TestDeleteDefinition(t *testing.T) {
	eachStore(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s, nil)
		w.deploy("hello", "await")
		id := w.do("POST", "/api/v1/definitions/await/instances", `{"order":"1"}`).want(202).t2("id")
		w.do("DELETE", "/api/v1/definitions/await", "").problem(api.CodeInUse).is("count", "1")
		w.do("DELETE", "/api/v1/definitions/await?version=1.0", "").problem(api.CodeInUse).is("count", "1")
		w.reach(id, "waiting")
		w.do("DELETE", "/api/v1/instances/"+id, "").problem(api.CodeNotAllowedNow).is("allowed.0", `"pause"`)
		w.do("POST", "/api/v1/instances/"+id+"/terminate", "").want(200)
		w.do("DELETE", "/api/v1/instances/"+id, "", "If-Match", `"1"`).problem(api.CodeChanged)
		w.do("DELETE", "/api/v1/instances/"+id, "").want(204)
		w.get("/api/v1/instances/" + id).problem(api.CodeNotFound)
		w.do("DELETE", "/api/v1/instances/"+id, "").problem(api.CodeNotFound)
		w.do("DELETE", "/api/v1/definitions/await", "").want(204)
		w.do("DELETE", "/api/v1/definitions/await", "").problem(api.CodeNotFound)
		w.do("POST", "/api/v1/definitions/await/instances", `{}`).problem(api.CodeNotFound)
		w.deploy("await")
		w.do("POST", "/api/v1/definitions/await/instances", `{"order":"1"}`).want(202)
	})
}

// TestOnlyTheCurrentVersionStartsOnEvents: others finish what they began, and start by name.
func TestOnlyTheCurrentVersionStartsOnEvents(t *testing.T) {
	eachStore(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s, nil)
		w.deploy("onorder")
		second := strings.Replace(read(t, "testdata/onorder.yaml"), `"1.0"`, `"2.0"`, 1)
		w.put(second, "").want(201)
		a := w.do("POST", "/api/v1/events", `{"specversion":"1.0","id":"1","source":"s","type":"ordered","orderid":"7","data":{"item":"tea"}}`, "Content-Type", "application/cloudevents+json").want(202)
		id := a.t2("events.0.started.0")
		if a.is("matched", "1").at("events.0.started").Len() != 1 {
			t.Errorf("started more than one: %s", a.text)
		}
		w.get("/api/v1/instances/"+id).want(200).is("definition.version", `"2.0"`)
		w.do("POST", "/api/v1/definitions/onorder/instances?version=1.0", `{}`).want(202).is("definition.version", `"1.0"`)
		w.do("POST", "/api/v1/definitions/onorder/instances?version=3.0", `{}`).problem(api.CodeNotFound)
	})
}

// TestDefinitionWithoutItsNamespace: a name without its namespace is not found, but the id is told.
func TestDefinitionWithoutItsNamespace(t *testing.T) {
	w := newWorld(t, newMemory(), nil)
	w.put(strings.Replace(greeting("1", "x"), "id: greet", "id: shop.purchase", 1), "").want(201)
	w.get("/api/v1/definitions/purchase").problem(api.CodeNotFound).says(`did you mean \"shop.purchase\"?`)
	w.get("/api/v1/definitions/shop.purchse").problem(api.CodeNotFound).says(`did you mean \"shop.purchase\"?`)
}
