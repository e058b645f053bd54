package wfx_test

import (
	"testing"
)

const relay = `{"name":"relay","states":[{"name":"OPEN"},{"name":"MIDDLE"},{"name":"CLOSED"}],` +
	`"transitions":[{"eligible":"CLIENT","from":"OPEN","to":"MIDDLE"},{"action":"IMMEDIATE","eligible":"WFX","from":"MIDDLE","to":"CLOSED"}]}`

func TestWorkflows(t *testing.T) {
	w := newWorld(t, nil)
	w.south.get("/workflows").want(200).is(`{"content":[]}`)
	w.south.do("POST", "/workflows", file(t, "relay.json")).want(403).is("")
	w.south.do("POST", "/workflows", `{"name":`).want(403).is("")
	w.north.do("POST", "/workflows", `{"name":`).plain(400)
	w.north.do("POST", "/workflows", `{"name":"x y"}`).plain(400).says("name")
	a := w.north.do("POST", "/workflows", file(t, "relay.json")).want(201).is(relay)
	if got := a.header.Get("Content-Type"); got != "application/json" {
		t.Errorf("content type %q", got)
	}
	w.north.do("POST", "/workflows", file(t, "relay.json")).refused(400, "wfx.workflowNotUnique", "Workflow with name 'relay' already exists")
	w.kanban()
	for _, side := range []*side{w.south, w.north} {
		side.get("/workflows/relay").want(200).is(relay)
		side.get("/workflows/nothing").refused(404, "wfx.workflowNotFound", "Workflow not found for given name")
		side.get("/workflows?limit=1").want(200).is(`{"content":[` + relay + `]}`)
		side.get("/workflows?limit=0&offset=1&pagination=true").want(200).says(`"name":"wfx.workflow.kanban"`).says(`"pagination":{"limit":0,"offset":1,"total":2}`)
		side.get("/workflows?limit=1&sort=desc").want(200).says(`"name":"wfx.workflow.kanban"`)
		side.get("/workflows?offset=7&pagination=true").want(200).is(`{"content":[],"pagination":{"limit":10,"offset":7,"total":2}}`)
		side.get("/workflows?sort=up").plain(400)
		side.get("/workflows?limit=many").plain(400)
		side.get("/workflows?limit=3000000000").plain(400)
	}
	w.south.do("DELETE", "/workflows/relay", "").want(403).is("")
	w.create(`{"clientId":"c","workflow":"relay"}`)
	w.north.do("DELETE", "/workflows/relay", "").want(409).says(`"code":"wfx.workflowInUse"`).says("1 job refers to workflow 'relay'; delete it first")
	w.north.do("DELETE", "/workflows/wfx.workflow.kanban", "").want(204).is("")
	w.north.do("DELETE", "/workflows/wfx.workflow.kanban", "").refused(404, "wfx.workflowNotFound", "Workflow 'wfx.workflow.kanban' not found")
	w.kanban() // the name is free again
}

// TestInvalidWorkflows: what is wrong with one value is plain text, what is wrong with the
// whole is an error each.
func TestInvalidWorkflows(t *testing.T) {
	w := newWorld(t, nil)
	post := func(body string) answered { return w.north.do("POST", "/workflows", body) }
	post(`[]`).plain(400)
	post(`{}`).plain(400)
	post(`{"name":"a","states":[{"name":"A"}]}`).plain(400).says("transitions")
	post(`{"name":"a","states":[{"name":"A"},{"name":"B"}],"transitions":[{"from":"A","to":"B","eligible":"ME"}]}`).plain(400)
	w.north.do("POST", "/workflows", `{}`, "Content-Type", "application/yaml").plain(400).says("Content-Type")
	post("").plain(400)
	a := post(`{"name":"a","states":[{"name":"A"},{"name":"B"},{"name":"C"}],"transitions":[{"from":"A","to":"B","eligible":"CLIENT"},{"from":"A","to":"D","eligible":"WFX"},{"from":"E","to":"C","eligible":"WFX"}]}`)
	a.want(400).says(`"code":"wfx.workflowInvalid","logref":"18f57adc70dd79c7fb4f1246be8a6e04"`).says(`\"D\"`).says(`\"E\"`)
	w.south.get("/workflows").is(`{"content":[]}`)
}
