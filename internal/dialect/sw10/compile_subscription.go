package sw10

import (
	"fmt"

	"github.com/lockstep-workflows/lockstep/expr"
	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// Variables of a subscription that authors hardly name.
const (
	varSubscribed   = "lockstepInput"        // the input of the task
	varSubscription = "lockstepSubscription" // {id, since, number, after, index}
	varMessages     = "lockstepMessages"     // what was consumed
	varPart         = "lockstepPart"         // the last part of it
	varMessage      = "lockstepMessage"      // the current message
)

const (
	// maxMessages is how many messages one subscription consumes ("subscription-messages").
	maxMessages = 100_000
	// partMessages bounds the messages that are stored again with each further one: with all of them, what is
	// written would grow with the square of their number.
	partMessages = 250
)

// numbered are the arguments of a call that gets one message: in the place of what the author wrote, which is done by
// the loop, its subscription says which message that is. id and since name this run of the task, number counts
// messages from 1, and after is the id of the one before, if messages have ids.
func numbered(with expr.Value) expr.Value {
	return with.With("subscription", expr.String("${ $"+varSubscription+" | del(.index) }"))
}

// subscribed compiles a subscription (Open Workflow §AsyncAPI Subscription) as a loop of calls. The region around
// the loop has the parts that are complete, the one inside of it the last part.
//
// `for` ends the wait for a message, not what is done with it. A message for which `while` does not hold is not
// consumed; that for which `until` holds is the last one.
func (k *chain) subscribed(call *ir.Call, s *subscription, inner string, next ir.NodeID) ir.NodeID {
	pos := s.node.IRPos()
	eval := func(src string, put ir.Put, next ir.NodeID) ir.NodeID {
		return k.node(&ir.Eval{From: k.jq(src, pos), Put: put}, next)
	}
	all := fmt.Sprintf("$%s + .messages", varMessages)

	limit := k.node(&ir.Raise{Error: "StateLimit", Detail: fmt.Sprintf("the subscription consumed %d messages (limit subscription-messages)", maxMessages)}, 0)
	loop := k.node(&ir.Branch{}, 0) // where the parts begin
	part := k.part(call, s, inner, eval(all, asData, 0))
	after := eval(".state", bound(varSubscription), eval(all, asData, k.node(&ir.Eval{Put: bound(varMessages)}, loop)))
	full := k.jq(fmt.Sprintf("$%s.index >= %d", varSubscription, maxMessages), pos)
	k.Fill(loop, &ir.Branch{Cases: []ir.Case{{When: full, Next: limit}}}, k.node(&ir.Enter{Region: part}, after))

	begin := eval("[]", bound(varMessages), loop)
	begin = eval(fmt.Sprintf("{id: %s, since: $now.iso8601, number: 1, after: null, index: 0}", literal(expr.String(k.t.ref))), bound(varSubscription), begin)
	begin = k.node(&ir.Eval{Put: bound(varSubscribed)}, begin)
	return k.node(&ir.Enter{Region: k.Region(ir.Region{Name: k.place.Name, Entry: begin, Nested: true})}, next)
}

// part is the region that consumes a part of the messages. It ends with {messages, state}, or leaves to done with
// {messages} where the subscription is complete.
func (k *chain) part(call *ir.Call, s *subscription, inner string, done ir.NodeID) ir.RegionID {
	pos, state := s.node.IRPos(), "$"+varSubscription
	eval := func(src string, put ir.Put, next ir.NodeID) ir.NodeID {
		return k.node(&ir.Eval{From: k.jq(src, pos), Put: put}, next)
	}
	when := func(cond ir.ExprID, yes, no ir.NodeID) ir.NodeID {
		return k.node(&ir.Branch{Cases: []ir.Case{{When: cond, Next: yes}}}, no)
	}
	complete := k.at(k.Out(k.place, &ir.Eval{From: k.jq(fmt.Sprintf("{messages: $%s}", varPart), pos), Put: asData}, done), k.t.ref)
	full := eval(fmt.Sprintf("{messages: $%s, state: %s}", varPart, state), asData, 0)
	loop := k.node(&ir.Eval{}, 0) // where a message begins

	next := when(k.jq(fmt.Sprintf("($%s | length) >= %d", varPart, partMessages), pos), full, loop)
	if s.until != nil {
		next = eval("$"+varMessage, asData, when(k.expr(s.until), complete, next))
	}
	if s.amount > 0 {
		next = when(k.jq(fmt.Sprintf("%s.index >= %d", state, s.amount), pos), complete, next)
	}
	next = eval(state+" | .index += 1", bound(varSubscription), next)
	next = eval(fmt.Sprintf("$%s + [.]", varPart), asData, k.node(&ir.Eval{Put: bound(varPart)}, next)) // as data its size is checked
	if f := s.foreach; f != nil {
		// The item is a variable of a region of its own, where filter, while and until do not see it.
		each := k.node(&ir.Enter{Region: k.iterated(f, inner)}, 0)
		each = k.node(&ir.Eval{Put: bound(f.item)}, eval(state+".index", bound(f.at), each))
		next = k.node(&ir.Enter{Region: k.Region(ir.Region{Name: k.place.Name, Entry: each, Nested: true})}, next)
	}
	if s.while != nil {
		next = when(k.expr(s.while), next, complete)
	}
	if s.filter != nil {
		next = when(k.expr(s.filter), next, loop)
	}
	next = eval(fmt.Sprintf("(.id? // %s.after) as $after | %s | .number += 1 | .after = $after", state, state), bound(varSubscription), next)
	next = k.node(&ir.Eval{Put: bound(varMessage)}, next)
	k.Fill(loop, &ir.Eval{From: k.jq("$"+varSubscribed, pos), Put: asData}, k.received(call, s, complete, next))
	return k.Region(ir.Region{Name: k.place.Name, Entry: eval("[]", bound(varPart), loop), Nested: true})
}

// received makes the call, and goes to late where the time of the subscription is over: the call and the time compete,
// because that the time is over is no error.
func (k *chain) received(call *ir.Call, s *subscription, late, next ir.NodeID) ir.NodeID {
	if s.period == nil {
		return k.node(call, next)
	}
	pos := s.node.IRPos()
	eval := func(src string, next ir.NodeID) ir.NodeID {
		return k.node(&ir.Eval{From: k.jq(src, pos), Put: asData}, next)
	}
	span := k.span(s.period)
	span.Since = k.jq(fmt.Sprintf("$%s.since", varSubscription), pos)
	race := &ir.Fan{Join: ir.JoinFirst, Branches: []ir.FanBranch{
		k.Branch(ir.Region{Name: k.place.Name, Entry: k.node(call, eval("{message: .}", 0)), Nested: true}),
		k.Branch(ir.Region{Name: k.place.Name, Entry: k.node(&ir.Await{Timeout: span, OnTimeout: eval("null", 0)}, 0), Nested: true}),
	}}
	over := &ir.Branch{Cases: []ir.Case{{When: k.jq(". == null", pos), Next: late}}}
	return k.node(race, k.node(over, eval(".message", next)))
}
