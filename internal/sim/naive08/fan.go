package naive08

import (
	"errors"
	"fmt"
	"strconv"
)

// ended is how a branch, an iteration or a parallel action tells that it is over.
type ended struct {
	index int
	got   []contribution
	err   error
}

// parallel runs the branches, each on a copy of the data. What those that count merged is
// applied to the state's data in the order of declaration.
func (fr *frame) parallel(t *thread, data any) (any, error) {
	in, st := fr.in, fr.st
	branches := list(st["branches"])
	in.w.saw("parallel " + text(st["completionType"]))
	need := len(branches)
	switch st["completionType"] {
	case "xor":
		need = 1
	case "n_of_m", "atLeast":
		n := st["n"]
		if st["completionType"] == "atLeast" {
			n = st["numCompleted"]
		}
		var err error
		if need, err = in.number(n, data); err != nil {
			return data, err
		}
		if need < 1 || need > len(branches) {
			in.w.isOpen(openNeed)
		}
	}
	b, began := t.box(), in.w.now
	for i, branch := range branches {
		in.w.spawn(t, func(t *thread) {
			got, err := fr.branch(t, i, object(branch), data)
			b.post(ended{i, got, err})
		})
	}
	results := make([][]contribution, len(branches))
	for range need {
		e := b.receive().(ended)
		if e.err != nil {
			in.w.first()
			in.w.losers(t, began)
			in.w.saw("a failing branch")
			return data, e.err
		}
		results[e.index] = e.got
	}
	if need < len(branches) {
		in.w.first()
		in.w.losers(t, began)
		in.w.saw("a branch that is not needed")
	}
	out := data
	for _, got := range results {
		var err error
		if out, err = in.apply(out, got); err != nil {
			return data, err
		}
	}
	return out, nil
}

// branch runs one branch within its time.
func (fr *frame) branch(t *thread, i int, branch map[string]any, data any) (got []contribution, err error) {
	in := fr.in
	if id := text(branch["workflowId"]); id != "" { // 0.6
		out, err := in.child(t, id, "", data)
		return []contribution{in.unnamed(out)}, err
	}
	ptr := fmt.Sprintf("%s/branches/%d", fr.ptr, i)
	deadline := never
	if limit, ok := in.timeout("branchExecTimeout", branch, fr.st); ok {
		d, err := in.duration(limit, data, nil)
		if err != nil {
			return nil, err
		}
		deadline = in.w.now + d
	}
	if t.until(deadline, func(t *thread) { got, err = fr.actions(t, ptr+"/actions", branch, scope{own: data}) }) {
		in.w.saw("the timeout of a branch")
		return nil, timeout(fr.ptr, false)
	}
	return got, err
}

// foreach runs the actions for each item and appends the results in the order of the items. A failing item ends it at
// once where that is handled, or where items come one after the other; else when the others are done (semantics.md
// §Control flow: ForEach).
func (fr *frame) foreach(t *thread, data any) (any, error) {
	in, st := fr.in, fr.st
	v, some, err := in.eval(text(st["inputCollection"]), data, nil)
	if err != nil {
		return data, err
	}
	items, ok := v.([]any)
	if !ok || !some {
		in.w.saw("a collection that is no array")
		return data, &Fault{Name: "DataError"}
	}
	if len(items) == 0 {
		in.w.saw("an empty collection")
	}
	window, batches, err := fr.window(len(items), data)
	if err != nil {
		return data, err
	}
	b, began := t.box(), in.w.now
	begin := func(i int) {
		began = in.w.now
		in.w.spawn(t, func(t *thread) {
			got, err := fr.iteration(t, data, items[i])
			b.post(ended{i, got, err})
		})
	}
	results := make([]any, len(items))
	begun, over := 0, 0
	failed, first := error(nil), len(items)
	for over < len(items) {
		for begun < len(items) && begun-over < window && !(batches && begun%window == 0 && over < begun) {
			begin(begun)
			begun++
		}
		e := b.receive().(ended)
		if f := (*Fault)(nil); errors.As(e.err, &f) && window > 1 && !f.final && !fr.handles(f) {
			in.w.saw("items that go on after a failing one")
			if e.index < first {
				failed, first = e.err, e.index
			}
			over++
			continue
		}
		if e.err != nil {
			in.w.first()
			in.w.losers(t, began)
			in.w.saw("a failing iteration")
			return data, e.err
		}
		results[e.index] = in.element(e.got)
		over++
	}
	if failed != nil {
		return data, failed
	}
	target := text(st["outputCollection"])
	if target == "" {
		return data, nil
	}
	return in.appendTo(data, in.place(target), results)
}

// window is how many iterations may run at a time, and whether the next ones wait for all of these.
func (fr *frame) window(items int, data any) (n int, batches bool, err error) {
	in, st := fr.in, fr.st
	n = max(items, 1)
	switch {
	case st["mode"] == "sequential":
		in.w.saw("a sequential foreach")
		return 1, false, nil
	case st["max"] != nil: // 0.6: at a time
		most, err := in.number(st["max"], data)
		if most > 0 && most < items {
			in.w.saw("a foreach that is held back by max")
			n = most
		}
		return n, false, err
	case st["batchSize"] != nil:
		size, err := in.number(st["batchSize"], data)
		if size < items {
			in.w.saw("a foreach in batches")
			n = size
		}
		return n, true, err
	}
	return n, false, nil
}

// iteration runs the work for one item. Its data is the item alone; the state's data can be seen besides.
func (fr *frame) iteration(t *thread, data, item any) ([]contribution, error) {
	in, st := fr.in, fr.st
	param := text(st["iterationParam"])
	if param == "" {
		param = "item"
	}
	own := map[string]any{param: item}
	if id := text(st["workflowId"]); id != "" { // 0.6
		out, err := in.child(t, id, "", own)
		return []contribution{{value: out, some: true}}, err
	}
	return fr.actions(t, fr.ptr+"/actions", st, scope{own: own, under: data, vars: map[string]any{param: item}, iterates: true})
}

// element is what an iteration gives: the result of its one action, or the merged results.
func (in *instance) element(got []contribution) any {
	if len(got) == 0 {
		in.w.isOpen(openNothing)
	}
	if len(got) == 1 {
		if !got[0].some || got[0].value == nil {
			in.w.isOpen(openNothing)
		}
		return got[0].value
	}
	var sum any = map[string]any{}
	for _, c := range got {
		if _, ok := c.value.(map[string]any); !c.some || !ok || len(c.place) > 0 {
			in.w.isOpen(openScalars)
		}
		sum = merge(sum, c.value)
	}
	return sum
}

// number reads an integer, a numeral or an expression.
func (in *instance) number(v, data any) (int, error) {
	if s, ok := v.(string); ok {
		if n, err := strconv.Atoi(s); err == nil {
			return n, nil
		}
		var err error
		if v, err = in.template(s, data, nil); err != nil {
			return 0, err
		}
	}
	switch n := v.(type) {
	case int:
		return n, nil
	case float64:
		return int(n), nil
	}
	in.w.isOpen(openNeed)
	return 1, nil
}
