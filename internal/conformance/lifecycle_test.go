package conformance

import (
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/expr/languages"
	"github.com/lockstep-workflows/lockstep/internal/scenario"
)

// TestLifecycleOfCases runs all cases of Open Workflow, and checks that the lifecycle events of each belong
// together: a task is created, then started, then it ends once, in one of three ways; and when its
// workflow has ended, none is left.
func TestLifecycleOfCases(t *testing.T) {
	paths, err := filepath.Glob("sw10/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	tasks := 0
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			dir, name := t.TempDir(), ""
			for _, f := range archive.Files {
				if write(t, filepath.Join(dir, f.Name), f.Data); f.Name == "scenario.yaml" {
					name = filepath.Join(dir, f.Name)
				}
			}
			if name == "" {
				return
			}
			file, err := scenario.Load(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			for i := range file.Scenarios {
				file.Scenarios[i].Expect = scenario.Expect{Lifecycle: &[]expr.Value{}}
			}
			for _, r := range scenario.Run(t.Context(), file, scenario.Options{Registry: registry, Languages: languages.All()}).Results {
				tasks += checkLifecycle(t, r.Name, r.Outcome.Lifecycle)
			}
		})
	}
	if tasks < 500 {
		t.Errorf("only %d tasks", tasks)
	}
}

func checkLifecycle(t *testing.T, name string, events []expr.Value) (tasks int) {
	t.Helper()
	type key struct{ workflow, task string }
	created, open, ended := map[key]int{}, map[key]int{}, map[string]bool{}
	for _, e := range events {
		typ, _ := e.Get("type")
		data, _ := e.Get("data")
		text := func(name string) string { v, _ := data.Get(name); return v.Str() }
		of := key{text("workflow"), text("task")}
		what, isTask := strings.CutPrefix(strings.TrimSuffix(typ.Str(), ".v1"), "io.serverlessworkflow.task.")
		if !isTask {
			what = strings.TrimPrefix(what, "io.serverlessworkflow.workflow.")
			of.workflow = text("name")
		}
		if ended[of.workflow] {
			t.Errorf("%s: %s comes after the end of the workflow", name, e)
		}
		switch {
		case !isTask && (what == "completed" || what == "faulted" || what == "cancelled"):
			ended[of.workflow] = true
			for k, n := range open {
				if k.workflow == of.workflow && n != 0 {
					t.Errorf("%s: the workflow is %s, and %s is not", name, what, k.task)
				}
			}
		case !isTask:
		case of.task == "":
			t.Errorf("%s: no task in %s", name, e)
		case what == "created":
			created[of]++
			tasks++
		case what == "started":
			created[of]--
			open[of]++
		case what == "completed" || what == "faulted" || what == "cancelled":
			open[of]--
		case open[of] < 1: // retried
			t.Errorf("%s: %s of a task that does not run", name, e)
		}
		if created[of] < 0 || open[of] < 0 {
			t.Errorf("%s: %s of a task that is not there", name, e)
		}
	}
	return tasks
}
