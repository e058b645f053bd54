package cluster

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/client"
)

// scores is a service that notes the items that it was asked for, and the keys. Item bad is refused until it is mended.
type scores struct {
	mu     sync.Mutex
	asked  map[int]int
	keys   map[string]bool
	bad    int
	mended bool
	reach  int // how many calls arrived opens reached
	open   chan struct{}
}

func (s *scores) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in struct{ N int }
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	s.asked[in.N]++
	s.keys[r.Header.Get("Idempotency-Key")] = true
	refused := in.N == s.bad && !s.mended
	if s.reach--; s.reach == 0 {
		close(s.open)
	}
	s.mu.Unlock()
	if refused {
		http.Error(w, "this item is not right", http.StatusUnprocessableEntity)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"s":%d}`, in.N)
}

// mend takes every item from now on, and counts anew.
func (s *scores) mend() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked, s.keys, s.mended = map[int]int{}, map[string]bool{}, true
}

// deployItems deploys a definition that calls the service.
func deployItems(t *testing.T, s *servers, document, service string) {
	t.Helper()
	files := []client.BundleFile{
		{Path: "map.yaml", Definition: true, Text: []byte(strings.ReplaceAll(document, "SERVICE", service))},
		{Path: "score-api.yaml", Text: []byte(strings.ReplaceAll(`
openapi: 3.1.0
info: {title: Scores, version: "1"}
servers: [{url: SERVICE}]
paths:
  /score:
    post:
      operationId: score
      requestBody: {content: {application/json: {schema: {type: object, required: [n], properties: {n: {type: integer}}}}}}
      responses: {"200": {description: scored, content: {application/json: {schema: {type: object}}}}}
`, "SERVICE", service))},
	}
	if strings.Contains(document, "dsl:") {
		files = files[:1]
	}
	if _, err := s.at(0).API.DeployBundle(t.Context(), files, client.Deploy{}); err != nil {
		t.Fatal(err)
	}
}

// ended waits until an instance is over.
func (s *servers) ended(id string) api.Instance {
	s.t.Helper()
	for {
		in, err := s.at(0).API.GetInstance(s.t.Context(), id, time.Second)
		switch {
		case s.t.Context().Err() != nil:
			s.t.Fatal(err)
		case err == nil && in.Over():
			return in
		}
	}
}

// TestItemsOnNodes: the node that carries out a foreach is killed in the middle of it. Another one goes on, one item
// fails, and the retry of the failed items calls exactly that one.
func TestItemsOnNodes(t *testing.T) {
	const n, bad = 400, 317
	for _, c := range []struct {
		name, document string
		rest           int // items that the retry calls
	}{
		{"side by side", `
id: map
specVersion: "0.8"
name: Map
version: "1"
start: Each
functions: [{name: score, operation: score-api.yaml#score}]
states:
- {name: Each, type: foreach, inputCollection: "${ .list }", iterationParam: item, batchSize: 20, outputCollection: "${ .out }", actions: [{functionRef: {refName: score, arguments: {n: "${ .item }"}}}], end: true}
`, 1},
		{"one after the other", `
document: {dsl: "1.0.0", namespace: default, name: map, version: "1.0.0"}
do:
- each:
    for: {each: item, in: "${ .list }"}
    do:
    - score: {call: http, with: {method: post, endpoint: "SERVICE/score", body: {n: "${ $item }"}}}
`, n - bad},
	} {
		t.Run(c.name, func(t *testing.T) {
			service := &scores{asked: map[int]int{}, keys: map[string]bool{}, bad: bad, reach: n / 4, open: make(chan struct{})}
			web := httptest.NewServer(service)
			defer web.Close()
			s := newServers(t, 2)
			deployItems(t, s, c.document, web.URL)
			list := make([]int, n)
			for i := range list {
				list[i] = i
			}
			input, err := json.Marshal(map[string]any{"list": list})
			if err != nil {
				t.Fatal(err)
			}
			started, err := s.at(1).API.StartInstance(t.Context(), "map", client.Start{Input: input})
			if err != nil {
				t.Fatal(err)
			}
			<-service.open
			// Whichever node carries it out, the other one goes on with it: both are killed, one after the other.
			s.at(0).Kill()
			s.up(0)
			s.shared(2)
			s.at(1).Kill()
			s.up(1)
			failed := s.ended(started.ID)
			if failed.Status != "failed" || failed.Error == nil || failed.Error.Item == nil || failed.Error.Item.Index != bad {
				t.Fatalf("%s, %+v", failed.Status, failed.Error)
			}
			if p := failed.Progress; len(p) != 1 || p[0].Total != n || p[0].Failed != 1 || p[0].Done != n-c.rest {
				t.Errorf("progress %+v", p)
			}
			service.mend()
			if _, err := s.at(0).API.RetryInstance(t.Context(), started.ID, nil, client.Control{FailedItems: true}); err != nil {
				t.Fatal(err)
			}
			if done := s.ended(started.ID); done.Status != "completed" {
				t.Errorf("after the retry it is %s, %+v", done.Status, done.Error)
			}
			if service.asked[bad] != 1 || len(service.asked) != c.rest || len(service.keys) != c.rest {
				t.Errorf("the retry called %d items with %d keys, the bad one %d times", len(service.asked), len(service.keys), service.asked[bad])
			}
		})
	}
}
