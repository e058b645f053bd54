package naive10

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// execute runs what a task is, on its transformed input. chosen is a directive that
// takes the place of the task's own.
func (in *instance) execute(t *thread, ptr string, def map[string]any, input any, sc scope) (out any, chosen string, err error) {
	inner := sc.without("input", "output", "task") // of the lists below
	switch kindOf(def) {
	case "do":
		out, _, err = in.list(t, ptr+"/do", list(def["do"]), input, inner)
	case "set":
		out, err = in.template(sc, def["set"], input)
	case "switch":
		chosen, err = in.choose(def, input, sc)
		out = input
	case "for":
		out, err = in.loop(t, ptr, def, input, sc)
	case "fork":
		out, err = in.fork(t, ptr, object(def["fork"]), input, inner)
	case "wait":
		out, err = input, in.wait(t, def["wait"], input, sc)
	case "raise":
		err = in.raise(object(def["raise"]), input, sc)
	case "emit":
		out, err = in.emit(t, object(def["emit"]), input, sc)
	case "call":
		out, err = in.call(t, ptr, def, input, sc)
	case "run":
		out, err = in.runWorkflow(t, ptr, object(def["run"]), input, sc)
	case "try":
		return in.try(t, ptr, def, input, sc)
	case "listen":
		out, err = in.listen(t, ptr, def, input, sc)
	}
	return out, chosen, err
}

// choose finds the directive of a switch.
func (in *instance) choose(def map[string]any, input any, sc scope) (string, error) {
	otherwise := ""
	for _, c := range list(def["switch"]) {
		_, entry := single(c)
		when, ok := entry["when"]
		if !ok {
			otherwise = text(entry["then"])
			continue
		}
		holds, err := in.truth(sc, when, input)
		if err != nil {
			return "", err
		}
		if holds {
			in.w.saw("a case that matches")
			return text(entry["then"]), nil
		}
	}
	if otherwise == "" {
		in.w.saw("a switch without a match")
	} else {
		in.w.saw("the default of a switch")
	}
	return otherwise, nil
}

// loop runs the tasks of a for once for each item; each iteration gets the output of the one before.
func (in *instance) loop(t *thread, ptr string, def map[string]any, input any, sc scope) (any, error) {
	head := object(def["for"])
	items, err := in.transform(sc, head["in"], input)
	if err != nil {
		return nil, err
	}
	all, ok := items.([]any)
	if !ok {
		in.w.saw("a collection that is no array")
		return nil, standard("expression")
	}
	if len(all) == 0 {
		in.w.saw("an empty collection")
	}
	each, at := named(head["each"], "item"), named(head["at"], "index")
	data := input
	for i, item := range all {
		with := sc.with(each, item).with(at, i)
		if cond, ok := def["while"]; ok {
			holds, err := in.truth(with, cond, data)
			if err != nil {
				return nil, err
			}
			if !holds {
				in.w.saw("a while that ends a loop")
				break
			}
		}
		if data, _, err = in.list(t, ptr+"/do", list(def["do"]), data, with.without("input", "output", "task")); err != nil {
			return nil, err
		}
	}
	return data, nil
}

// named is the name of a variable.
func named(v any, otherwise string) string {
	if name := text(v); name != "" {
		return name
	}
	return otherwise
}

// fork runs branches side by side. They begin in order of declaration; as soon as the
// outcome is certain, nothing more happens in any of them.
func (in *instance) fork(t *thread, ptr string, def map[string]any, input any, sc scope) (any, error) {
	type over struct {
		index int
		out   any
		err   error
	}
	branches := list(def["branches"])
	compete, _ := def["compete"].(bool)
	outs := make([]any, len(branches))
	if len(branches) == 0 {
		return outs, nil
	}
	b := t.box()
	left, joined := len(branches), false
	var began []*thread
	defer func() {
		b.closed = true
		for _, c := range began {
			if !c.dead {
				in.w.saw("a branch that is cancelled")
			}
			if !joined {
				in.w.decided(c)
			}
		}
		t.cancelChildren()
	}()
	settle := func(m over) (out any, done bool, err error) {
		left--
		outs[m.index] = m.out
		switch {
		case m.err != nil:
			in.w.saw("a branch that fails")
			return nil, true, m.err
		case compete:
			in.w.saw("a branch that wins")
			return m.out, true, nil
		}
		joined = left == 0
		return outs, joined, nil
	}
	for i, branch := range branches {
		c := in.w.spawn(t, func(t *thread) {
			out, err := in.branch(t, fmt.Sprintf("%s/fork/branches/%d", ptr, i), branch, input, sc)
			b.tell(over{i, out, err})
		})
		began = append(began, c)
		c.begin()
		for len(b.msgs) > 0 {
			if out, done, err := settle(b.receive().(over)); done {
				return out, err
			}
		}
	}
	for {
		if out, done, err := settle(b.receive().(over)); done {
			return out, err
		}
	}
}

// branch runs one branch of a fork: a list of one task.
func (in *instance) branch(t *thread, ptr string, branch, input any, sc scope) (any, error) {
	name, def := single(branch)
	for {
		out, next, err := in.task(t, ptr+"/"+escape(name), name, def, input, sc)
		switch {
		case err != nil:
			return nil, err
		case next == "end":
			in.w.saw("end in a branch")
			return nil, ended{out}
		case next != name:
			return out, nil
		}
		input = out
	}
}

func (in *instance) wait(t *thread, v, input any, sc scope) error {
	d, err := in.duration(sc, v, input)
	if err != nil {
		return err
	}
	if d > 0 {
		t.sleep(d)
	}
	return nil
}

// raise makes an error. Where it came from is not for the author to say.
func (in *instance) raise(def map[string]any, input any, sc scope) error {
	given, _ := in.named("errors", def["error"])
	e := map[string]any{"status": given["status"]}
	for _, key := range []string{"type", "title", "detail"} {
		if v, ok := given[key]; ok {
			var err error
			if e[key], err = in.template(sc, v, input); err != nil {
				return err
			}
		}
	}
	in.w.saw("an error that is raised")
	return &Error{e}
}

// emit makes an event. Its output is the whole event.
func (in *instance) emit(t *thread, def map[string]any, input any, sc scope) (any, error) {
	v, err := in.template(sc, object(def["event"])["with"], input)
	if err != nil {
		return nil, err
	}
	event := map[string]any{
		"specversion": "1.0", "id": fmt.Sprintf("emitted-%d", len(in.w.out.Produced)+1), "time": in.w.instant()["iso8601"],
		"source": "/" + in.Namespace + "/" + in.Workflow + "/" + in.Version,
	}
	for key, e := range object(v) {
		switch e.(type) {
		case []any, map[string]any:
			if key != "data" { // an attribute is text at the most
				e = string(Encode(e))
			}
		}
		event[key] = e
	}
	in.w.act(t, "", Answer{})
	in.w.meets(in, true)
	in.w.out.Produced = append(in.w.out.Produced, Produced{in.w.now, event})
	in.w.arrive(&arrival{event: event, from: in})
	return event, nil
}

// runWorkflow runs another workflow, and waits for it unless told otherwise.
func (in *instance) runWorkflow(t *thread, ptr string, def map[string]any, input any, sc scope) (any, error) {
	v, err := in.template(sc, def["workflow"], input)
	if err != nil {
		return nil, err
	}
	ref := object(v)
	in.w.later()
	child := in.w.definition(text(ref["namespace"]), text(ref["name"]), named(ref["version"], "latest"))
	switch {
	case child == nil && def["await"] == false: // nobody waits for the news
		return input, nil
	case child == nil:
		return nil, standard("configuration")
	}
	given := ref["input"]
	if given == nil { // null is none
		given = map[string]any{}
	}
	if def["await"] == false {
		in.w.saw("a child that nobody waits for")
		in.w.start(child, given).Child = true
		return input, nil
	}
	in.w.saw("a child")
	run := in.w.newInstance(child)
	run.Child = true
	out, err := run.run(t, given)
	in.w.later()
	if f := (*Error)(nil); errors.As(err, &f) {
		in.w.saw("a child that fails")
		e := map[string]any{}
		for key, v := range f.Object {
			e[key] = v
		}
		e["instance"] = ptr
		return nil, &Error{e}
	}
	return out, err
}

// definition finds a workflow by its reference; latest is the highest version.
func (w *world) definition(namespace, name, version string) (found map[string]any) {
	for _, def := range w.c.Definitions {
		document := object(def["document"])
		if document["namespace"] != namespace || document["name"] != name {
			continue
		}
		switch has := text(document["version"]); {
		case has == version:
			return def
		case version == "latest" && (found == nil || older(text(object(found["document"])["version"]), has)):
			found = def
		}
	}
	return found
}

// older compares two semantic versions: three numbers, of which a pre-release comes first.
func older(a, b string) bool {
	a, preA, _ := strings.Cut(strings.SplitN(a, "+", 2)[0], "-")
	b, preB, _ := strings.Cut(strings.SplitN(b, "+", 2)[0], "-")
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(x), len(y)) {
		m, _ := strconv.Atoi(x[i])
		n, _ := strconv.Atoi(y[i])
		if m != n {
			return m < n
		}
	}
	if (preA == "") != (preB == "") {
		return preA != ""
	}
	return preA < preB
}
