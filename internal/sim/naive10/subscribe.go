package naive10

import (
	"maps"
	"time"
)

// subscribe consumes messages, each by a call that says which one it is for.
func (in *instance) subscribe(t *thread, ptr string, with map[string]any, input any, sc scope) (any, error) {
	in.w.saw("a subscription")
	s := object(with["subscription"])
	consume := object(s["consume"])
	rest := maps.Clone(with)
	delete(rest, "subscription")
	began := in.w.now
	left := func() (time.Duration, bool, error) {
		limit, ok := consume["for"]
		if !ok {
			return 0, false, nil
		}
		d, err := in.duration(sc, limit, input)
		return max(began+d-in.w.now, 0), true, err
	}
	outs := []any{}
	var after any
	for number := 1; ; number++ {
		v, err := in.template(sc, rest, input)
		if err != nil {
			return nil, err
		}
		args := maps.Clone(object(v))
		args["subscription"] = map[string]any{
			"id": ptr, "since": in.w.c.Start.Add(began).UTC().Format(time.RFC3339Nano), "number": number, "after": after,
		}
		d, limited, err := left()
		if err != nil {
			return nil, err
		}
		var msg any
		get := func(t *thread) { msg, err = in.made(t, "asyncapi", args, sc) }
		if !limited {
			get(t)
		} else if t.within(d, get) {
			in.w.saw("the end of the time of a subscription")
			return outs, nil
		}
		if err != nil {
			return nil, err
		}
		if m, ok := msg.(map[string]any); ok && m["id"] != nil {
			after = m["id"]
		}
		if wanted, err := in.holds(sc, s, "filter", msg); err != nil {
			return nil, err
		} else if !wanted {
			continue
		}
		if on, err := in.holds(sc, consume, "while", msg); err != nil || !on {
			return outs, err
		}
		out := msg
		if each, ok := s["foreach"].(map[string]any); ok {
			if out, err = in.iterate(t, ptr+"/with/subscription", each, msg, len(outs), sc); err != nil {
				return nil, err
			}
		}
		outs = append(outs, out)
		if _, ok := consume["until"]; ok {
			if last, err := in.holds(sc, consume, "until", msg); err != nil || last {
				return outs, err
			}
		}
		if consume["amount"] == len(outs) {
			return outs, nil
		}
	}
}

// holds asks a condition of a message; one that is not there holds.
func (in *instance) holds(sc scope, of map[string]any, key string, msg any) (bool, error) {
	cond, ok := of[key]
	if !ok {
		return true, nil
	}
	return in.truth(sc, cond, msg)
}
