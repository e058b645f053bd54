package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/lockstep-workflows/lockstep/effect"
	"github.com/lockstep-workflows/lockstep/internal/engine"
)

// pair is two loads whose costs are compared, by what each is counted in.
type pair struct {
	name string
	of   [2]load
	per  [2]int // tasks in an instance
}

// pairs returns all pairs in the order of the table.
func pairs() []pair {
	return []pair{
		{"W10: 0.5, 1.0", [2]load{{definition: calling("w10", 10)}, {definition: calling10("w10-10", 10, "")}}, [2]int{10, 10}},
		{"W10, with data: 0.5, 1.0", [2]load{{definition: strings.ReplaceAll(calling("w10-data5", 10), "{refName: f}", `{refName: f, parameters: {key: "{{ $.key }}"}}`)}, {definition: calling10("w10-data", 10, withData10)}}, [2]int{10, 10}},
		{"P10: 0.5, 1.0", [2]load{{definition: pure("p10", 10)}, {definition: pure10("p10-10", 10)}}, [2]int{10, 10}},
		{"calls, 1.0: of 10, of 400", [2]load{{definition: calling10("w10-10", 10, "")}, {definition: calling10("w400-10", 400, "")}}, [2]int{10, 400}},
		{"set, 1.0: of 10, of 400", [2]load{{definition: pure10("p10-10", 10)}, {definition: pure10("p400-10", 400)}}, [2]int{10, 400}},
	}
}

// withData10 gives a call an argument, and adds its result to the data.
const withData10 = `, with: {key: "${ .key }"}, output: {as: "$input + ."}`

const head10 = "document: {dsl: 1.0.3, namespace: default, name: %s, version: 1.0.0}\ndo:\n"

// calling10 is a row of tasks of Open Workflow 1.0 that call a function each.
func calling10(id string, tasks int, more string) string {
	var b strings.Builder
	fmt.Fprintf(&b, head10, id)
	for i := range tasks {
		fmt.Fprintf(&b, "- s%d: {call: f%s}\n", i, more)
	}
	return b.String()
}

// pure10 is a row of tasks of Open Workflow 1.0 that only compute.
func pure10(id string, tasks int) string {
	var b strings.Builder
	fmt.Fprintf(&b, head10, id)
	for i := range tasks {
		fmt.Fprintf(&b, "- s%d: {set: {v%d: %d}}\n", i, i, i)
	}
	return b.String()
}

// turns is how often the loads of a pair take turns, so that whatever else the machine does meets both.
const turns = 5

// reportPairs prints what a task costs in both loads of each pair.
func reportPairs(ctx context.Context, o options) error {
	fmt.Printf("%-28s%10s%14s%14s%8s%12s%12s%8s\n", "pair", "in flight", "tasks/s", "tasks/s", "ratio", "CPU/task", "CPU/task", "ratio")
	for _, p := range pairs() {
		for _, n := range o.inFlight {
			if err := p.measure(ctx, o, n); err != nil {
				return fmt.Errorf("%s with %d in flight: %w", p.name, n, err)
			}
		}
	}
	return nil
}

func (p pair) measure(ctx context.Context, o options, n int) error {
	s, err := openStore(o.store)
	if err != nil {
		return err
	}
	defer s.close()
	e, err := deployed(ctx, s.Store, engine.Config{Invoker: effect.Func(constant)}, p.of[0].definition, p.of[1].definition)
	if err != nil {
		return err
	}
	defer started(ctx, e)()
	var tasks [2]int
	var took, used [2]time.Duration
	for turn := range 1 + turns {
		for i, l := range p.of {
			program, err := compile(l.definition)
			if err != nil {
				return err
			}
			w := &whole{Engine: e, load: l, name: program.ID}
			before := ownCPU()
			got, err := closedLoop(ctx, n, o.time/turns, w.one)
			if err != nil {
				return err
			}
			if turn == 0 {
				continue // caches and prepared statements
			}
			tasks[i] += got.count * p.per[i]
			took[i] += got.took
			used[i] += ownCPU() - before
		}
	}
	rate := func(i int) float64 { return float64(tasks[i]) / took[i].Seconds() }
	cost := func(i int) float64 { return float64(used[i].Microseconds()) / float64(tasks[i]) }
	fmt.Printf("%-28s%10d%14.0f%14.0f%8.2f%10.1fµs%10.1fµs%8.2f\n", p.name, n, rate(0), rate(1), rate(1)/rate(0), cost(0), cost(1), cost(0)/cost(1))
	return nil
}
