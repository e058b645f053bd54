package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http/httptest"
	"time"

	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/internal/dialect"
	"github.com/lockstep-workflows/lockstep/internal/dialect/sw05"
	"github.com/lockstep-workflows/lockstep/internal/engine"
	"github.com/lockstep-workflows/lockstep/internal/expr/languages"
	"github.com/lockstep-workflows/lockstep/internal/server"
	"github.com/lockstep-workflows/lockstep/internal/store/memory"
)

// newServer is a server in this process; `lockstep serve` is one of its own.
func newServer() *httptest.Server {
	e, err := engine.New(engine.Config{Store: memory.New(), Languages: languages.All()})
	if err != nil {
		log.Fatal(err)
	}
	s, err := server.New(server.Config{Engine: e, Registry: dialect.NewRegistry(sw05.FrontEnd{})})
	if err != nil {
		log.Fatal(err)
	}
	return httptest.NewServer(s.Handler())
}

func Example() {
	srv := newServer()
	defer srv.Close()
	c, err := client.New(client.Options{URL: srv.URL})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()

	ctx := context.Background()
	definition := `
id: hello
name: Hello
version: "1.0"
states:
- {name: Greet, type: inject, start: {kind: default}, data: {greeting: "Hello, {{ $.name }}"}, stateDataFilter: {dataOutputPath: "{{ $.greeting }}"}, end: {kind: default}}
`
	d, created, err := c.DeployDefinition(ctx, []byte(definition), client.Deploy{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(d.ID, d.Version, created)

	in, err := c.StartInstance(ctx, "hello", client.Start{Input: json.RawMessage(`{"name":"Ada"}`), Wait: 20 * time.Second})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(in.Status, string(in.Output))

	for rec, err := range client.All(func(after string) (api.Page[api.Record], error) {
		return c.GetHistory(ctx, in.ID, client.Paging{Limit: 2, After: after})
	}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(rec.Seq, rec.Type)
	}
	// Output:
	// hello 1.0 true
	// completed {"greeting":"Hello, Ada"}
	// 1 started
	// 2 entered
	// 3 left
	// 4 finished
}
