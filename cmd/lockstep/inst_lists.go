package main

import (
	"iter"

	"github.com/lockstep-workflows/lockstep/client"
)

// instances are those that a filter selects; limit is how many will be looked at, 0 all.
func (r remote) instances(filter string, limit int, oldest bool) iter.Seq2[client.Instance, error] {
	return client.All(func(after string) (client.Page[client.Instance], error) {
		return r.ListInstances(r.ctx, client.InstanceQuery{Paging: pageFor(limit, after), Filter: filter, Oldest: oldest})
	})
}

// history is what happened to an instance.
func (r remote) history(id string, limit int) iter.Seq2[client.Record, error] {
	return client.All(func(after string) (client.Page[client.Record], error) {
		return r.GetHistory(r.ctx, id, pageFor(limit, after))
	})
}

// openCalls are the calls without an answer, of one instance or of all.
func (r remote) openCalls(instance string, parked bool, limit int) iter.Seq2[client.Call, error] {
	return client.All(func(after string) (client.Page[client.Call], error) {
		return r.ListCalls(r.ctx, client.CallQuery{Paging: pageFor(limit, after), Instance: instance, Parked: parked})
	})
}
