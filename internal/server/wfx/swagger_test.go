package wfx_test

import (
	"fmt"
	"path"
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/server/wfx"
)

func at(v expr.Value, keys ...string) expr.Value {
	for _, key := range keys {
		v, _ = v.Get(key)
	}
	return v
}

// TestSwaggerIsTheContract: the older document has the operations, the parameters, the
// responses and the schemas of the contract, and nothing that Swagger 2.0 has not.
func TestSwaggerIsTheContract(t *testing.T) {
	text, err := wfx.SwaggerJSON()
	if err != nil {
		t.Fatal(err)
	}
	doc := parse(t, string(text))
	if at(doc, "swagger").Str() != "2.0" || at(doc, "basePath").Str() != wfx.Base {
		t.Errorf("swagger %s, basePath %s", at(doc, "swagger"), at(doc, "basePath"))
	}
	for _, old := range []string{`"application/json":`, `"requestBody"`, `"components"`, `"openapi"`, `"type":[`, `"style"`, `"explode"`, "#/components"} {
		if strings.Contains(string(text), old) {
			t.Errorf("it has %s", old)
		}
	}
	c := theContract()
	for _, op := range c.Operations() {
		got := at(doc, "paths", op.Path, strings.ToLower(op.Method))
		if at(got, "operationId").Str() != op.ID {
			t.Errorf("%s %s is %s", op.Method, op.Path, at(got, "operationId"))
		}
		for _, in := range []string{"query", "header", "path"} {
			names := map[string]bool{}
			for _, p := range at(got, "parameters").Items() {
				if ref := at(p, "$ref").Str(); ref != "" {
					p = at(doc, "parameters", strings.TrimPrefix(ref, "#/parameters/"))
				}
				if at(p, "in").Str() == in {
					names[at(p, "name").Str()] = true
				}
				if at(p, "in").Str() != "body" && at(p, "type").Str() == "" {
					t.Errorf("%s: the parameter %s has no type", op.ID, p)
				}
			}
			want := c.Parameters(op, in)
			for _, name := range want {
				if !names[name] {
					t.Errorf("%s has no parameter %s", op.ID, name)
				}
			}
			if len(names) != len(want) {
				t.Errorf("%s has the parameters %v, the contract %v", op.ID, names, want)
			}
		}
		body := expr.Null
		for _, p := range at(got, "parameters").Items() {
			if at(p, "in").Str() == "body" {
				body = at(p, "schema")
			}
		}
		sameSchema(t, op.ID+", its body", at(op.Value, "requestBody", "content", "application/json", "schema"), body)
		if at(got, "responses").Len() != at(op.Value, "responses").Len() {
			t.Errorf("%s has the responses %s", op.ID, at(got, "responses"))
		}
		for _, m := range at(op.Value, "responses").Members() {
			if want := at(m.Value, "content", "application/json", "schema"); !want.IsNull() {
				sameSchema(t, op.ID+", "+m.Key, want, at(got, "responses", m.Key, "schema"))
			}
		}
	}
	for _, m := range at(c.Root, "components", "schemas").Members() {
		sameSchema(t, m.Key, m.Value, at(doc, "definitions", m.Key))
	}
	refsLead(t, doc, doc)
}

// sameSchema: a schema has everything that the one of the contract has, in the words of Swagger.
func sameSchema(t *testing.T, where string, want, got expr.Value) {
	t.Helper()
	if want.IsObject() != got.IsObject() {
		t.Errorf("%s: %s, in the contract %s", where, got, want)
	}
	for _, m := range want.Members() {
		g := at(got, m.Key)
		switch {
		case m.Key == "additionalProperties" && m.Value.Kind() == expr.KindBool && !m.Value.Bool(): // of the tests alone
		case m.Key == "properties":
			if g.Len() != m.Value.Len() {
				t.Errorf("%s has %d properties, in the contract %d", where, g.Len(), m.Value.Len())
			}
			for _, p := range m.Value.Members() {
				sameSchema(t, where+"."+p.Key, p.Value, at(g, p.Key))
			}
		case m.Key == "items", m.Value.IsObject() && m.Key == "additionalProperties":
			sameSchema(t, where+", "+m.Key, m.Value, g)
		case m.Key == "$ref":
			if path.Base(g.Str()) != path.Base(m.Value.Str()) {
				t.Errorf("%s refers to %s, in the contract to %s", where, g, m.Value)
			}
		case m.Key == "type" && m.Value.IsArray():
			if !expr.Equal(g, m.Value.Items()[0]) {
				t.Errorf("%s is %s, in the contract %s", where, g, m.Value)
			}
		default:
			if !expr.Equal(g, m.Value) {
				t.Errorf("%s: %s is %s, in the contract %s", where, m.Key, g, m.Value)
			}
		}
	}
}

// refsLead: every reference in a part of a document leads somewhere.
func refsLead(t *testing.T, doc, part expr.Value) {
	t.Helper()
	for _, item := range part.Items() {
		refsLead(t, doc, item)
	}
	for _, m := range part.Members() {
		if m.Key == "$ref" {
			keys := strings.Split(strings.TrimPrefix(m.Value.Str(), "#/"), "/")
			if at(doc, keys...).IsNull() {
				t.Errorf("%s leads nowhere", m.Value)
			}
		}
		refsLead(t, doc, m.Value)
	}
}

// TestOldSWUpdate plays SWUpdate 2023.12 to 2024.12.1. Before it does anything else it asks
// for swagger.json until that has definitions.JobStatus.properties, without a pause. From
// there it takes how long the texts of a status may be, and what it finds no bound for is
// nil: a context without one ends the program when it reports a failure.
func TestOldSWUpdate(t *testing.T) {
	w := newWorld(t, nil)
	w.kanban()
	id := w.create(`{"clientId":"dana","workflow":"wfx.workflow.kanban","definition":{"version":"2"}}`)
	for _, s := range []*side{w.south, w.north} {
		var spec expr.Value
		asked := 0
		for spec.Len() == 0 && asked < 3 {
			a := s.get("/swagger.json").want(200)
			if media := a.header.Get("Content-Type"); !strings.HasPrefix(media, "text/plain") {
				t.Errorf("swagger.json is %s, in wfx text/plain", media)
			}
			spec = at(parse(t, a.text), "definitions", "JobStatus", "properties")
			asked++
		}
		if asked != 1 || spec.Len() == 0 {
			t.Fatalf("asked %d times, and the schema of a status is %s", asked, spec)
		}
		for key, bound := range map[string]string{"message": "maxLength", "progress": "maximum", "context": "maxLength"} {
			if n := at(spec, key, bound); n.Kind() != expr.KindNumber {
				t.Errorf("%s of %s is %s", bound, key, n)
			}
		}
	}
	most := at(parse(t, w.south.get("/swagger.json").text), "definitions", "JobStatus", "properties", "context", "maxLength").NumberText()
	var n int
	if _, err := fmt.Sscan(most, &n); err != nil {
		t.Fatal(err)
	}
	device := []string{"X-Client-Id", "dana"}
	list := parse(t, w.south.get("/jobs?clientId=dana&group=OPEN&limit=1", device...).want(200).text)
	if got := at(list, "content").Items(); len(got) != 1 || at(got[0], "id").Str() != id {
		t.Fatalf("the device's jobs: %s", list)
	}
	log := strings.Repeat("x", n-len(`{ "lines": [""] }`))
	for _, state := range []string{"PROGRESS", "VALIDATE"} {
		w.south.do("PUT", "/jobs/"+id+"/status", `{"state":"`+state+`","clientId":"dana","progress":100,"message":"","context":{ "lines": ["`+log+`"] }}`, device...).want(200)
	}
	w.south.get("/jobs/"+id+"/status", device...).want(200).says(`"state":"VALIDATE"`)
}
