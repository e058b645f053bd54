package naive10

import (
	"errors"
	"time"
)

// try runs tasks, again where an error asks for it, and others where that does not help.
func (in *instance) try(t *thread, ptr string, def map[string]any, input any, sc scope) (out any, chosen string, err error) {
	catch := object(def["catch"])
	retry, retries := in.named("retries", catch["retry"])
	began := in.w.now
	for n := 1; ; n++ {
		out, err = in.attempt(t, ptr, def, retry, input, sc)
		f := (*Error)(nil)
		if err == nil || !errors.As(err, &f) {
			return out, "", err
		}
		inside := sc.with(named(catch["as"], "error"), f.Object)
		caught, failed := in.catches(catch, f, inside, input)
		if failed != nil {
			return nil, "", failed
		}
		if !caught {
			in.w.saw("an error that is not caught")
			return nil, "", err
		}
		if retries {
			delay, again, failed := in.again(retry, n, began, inside, input)
			if failed != nil {
				return nil, "", failed
			}
			if again {
				in.w.saw("a retry")
				if delay > 0 {
					t.sleep(delay)
				} else {
					in.w.later()
				}
				continue
			}
		}
		return in.handle(t, ptr, catch, retries, f, input, inside)
	}
}

// attempt runs the tasks once, within the time that an attempt may take.
func (in *instance) attempt(t *thread, ptr string, def, retry map[string]any, input any, sc scope) (out any, err error) {
	inner := sc.without("input", "output", "task")
	limit, ok := object(object(retry["limit"])["attempt"])["duration"]
	if !ok {
		out, _, err = in.list(t, ptr+"/try", list(def["try"]), input, inner)
		return out, err
	}
	d, err := in.duration(sc, limit, input)
	if err != nil {
		return nil, err
	}
	if t.within(d, func(t *thread) { out, _, err = in.list(t, ptr+"/try", list(def["try"]), input, inner) }) {
		in.w.saw("the timeout of an attempt")
		return nil, placed(standard("timeout"), ptr)
	}
	return out, err
}

// catches reports whether an error is caught.
func (in *instance) catches(catch map[string]any, f *Error, sc scope, input any) (bool, error) {
	for key, want := range object(object(catch["errors"])["with"]) {
		has, ok := f.Object[key]
		if !ok || !equal(has, want) && !(key == "type" && sameType(text(has), text(want))) {
			return false, nil
		}
	}
	return in.agree(catch, sc, input)
}

// agree evaluates when and exceptWhen.
func (in *instance) agree(holder map[string]any, sc scope, input any) (bool, error) {
	if when, ok := holder["when"]; ok {
		if holds, err := in.truth(sc, when, input); err != nil || !holds {
			in.w.saw("a when that refuses")
			return false, err
		}
	}
	if except, ok := holder["exceptWhen"]; ok {
		if holds, err := in.truth(sc, except, input); err != nil || holds {
			in.w.saw("an exceptWhen that refuses")
			return false, err
		}
	}
	return true, nil
}

// again says whether retry n begins, and after which time.
func (in *instance) again(retry map[string]any, n int, began time.Duration, sc scope, input any) (time.Duration, bool, error) {
	limit := object(retry["limit"])
	if count, ok := object(limit["attempt"])["count"].(int); ok && n > count {
		in.w.saw("retries used up")
		return 0, false, nil
	}
	if agreed, err := in.agree(retry, sc, input); err != nil || !agreed {
		return 0, false, err
	}
	delay := time.Duration(0)
	if d, ok := retry["delay"]; ok {
		var err error
		if delay, err = in.duration(sc, d, input); err != nil {
			return 0, false, err
		}
	}
	backoff := object(retry["backoff"])
	if _, ok := backoff["linear"]; ok {
		in.w.saw("a linear backoff")
		delay *= time.Duration(n)
	}
	if _, ok := backoff["exponential"]; ok {
		in.w.saw("an exponential backoff")
		delay <<= n - 1
	}
	if jitter, ok := retry["jitter"].(map[string]any); ok {
		from, err := in.duration(sc, jitter["from"], input)
		if err != nil {
			return 0, false, err
		}
		if to, err := in.duration(sc, jitter["to"], input); err != nil || to != from {
			in.w.isOpen(openJitter)
		}
		in.w.saw("a jitter")
		delay += from
	}
	if d, ok := limit["duration"]; ok {
		most, err := in.duration(sc, d, input)
		if err != nil {
			return 0, false, err
		}
		if in.w.now+delay > began+most {
			in.w.saw("no time for another retry")
			return 0, false, nil
		}
	}
	return delay, true, nil
}

// handle does what is left when an error is caught and not retried.
func (in *instance) handle(t *thread, ptr string, catch map[string]any, retries bool, f *Error, input any, sc scope) (out any, chosen string, err error) {
	out = input
	switch do, ok := catch["do"]; {
	case ok:
		in.w.saw("an error that is handled")
		if out, _, err = in.list(t, ptr+"/catch/do", list(do), input, sc.without("input", "output", "task")); err != nil {
			return nil, "", err
		}
	case retries:
		in.w.saw("an error that goes on after retries")
		return nil, "", f
	default:
		in.w.saw("an error that is swallowed")
	}
	if then := text(catch["then"]); then != "" {
		in.w.saw("catch.then")
		chosen = then
	}
	return out, chosen, nil
}
