package lockstep_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http/httptest"
	"testing/fstest"

	"github.com/lockstep-workflows/lockstep"
	"github.com/lockstep-workflows/lockstep/api"
	"github.com/lockstep-workflows/lockstep/client"
	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
)

type person struct {
	Name string `json:"name"`
}

type greeting struct {
	Text string `json:"text"`
}

const hello = `
id: hello
name: Say hello
version: "1.0"
functions: [{name: greet}]
states:
- name: Greet
  type: operation
  start: {kind: default}
  actions: [{functionRef: {refName: greet, parameters: {name: "{{ $.name }}"}}}]
  end: {kind: default}
`

func greet(_ context.Context, p person) (greeting, error) {
	return greeting{"Hello, " + p.Name}, nil
}

// A workflow that calls a Go function, run to its end. Its steps are in a SQLite file: if the
// program crashes in between, the next one that opens the file continues.
func Example() {
	ctx := context.Background()
	engine, err := lockstep.Open(ctx, "sqlite:"+file("hello.db"), lockstep.Func("greet", greet))
	if err != nil {
		log.Fatal(err)
	}
	defer engine.Close()
	_, err = engine.Deploy(ctx, lockstep.Text(`
id: hello
name: Say hello
version: "1.0"
functions: [{name: greet}]
states: [{name: Greet, type: operation, start: {kind: default}, end: {kind: default},
  actions: [{functionRef: {refName: greet, parameters: {name: "{{ $.name }}"}}}]}]`))
	if err != nil {
		log.Fatal(err)
	}
	instance, err := engine.Run(ctx, "hello", person{"Ada"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(instance.Status, string(instance.Output))
	// Output: completed {"name":"Ada","text":"Hello, Ada"}
}

// The output of an instance that completed becomes a Go value. Of another one it is an error.
func ExampleOutput() {
	engine := open(lockstep.Func("greet", greet))
	defer engine.Close()
	deploy(engine, lockstep.Text(hello))
	instance, err := engine.Run(context.Background(), "hello", person{"Ada"})
	if err != nil {
		log.Fatal(err)
	}
	out, err := lockstep.Output[greeting](instance)
	fmt.Println(out.Text, err)
	// Output: Hello, Ada <nil>
}

// The error of a function fails the call. The definition handles it by its name.
func ExampleFunc() {
	ctx := context.Background()
	charge := func(ctx context.Context, in struct{ Amount int }) (struct{}, error) {
		if in.Amount > 100 {
			return struct{}{}, &effect.Failure{Name: "Declined", Detail: "the card has a limit"}
		}
		fmt.Println("charged once for each key:", lockstep.CallKey(ctx) != "")
		return struct{}{}, nil
	}
	engine := open(lockstep.Func("charge", charge))
	defer engine.Close()
	deploy(engine, lockstep.Text(`
id: pay
name: Pay
version: "1.0"
functions: [{name: charge}]
states:
- name: Charge
  type: operation
  start: {kind: default}
  actions: [{functionRef: {refName: charge, parameters: {amount: "{{ $.amount }}"}}}]
  onErrors:
  - {error: Declined, transition: {nextState: Apologise}}
  end: {kind: default}
- {name: Apologise, type: inject, data: {paid: false}, end: {kind: default}}
`))
	for _, amount := range []int{50, 500} {
		in, err := engine.Run(ctx, "pay", map[string]int{"amount": amount})
		fmt.Println(in.Status, string(in.Output), err)
	}
	// Output:
	// charged once for each key: true
	// completed {"amount":50} <nil>
	// completed {"amount":500,"paid":false} <nil>
}

// A definition may refer to other files of its file system.
func ExampleFile() {
	files := fstest.MapFS{
		"flows/hello.yaml": {Data: []byte(`
id: hello
name: Say hello
version: "1.0"
functions: functions.yaml
states:
- {name: Greet, type: operation, start: {kind: default}, actions: [{functionRef: {refName: greet}}], end: {kind: default}}
`)},
		"flows/functions.yaml": {Data: []byte("functions: [{name: greet}]")},
	}
	engine := open(lockstep.Func("greet", greet))
	defer engine.Close()
	definition, err := engine.Deploy(context.Background(), lockstep.File(files, "flows/hello.yaml"))
	fmt.Println(definition.ID, definition.Version, err)
	// Output: hello 1.0 <nil>
}

// Under a key a request may be repeated: it starts one instance.
func ExampleKey() {
	ctx := context.Background()
	engine := open(lockstep.Func("greet", greet))
	defer engine.Close()
	deploy(engine, lockstep.Text(hello))
	first, err := engine.Start(ctx, "hello", person{"Ada"}, lockstep.Key("request-17"))
	if err != nil {
		log.Fatal(err)
	}
	again, err := engine.Start(ctx, "hello", person{"Ada"}, lockstep.Key("request-17"))
	fmt.Println(first == again, err)
	// Output: true <nil>
}

// An event starts an instance or lets one continue that waits for it.
func ExampleEngine_Send() {
	ctx := context.Background()
	engine := open()
	defer engine.Close()
	deploy(engine, lockstep.Text(`
id: approval
name: Wait for a decision
version: "1.0"
events:
- {name: Decided, type: order.decided, source: office}
states:
- {name: Prepare, type: inject, start: {kind: default}, data: {asked: true}, transition: {nextState: Decide}}
- {name: Decide, type: event, onEvents: [{eventRefs: [Decided]}], end: {kind: default}}
`))
	id, err := engine.Start(ctx, "approval", nil)
	if err != nil {
		log.Fatal(err)
	}
	sent, err := engine.Send(ctx, event.Event{
		ID: "1", Source: "office", Type: "order.decided",
		Data: expr.Object(expr.Member{Key: "approved", Value: expr.Bool(true)}), HasData: true,
	})
	if err != nil {
		log.Fatal(err)
	}
	in, err := engine.Wait(ctx, id)
	fmt.Println(sent.Result, len(sent.Matched), string(in.Output), err)
	// Output: accepted 1 {"approved":true,"asked":true} <nil>
}

// The records of an instance tell what it does, while it does it.
func ExampleEngine_Watch() {
	ctx := context.Background()
	engine := open(lockstep.Func("greet", greet))
	defer engine.Close()
	deploy(engine, lockstep.Text(hello))
	id, err := engine.Start(ctx, "hello", person{"Ada"})
	if err != nil {
		log.Fatal(err)
	}
	for record, err := range engine.Watch(ctx, id) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(record.Seq, record.Type)
	}
	// Output:
	// 1 started
	// 2 entered
	// 3 called
	// 4 returned
	// 5 left
	// 6 finished
}

// A filter selects instances.
func ExampleEngine_List() {
	ctx := context.Background()
	engine := open(lockstep.Func("greet", greet))
	defer engine.Close()
	deploy(engine, lockstep.Text(hello))
	for _, name := range []string{"Ada", "Grace"} {
		if _, err := engine.Run(ctx, "hello", person{name}); err != nil {
			log.Fatal(err)
		}
	}
	for in, err := range engine.List(ctx, "def:hello status:completed") {
		if err != nil {
			log.Fatal(err)
		}
		full, err := engine.Get(ctx, in.ID)
		fmt.Println(string(full.Output), err)
	}
	// Output:
	// {"name":"Grace","text":"Hello, Grace"} <nil>
	// {"name":"Ada","text":"Hello, Ada"} <nil>
}

// An operator may pause an instance, resume it, cancel it or end it at once.
func ExampleEngine_Terminate() {
	ctx := context.Background()
	engine := open()
	defer engine.Close()
	deploy(engine, lockstep.Text(`
id: nap
name: Sleep for a year
version: "1.0"
states: [{name: Sleep, type: delay, start: {kind: default}, timeDelay: P365D, end: {kind: default}}]
`))
	id, err := engine.Start(ctx, "nap", nil)
	if err != nil {
		log.Fatal(err)
	}
	in, err := engine.Terminate(ctx, id, "nobody waits for it")
	fmt.Println(in.Status, err)
	_, err = engine.Resume(ctx, id, "")
	var refused *lockstep.Error
	if errors.As(err, &refused) {
		fmt.Println(refused.Code, refused.Allowed)
	}
	// Output:
	// terminated <nil>
	// not-allowed-now [restart delete]
}

// The HTTP API and the page can be mounted in a server of the program.
func ExampleEngine_Handler() {
	ctx := context.Background()
	engine := open(lockstep.Func("greet", greet))
	defer engine.Close()
	deploy(engine, lockstep.Text(hello))
	srv := httptest.NewServer(engine.Handler())
	defer srv.Close()

	c, err := client.New(client.Options{URL: srv.URL})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	list, err := c.ListDefinitions(ctx, client.DefinitionQuery{})
	fmt.Println(len(list.Items), err)
	// Output: 1 <nil>
}

// Everything that is wrong with a document is in the error.
func ExampleError() {
	engine := open()
	defer engine.Close()
	_, err := engine.Deploy(context.Background(), lockstep.Text(`
id: hello
name: Say hello
version: "1.0"
states: [{name: Greet, type: injekt, start: {kind: default}, end: {kind: default}}]
`))
	var invalid *lockstep.Error
	if errors.As(err, &invalid) && invalid.Code == api.CodeInvalid {
		for _, d := range invalid.Errors {
			fmt.Println(d.Line, d.Column, d.Code, d.Message)
		}
	}
	// Output:
	// 5 10 SW317 state "Greet" has no "data": it injects nothing
	// 5 30 SW104 unknown state type "injekt"
}
