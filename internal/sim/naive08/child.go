package naive08

import "errors"

// callWorkflow runs a sub-workflow, and waits for it unless told otherwise.
func (fr *frame) callWorkflow(t *thread, ref, input any) (any, bool, error) {
	in := fr.in
	o := object(ref)
	if o == nil {
		o = map[string]any{"workflowId": ref}
	}
	id, version := text(o["workflowId"]), text(o["version"])
	if o["invoke"] == "async" {
		in.w.saw("an asynchronous child")
		if def := in.w.definition(id, version); def != nil {
			in.detach(def, input, o["onParentComplete"] != "continue")
		}
		return nil, false, nil
	}
	out, err := in.child(t, id, version, input)
	return out, err == nil, err
}

// detach starts a workflow that nobody waits for.
func (in *instance) detach(def map[string]any, input any, ends bool) {
	in.w.saw("a child that nobody waits for")
	in.w.needObject(input)
	child := in.w.spawn(nil, func(c *thread) {
		run := in.w.newInstance(def, nil)
		_, err := run.run(c, input)
		if next := (*continued)(nil); errors.As(err, &next) {
			if ends { // does what it continues as end with its parent too?
				in.w.isOpen(openContinued)
			}
			other := in.w.newInstance(next.def, nil)
			other.limit = next.limit
			in.w.needObject(next.data)
			in.w.begin(other, next.data)
		}
	})
	if ends {
		in.below = append(in.below, below{child, in.w.now})
	}
}

// child runs an awaited workflow, and those that it continues as: to whoever waits they are one.
func (in *instance) child(t *thread, id, version string, input any) (any, error) {
	def := in.w.definition(id, version)
	in.begins(t)
	if def == nil {
		in.w.saw("a workflow that is not there")
		return nil, &Fault{Name: "WorkflowNotFound"}
	}
	in.w.saw("a child")
	run := in.w.newInstance(def, nil)
	run.awaited = true
	in.w.needObject(input)
	out, err := run.run(t, input)
	t.later()
	if f := (*Fault)(nil); errors.As(err, &f) {
		in.w.saw("a child that fails")
		again := *f
		again.instance = ""
		return nil, &again
	}
	if errors.As(err, new(terminated)) {
		if in.w.c.Form > 6 {
			return out, nil
		}
		in.w.saw("a terminate of a child")
	}
	return out, err
}

func (w *world) needObject(input any) {
	if _, ok := input.(map[string]any); !ok {
		w.isOpen(openInput)
	}
}

// begins lets everything else go on before a child begins: one that is cancelled at once need not have begun.
func (in *instance) begins(t *thread) {
	begun := false
	defer func() {
		if !begun && !in.w.over {
			in.w.isOpen(openTie)
		}
	}()
	t.turn()
	t.later()
	begun = true
}
