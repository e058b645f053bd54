package server

import (
	"testing"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

const scoreEach = `id: scores
version: "1.0"
name: Scores
functions: [{name: score}]
states:
- name: Score
  type: foreach
  start: {kind: default}
  inputCollection: "{{ $.items }}"
  iterationParam: item
  outputCollection: "{{ $.scores }}"
  actions: [{functionRef: {refName: score, parameters: {n: "{{ $.item.n }}"}}}]
  end: {kind: default}
`

// TestItems: the items of a foreach that failed, page by page and by status.
func TestItems(t *testing.T) {
	eachStore(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s, nil)
		w.put(scoreEach, "").want(201)
		w.answers.put("score", func(c effect.Call) effect.Outcome {
			if n, _ := c.Args.Get("n"); n.String() == "1" {
				return effect.Fail(effect.Failure{Name: "Bad", Detail: "no such article"})
			}
			return ok("scored")(c)
		})
		id := w.start("scores", `{"items":[{"n":0},{"n":1},{"n":2}]}`)
		w.reach(id, "failed")
		at := "/api/v1/instances/" + id + "/items"
		w.get(at).want(200).is("items.0.index", "0").is("items.0.status", `"done"`).is("items.0.item", `{"n":0}`).
			is("items.1.status", `"failed"`).is("items.1.error.name", `"Bad"`).is("items.2.index", "2").is("next", "null")
		w.get(at+"?status=failed,inFlight").want(200).is("items.0.index", "1").is("items.1", "null")
		first := w.get(at+"?state=Score&limit=2").want(200).is("items.1.index", "1").is("items.2", "null")
		w.get(at+"?state=Score&limit=2&after="+first.str("next")).want(200).is("items.0.index", "2").is("next", "null")
		w.get(at + "?status=broken").problem(api.CodeBadParameter)
		w.get(at + "?after=x").problem(api.CodeBadCursor)
		w.get(at + "?state=Other").problem(api.CodeNotFound)
		w.get("/api/v1/instances/none/items").problem(api.CodeNotFound)
		w.do("POST", "/api/v1/instances/"+id+"/retry", `{"failedItems":true}`).want(200)
	})
}
