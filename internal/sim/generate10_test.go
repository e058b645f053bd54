package sim

import (
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/lockstep-workflows/lockstep/expr"
)

// features10 are what the cases of 1.0 must come by together, see Outcome.Reached.
var features10 = []string{
	"task call", "task do", "task emit", "task for", "task fork", "task listen", "task raise", "task run", "task set", "task switch", "task try", "task wait",
	"then continue", "then exit", "then end", "then a task", "exit", "end", "a way back", "a task that is skipped", "exit in the main list", "end in a branch",
	"export", "data that violates a schema", "data that satisfies a schema", "a text that is no expression, loosely", "a text that is an expression, loosely",
	"a case that matches", "the default of a switch", "a switch without a match",
	"a collection that is no array", "an empty collection", "a while that ends a loop",
	"a branch that fails", "a branch that wins", "a branch that is cancelled",
	"an error that is raised", "an error that is not caught", "an error that is handled", "an error that is swallowed", "an error that goes on after retries", "catch.then",
	"a retry", "retries used up", "no time for another retry", "a linear backoff", "an exponential backoff", "a jitter", "a when that refuses", "an exceptWhen that refuses",
	"the timeout of a task", "the timeout of a workflow", "the timeout of an attempt", "use.timeouts", "use.retries", "use.errors",
	"events: one", "events: any", "events: all", "until a condition", "until events", "every event", "foreach", "an early event", "an event of its own",
	"an event with the right correlation", "an event with another correlation", "a start by events", "a start that needs several events",
	"a child", "a child that fails", "a child that nobody waits for", "a function of the definition", "a call that fails",
	"before", "after", "a task that an extension replaces", "an extension that does not apply",
	"an instance that is completed", "an instance that is failed", "an instance that is cancelled", "an instance that is waiting",
}

// TestFiles10: what is printed of a case reads back as it was.
func TestFiles10(t *testing.T) {
	d := (&Case{Dialect: "sw10"}).language()
	for seed := uint64(1); seed <= 100; seed++ {
		a := d.Generate(seed)
		names, files := a.Files()
		for i, def := range append([]expr.Value{a.Def}, a.Subs...) {
			var v any
			if err := yaml.Unmarshal([]byte(files[names[i]]), &v); err != nil {
				t.Fatalf("seed %d: %v in\n%s", seed, err, files[names[i]])
			}
			got, err := expr.FromGo(v)
			if err != nil || !expr.Equal(got, def) {
				t.Fatalf("seed %d: %s reads back as\n%s, was\n%s", seed, names[i], got, def)
			}
		}
	}
}
