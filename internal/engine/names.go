package engine

import (
	"maps"
	"slices"
)

// Names are what people write when they start instances and send events. Nobody changes the lists.
type Names struct {
	Definitions []string // the ids of what is deployed, sorted
	EventTypes  []string // of the events that current definitions consume, sorted
}

// Names lists the names that this node knows, for telling what was meant by one that does not exist.
func (e *Engine) Names() Names {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.namedAt == e.aliases && e.names.Definitions != nil {
		return e.names
	}
	types, ids := map[string]bool{}, []string{}
	for key, d := range e.byID {
		if key.version != "" {
			continue
		}
		ids = append(ids, key.id)
		for _, ev := range d.prog.Events {
			if !ev.Produced && ev.Type != "" {
				types[ev.Type] = true
			}
		}
	}
	slices.Sort(ids)
	e.names, e.namedAt = Names{ids, slices.Sorted(maps.Keys(types))}, e.aliases
	return e.names
}
