package naive10

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// scope is what expressions see besides their data and what every expression sees.
type scope struct {
	vars     map[string]any // task, input, output, and variables of loops, iterators and catches
	extended map[string]any // inside an extension: the descriptor of the task that is extended
	function string         // inside a function: its name
	name     string         // of the task
}

func (sc scope) with(name string, v any) scope {
	sc.vars = maps.Clone(sc.vars)
	if sc.vars == nil {
		sc.vars = map[string]any{}
	}
	sc.vars[name] = v
	return sc
}

func (sc scope) without(names ...string) scope {
	sc.vars = maps.Clone(sc.vars)
	for _, name := range names {
		delete(sc.vars, name)
	}
	return sc
}

// list runs tasks one after another, as their directives say.
func (in *instance) list(t *thread, ptr string, tasks []any, data any, sc scope) (out any, exited bool, err error) {
	for i := 0; i < len(tasks); {
		name, def := single(tasks[i])
		var next string
		data, next, err = in.task(t, fmt.Sprintf("%s/%d/%s", ptr, i, escape(name)), name, def, data, sc)
		if err != nil {
			return nil, false, err
		}
		switch next {
		case "continue":
			i++
		case "exit":
			in.w.saw("exit")
			return data, true, nil
		case "end":
			in.w.saw("end")
			return nil, false, ended{data}
		default:
			to := slices.IndexFunc(tasks, func(task any) bool { n, _ := single(task); return n == next })
			if to < 0 {
				panic("naive10: no task " + next)
			}
			if to <= i {
				in.w.saw("a way back")
			}
			i = to
		}
	}
	return data, false, nil
}

// task runs one task, if its condition holds, and gives its directive.
func (in *instance) task(t *thread, ptr, name string, def map[string]any, raw any, sc scope) (out any, next string, err error) {
	w := in.w
	if w.tasks++; w.tasks > maxTasks {
		w.halt(t)
	}
	descriptor := map[string]any{"name": name, "reference": ptr, "definition": def, "input": raw, "startedAt": w.instant()}
	sc = sc.without("input", "output", "task").with("task", descriptor)
	sc.name = name
	if sc.extended != nil {
		sc = sc.with("task", sc.extended)
	}
	if cond, ok := def["if"]; ok {
		holds, err := in.truth(sc, cond, raw)
		if err != nil {
			return nil, "", placed(err, ptr)
		}
		if !holds {
			w.saw("a task that is skipped")
			return raw, "continue", nil
		}
	}
	if strings.Count(ptr, "/") == 3 && strings.HasPrefix(ptr, "/do/") {
		in.Path = append(in.Path, name)
	}
	run := w.record(name, ptr)
	out, next, err = in.extend(t, ptr, def, raw, sc, descriptor)
	w.close(run, out, err)
	return out, next, err
}

// extend runs a task that is not skipped, and the extensions that apply to it.
func (in *instance) extend(t *thread, ptr string, def map[string]any, raw any, sc scope, descriptor map[string]any) (out any, next string, err error) {
	w := in.w
	w.saw("task " + kindOf(def))
	next = "continue"
	if then, ok := def["then"].(string); ok {
		next = then
		w.saw("then " + directive(then))
	}
	extensions, err := in.extensions(def, sc, raw)
	if err != nil {
		return nil, "", placed(err, ptr)
	}
	for _, x := range extensions {
		w.saw("before")
		out, exited, err := in.list(t, x.ptr+"/before", list(x.def["before"]), raw, x.scope)
		if err != nil {
			return nil, "", err
		}
		if exited {
			w.saw("a task that an extension replaces")
			return out, next, nil
		}
	}
	var gave any
	out, chosen, err := in.perform(t, ptr, def, raw, sc, descriptor, &gave)
	if err != nil {
		return nil, "", placed(err, ptr)
	}
	if chosen != "" {
		next = chosen
	}
	for _, x := range slices.Backward(extensions) {
		w.saw("after")
		x.scope.extended = maps.Clone(x.scope.extended)
		x.scope.extended["output"] = gave
		x.scope = x.scope.with("task", x.scope.extended)
		if _, _, err := in.list(t, x.ptr+"/after", list(x.def["after"]), out, x.scope); err != nil {
			return nil, "", err
		}
	}
	return out, next, nil
}

// directive is a directive for the coverage: that some task is named, not which.
func directive(then string) string {
	if then == "continue" || then == "exit" || then == "end" {
		return then
	}
	return "a task"
}

// perform is the data flow of a task: input, the task itself, output, export. chosen is the directive
// that takes the place of the task's own, gave the raw output.
func (in *instance) perform(t *thread, ptr string, def map[string]any, raw any, sc scope, descriptor map[string]any, gave *any) (out any, chosen string, err error) {
	input, err := in.incoming(sc, object(def["input"]), raw)
	if err != nil {
		return nil, "", err
	}
	inner := sc.with("input", input)
	if limit, ok := in.named("timeouts", def["timeout"]); ok {
		d, err := in.duration(inner, limit["after"], input)
		if err != nil {
			return nil, "", err
		}
		var failed error
		if t.within(d, func(t *thread) { out, chosen, failed = in.execute(t, ptr, def, input, inner) }) {
			in.w.saw("the timeout of a task")
			return nil, "", standard("timeout")
		}
		err = failed
		if err != nil {
			return nil, "", err
		}
	} else if out, chosen, err = in.execute(t, ptr, def, input, inner); err != nil {
		return nil, "", err
	}
	*gave = out
	done := maps.Clone(descriptor)
	done["output"] = out
	if sc.extended == nil {
		inner = inner.with("task", done)
	}
	output := object(def["output"])
	if out, err = in.transform(inner, output["as"], out); err != nil {
		return nil, "", err
	}
	if err := in.validate(output, out); err != nil {
		return nil, "", err
	}
	return out, chosen, in.export(t, object(def["export"]), inner.with("output", out), out)
}

// export replaces the context.
func (in *instance) export(t *thread, export map[string]any, sc scope, out any) error {
	as, ok := export["as"]
	if ok {
		in.w.saw("export")
		in.w.act(t, "", Answer{})
		in.touches(true)
		context, err := in.transform(sc, as, out)
		if err != nil {
			return err
		}
		in.context = context
	}
	return in.validate(export, in.context)
}

// extension is one that applies to a task.
type extension struct {
	ptr   string
	def   map[string]any
	scope scope
}

// extensions lists those that apply to a task, in order of declaration.
func (in *instance) extensions(def map[string]any, sc scope, raw any) ([]extension, error) {
	if sc.extended != nil {
		return nil, nil
	}
	kind := kindOf(def)
	if kind == "do" || kind == "fork" {
		kind = "composite"
	}
	extended := maps.Clone(def) // examples read members of the definition
	delete(extended, "output")  // of a task that is what it gave
	maps.Copy(extended, object(sc.vars["task"]))
	inside := scope{extended: extended, vars: map[string]any{"task": extended}}
	var found []extension
	for i, entry := range list(object(in.def["use"])["extensions"]) {
		name, x := single(entry)
		if extend := text(x["extend"]); extend != "all" && extend != kind {
			continue
		}
		if when, ok := x["when"]; ok {
			holds, err := in.truth(inside, when, raw)
			if err != nil {
				return nil, err
			}
			if !holds {
				in.w.saw("an extension that does not apply")
				continue
			}
		}
		found = append(found, extension{fmt.Sprintf("/use/extensions/%d/%s", i, escape(name)), x, inside})
	}
	return found, nil
}

var kinds = []string{"for", "do", "call", "emit", "fork", "listen", "raise", "run", "set", "switch", "try", "wait"}

func kindOf(def map[string]any) string {
	for _, kind := range kinds {
		if _, ok := def[kind]; ok {
			return kind
		}
	}
	panic("naive10: a task of no kind")
}

// record notes that a task begins, and close that it is over.
func (w *world) record(name, ptr string) *TaskRun {
	w.marks++
	run := &TaskRun{Name: name, Reference: ptr, Status: Cancelled, Began: w.marks}
	w.out.Tasks = append(w.out.Tasks, run)
	return run
}

func (w *world) close(run *TaskRun, out any, err error) {
	w.marks++
	run.Ended = w.marks
	if f := (*Error)(nil); errors.As(err, &f) {
		run.Status, run.Error = Failed, f.Object
	} else {
		run.Status, run.Output = Completed, out
	}
}
