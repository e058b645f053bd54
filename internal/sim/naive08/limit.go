package naive08

import "time"

// timeout finds a time limit: that of the branch or holder, else of the state, else of the workflow.
func (in *instance) timeout(kind string, holders ...map[string]any) (any, bool) {
	for _, h := range append(holders, in.def) {
		if limit, ok := object(h["timeouts"])[kind]; ok {
			return limit, true
		}
	}
	return nil, false
}

// stateLimit is the time of a state with all its retries.
func (in *instance) stateLimit(st map[string]any, data any) (time.Duration, bool) {
	limit, ok := in.timeout("stateExecTimeout", st)
	if o := object(limit); o != nil {
		limit = o["total"]
	}
	if !ok {
		return 0, false
	}
	d, err := in.duration(limit, data, nil)
	if err != nil {
		in.w.isOpen(openExit)
	}
	return d, true
}

// eventLimit is the time of a wait for events; in 0.6 it has another key.
func (in *instance) eventLimit(st map[string]any, key string, data any) (time.Duration, bool, error) {
	limit, ok := in.timeout("eventTimeout", st)
	if in.w.c.Form == 6 {
		limit, ok = st[key]
	}
	if !ok {
		return 0, false, nil
	}
	d, err := in.duration(limit, data, nil)
	return d, true, err
}
