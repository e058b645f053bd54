package main

import (
	"fmt"
	"testing"

	"github.com/lockstep-workflows/lockstep/event"
	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/engine"
)

// TestTenSetsAreOneCommit: tasks of 1.0 that only compute cost no transaction of their own.
func TestTenSetsAreOneCommit(t *testing.T) {
	for _, tasks := range []int{1, 10} {
		if got := costOfLoad(t, "sqlite", load{definition: pure10("sets", tasks)}); got.commits != 1 {
			t.Errorf("an instance of %d tasks is %.1f commits", tasks, got.commits)
		}
	}
}

// TestTasksCostTheSame: what a task costs does not depend on how many there are in its workflow. Allocations are
// counted; -pairs measures the time.
func TestTasksCostTheSame(t *testing.T) {
	for _, kind := range []struct {
		name string
		of   func(tasks int) string
	}{
		{"calls with data", func(tasks int) string { return calling10("data", tasks, withData10) }},
		{"sets", func(tasks int) string { return pure10("sets", tasks) }},
	} {
		t.Run(kind.name, func(t *testing.T) {
			few, many := costOfLoad(t, "memory", load{definition: kind.of(10)}), costOfLoad(t, "memory", load{definition: kind.of(400)})
			if many.allocations/400 > 1.2*few.allocations/10 {
				t.Errorf("a task of 400 costs %.1f allocations, one of 10 %.1f", many.allocations/400, few.allocations/10)
			}
		})
	}
}

// TestEventsOfAListenCostTheSame: each event of a listen is one commit, however many came before.
func TestEventsOfAListenCostTheSame(t *testing.T) {
	db, err := openDatabase(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	definition := fmt.Sprintf(head10, "meter") +
		"- a: {listen: {to: {any: [{with: {type: go}, correlate: {k: {from: .data.k, expect: k}}}, {with: {type: other}}], until: length == 101}}, output: {as: length}}\n"
	e, err := deployed(t.Context(), db.store, engine.Config{}, definition)
	if err != nil {
		t.Fatal(err)
	}
	defer started(t.Context(), e)()
	id, err := e.Start(t.Context(), engine.StartRequest{Definition: "meter", Input: expr.EmptyObject})
	if err != nil {
		t.Fatal(err)
	}
	send := func(i int) {
		ev := event.Event{ID: fmt.Sprint(i), Source: "bench", Type: "go", HasData: true, Data: expr.Object(expr.Member{Key: "k", Value: expr.String("k")})}
		if got, err := e.Send(t.Context(), ev); err != nil || len(got.Matched) != 1 {
			t.Fatalf("%+v, %v", got, err)
		}
	}
	send(0) // the first
	before := db.Counters().Transactions
	for i := range 100 {
		send(1 + i)
	}
	if got := db.Counters().Transactions - before; got != 100 {
		t.Errorf("100 events were %d transactions", got)
	}
	in, err := e.Wait(t.Context(), id)
	if err != nil || in.Output.String() != "101" {
		t.Errorf("the output is %s, %v", in.Output, err)
	}
}
