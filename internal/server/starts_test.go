package server

import (
	"strings"
	"testing"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/internal/store"
)

func TestStartInstances(t *testing.T) {
	eachStore(t, func(t *testing.T, s store.Store) {
		w := newWorld(t, s, nil)
		w.deploy("hello")
		const path = "/api/v1/definitions/hello/instances/bulk"
		body := `{"version":"1.0","starts":[{"key":"k1","input":{"name":"Ada"},"name":"Ada's","labels":{"of":"Ada"}},{"id":"i2"},{"input":{"name":"Grace"}}]}`
		first := w.do("POST", path, body).want(200).is("started", `3`).is("found", `0`).is("refused", `0`).is("items.1.id", `"i2"`)
		w.get("/api/v1/instances/"+first.t2("items.0.id")).want(200).is("name", `"Ada's"`).is("labels", `{"of":"Ada"}`).is("key", `"k1"`)
		w.get("/api/v1/instances/"+first.t2("items.2.id")).want(200).is("output", `{"greeting":"Hello, Grace"}`)

		// What has a key or an id is found; the rest is another start.
		again := w.do("POST", path, body).want(200).is("started", `1`).is("found", `2`).is("items.0.found", `true`)
		if again.t2("items.0.id") != first.t2("items.0.id") || again.t2("items.2.id") == first.t2("items.2.id") {
			t.Errorf("%s and %s", first.text, again.text)
		}
		// With a key of the request the rest is found, too.
		with := w.do("POST", path, body, "Idempotency-Key", "all").want(200).is("started", `1`)
		w.do("POST", path, body, "Idempotency-Key", "all").want(200).is("started", `0`).is("found", `3`).is("items.2.id", `"`+with.str("items.2.id")+`"`)
		w.get("/api/v1/instances/count").is("count", `5`)
		w.do("POST", path, `{"starts":[{"key":"all/1"},{},{}]}`, "Idempotency-Key", "other").want(200).is("started", `3`)
		w.do("POST", path, `{"starts":[{}]}`, "Idempotency-Key", strings.Repeat("x", maxKey-3)).problem(api.CodeBadParameter)

		// One that is refused does not keep the others from starting.
		w.do("POST", path, `{"starts":[{"key":"k1","input":{"name":"Eve"}},{"id":"i3"},{"id":"not an id"}]}`).want(200).is("started", `1`).is("refused", `2`).
			is("items.0.code", `"`+string(api.CodeKeyReused)+`"`).is("items.0.id", `null`).is("items.0.found", `null`).is("items.1.id", `"i3"`).is("items.2.code", `"`+string(api.CodeBadParameter)+`"`)
	})
}

// TestStartInstancesRefused: a mistake in the request is found before anything starts.
func TestStartInstancesRefused(t *testing.T) {
	w := newWorld(t, newMemory(), nil)
	w.deploy("hello")
	const path = "/api/v1/definitions/hello/instances/bulk"
	for body, pointer := range map[string]string{
		`{}`:                                    "/starts",
		`{"starts":[]}`:                         "/starts",
		`{"starts":{}}`:                         "/starts",
		`{"starts":[{"id":"a"},{"id":"a"}]}`:    "/starts/1",
		`{"starts":[{"key":"a"},{"key":"a"}]}`:  "/starts/1",
		`{"starts":[{"id":"a"},{"key":""}]}`:    "/starts/1/key",
		`{"starts":[{"id":"a"},{"key":"a b"}]}`: "/starts/1/key",
		`{"starts":[{"id":"a"},{"key":"` + strings.Repeat("x", maxKey+1) + `"}]}`: "/starts/1/key",
		`{"starts":[{"id":"a"},{"key":"b","id":"c"}]}`:                            "/starts/1/id",
		`{"starts":[{"id":"a"},{"input":null}]}`:                                  "/starts/1/input",
		`{"starts":[{"id":"a"},{"labels":{"n":1}}]}`:                              "/starts/1/labels",
	} {
		w.do("POST", path, body).problem(api.CodeInput).is("errors.0.pointer", `"`+pointer+`"`)
	}
	w.do("POST", path, `{"starts":[{"id":"a"},1]}`).problem(api.CodeBadJSON)
	w.do("POST", path, `{"starts":[{"id":"a"},{"Key":"b"}]}`).problem(api.CodeUnknownField)
	w.do("POST", path, `{"starts":[{}`+strings.Repeat(",{}", maxStarts)+`]}`).problem(api.CodeTooLarge)
	w.do("POST", strings.Replace(path, "hello", "none", 1), `{"starts":[{"id":"a"},{}]}`).problem(api.CodeNotFound)
	w.do("POST", path, `{"version":"9","starts":[{"id":"a"},{}]}`).problem(api.CodeNotFound)
	w.get("/api/v1/instances/count").is("count", `0`)
}
