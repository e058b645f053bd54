package cluster

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/client"
)

// shopBundle is an order with an OpenAPI document, a schema and two sub-workflows; path is that of the operation.
func shopBundle(version, service, path string) []client.BundleFile {
	files := []client.BundleFile{
		{Path: "order.yaml", Definition: true, Text: []byte(`
id: order
name: Order
version: "VERSION"
specVersion: "0.8"
start: reserve
dataInputSchema: schemas/order.json
functions: [{name: reserve, operation: shop-api.yaml#reserve}]
states:
- name: reserve
  type: operation
  actions: [{functionRef: {refName: reserve, arguments: {item: "${ .item }"}}, actionDataFilter: {toStateData: .reserved}}]
  transition: pack
- {name: pack, type: operation, actions: [{subFlowRef: {workflowId: pack, version: "VERSION"}}], transition: ship}
- {name: ship, type: operation, actions: [{subFlowRef: {workflowId: ship, version: "VERSION"}}], end: true}
`)},
		{Path: "shop-api.yaml", Text: []byte(`
openapi: 3.1.0
info: {title: Shop, version: "1"}
servers: [{url: SERVICE}]
paths:
  PATH:
    post:
      operationId: reserve
      requestBody: {content: {application/json: {schema: {type: object, required: [item], properties: {item: {type: string}}}}}}
      responses: {"200": {description: reserved, content: {application/json: {schema: {type: object}}}}}
`)},
		{Path: "schemas/order.json", Text: []byte(`{"type": "object", "required": ["item"]}`)},
	}
	for _, name := range []string{"pack", "ship"} {
		files = append(files, client.BundleFile{Path: name + ".yaml", Definition: true, Text: []byte(`
id: ` + name + `
name: ` + name + `
version: "VERSION"
specVersion: "0.8"
start: do
states: [{name: do, type: inject, data: {` + name + `: "VERSION"}, end: true}]
`)})
	}
	for i := range files {
		files[i].Text = []byte(strings.NewReplacer("VERSION", version, "SERVICE", service, "PATH", path).Replace(string(files[i].Text)))
	}
	return files
}

// TestBundleOnNodes deploys a folder to one of three nodes and calls it at another, deploys a second version, and rolls back.
func TestBundleOnNodes(t *testing.T) {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"by":%q}`, r.URL.Path)
	}))
	defer service.Close()
	s := newServers(t, 3)
	deploy := func(node int, version, path string, want api.Change) {
		t.Helper()
		done, err := s.at(node).API.DeployBundle(t.Context(), shopBundle(version, service.URL, path), client.Deploy{})
		if err != nil {
			t.Fatal(err)
		}
		if len(done.Definitions) != 3 {
			t.Fatalf("%d definitions", len(done.Definitions))
		}
		for _, d := range done.Definitions {
			if d.Change != want {
				t.Errorf("%s %s: %s, want %s", d.Definition.ID, d.Definition.Version, d.Change, want)
			}
		}
	}
	order := func(node int, version, path string) {
		t.Helper()
		in, err := s.at(node).API.StartInstance(t.Context(), "order", client.Start{Input: api.Data(`{"item":"lamp"}`)})
		for err == nil && !in.Over() {
			in, err = s.at(node).API.GetInstance(t.Context(), in.ID, time.Second)
		}
		if err != nil {
			t.Fatal(err)
		}
		var out struct {
			Reserved struct{ By string }
			Pack     string
			Ship     string
		}
		if err := json.Unmarshal(in.Output, &out); err != nil || out.Reserved.By != path || out.Pack != version || out.Ship != version {
			t.Errorf("%s %v: %s, want it by %s in version %s", in.Status, in.Error, in.Output, path, version)
		}
	}
	deploy(0, "1.0", "/v1/reservations", api.ChangeCreated)
	order(1, "1.0", "/v1/reservations")
	deploy(1, "2.0", "/v2/reservations", api.ChangeNewVersion)
	order(2, "2.0", "/v2/reservations")
	deploy(2, "1.0", "/v1/reservations", api.ChangeRestored)
	order(0, "1.0", "/v1/reservations")
	deploy(0, "1.0", "/v1/reservations", api.ChangeUnchanged)

	// Another file under the same version: nothing is deployed.
	_, err := s.at(1).API.DeployBundle(t.Context(), shopBundle("1.0", service.URL, "/v3/reservations"), client.Deploy{})
	if err == nil {
		t.Error("a changed document was deployed under the same version")
	}
	order(2, "1.0", "/v1/reservations")
}
