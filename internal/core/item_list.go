package core

import (
	"slices"

	"github.com/lockstep-workflows/lockstep/internal/ir"
)

// ItemStatus is how an item of a foreach stands.
type ItemStatus string

// The statuses of items.
const (
	ItemPending   ItemStatus = "pending" // it has not begun, or is yet to run again
	ItemInFlight  ItemStatus = "inFlight"
	ItemDone      ItemStatus = "done"
	ItemFailed    ItemStatus = "failed"
	ItemCancelled ItemStatus = "cancelled" // because another one failed
)

// ListedItem is an item of a foreach, for people.
type ListedItem struct {
	Item
	Status  ItemStatus
	HasItem bool     // its value is known
	Fault   *Fault   // of one that failed, without data
	Tickets []Ticket // what one in flight waits for; the first few
	Attempt int      // of one in flight, the highest of a region inside of it; 0: it is not known
}

// ItemQuery selects items of a foreach.
type ItemQuery struct {
	State  string       // as in [Progress]; "": the first one
	Status []ItemStatus // nil: all
	From   int          // the lowest index
	Limit  int          // more than 0
}

// maxItemTickets bounds [ListedItem.Tickets].
const maxItemTickets = 4

// Items lists items of a foreach that the instance runs or failed in, by their index, and the index that the
// next page begins with; 0: there is none. ok is false where there is no such foreach.
func (s *State) Items(p *Program, q ItemQuery) (out []ListedItem, next int, ok bool) {
	var f *frame
	for _, c := range s.frames {
		if c.fan == nil || s.insideEach(p, c) {
			continue
		}
		if op, each := p.Nodes[c.node].Op.(*ir.Fan); each && op.Each != nil && (q.State == "" || s.owner(p, c) == q.State) {
			f = c
			break
		}
	}
	if f == nil {
		return nil, 0, false
	}
	live := map[int32]*frame{}
	for _, c := range s.frames {
		if c.parent == f.id && c.kind == kindBranch && c.slot >= 0 {
			live[c.slot] = c
		}
	}
	for slot := int32(min(q.From, int(f.fan.total))); slot < f.fan.total; slot++ {
		status := f.fan.status(slot, live[slot] != nil)
		if q.Status != nil && !slices.Contains(q.Status, status) {
			continue
		}
		if len(out) == q.Limit {
			next = int(slot)
			break
		}
		item := ListedItem{Item: Item{Index: int(slot)}, Status: status}
		if status == ItemFailed {
			item.Fault = f.fan.results[slot].fault.brief()
			if at := item.Fault.Item; at != nil && at.Index == item.Index {
				item.Value, item.Cut, item.HasItem = at.Value, at.Cut, true
			}
		}
		out = append(out, item)
	}
	s.valuesOf(p, f, out)
	s.waitsOf(live, out)
	return out, next, true
}

// status is how an item stands; live: it has a frame.
func (x *fan) status(slot int32, live bool) ItemStatus {
	switch _, bad := slices.BinarySearch(x.bad, slot); {
	case live:
		return ItemInFlight
	case bad && x.redo >= 0 && slot >= x.redo:
		return ItemPending
	case bad && x.results[slot].fault == nil:
		return ItemCancelled
	case bad:
		return ItemFailed
	case slot < x.next:
		return ItemDone
	}
	return ItemPending
}

// valuesOf adds the values of items, where the collection can still be had: the state as it is stored has
// references in the place of secrets.
func (s *State) valuesOf(p *Program, f *frame, list []ListedItem) {
	if !slices.ContainsFunc(list, func(it ListedItem) bool { return !it.HasItem }) {
		return
	}
	all := f.fan.items
	if all == nil && f.fan.carried != nil {
		all = f.fan.carried.Items()
	}
	if all == nil {
		m := machine{p: p, s: s}
		items, fault := m.items(f, p.Nodes[f.node].Op.(*ir.Fan).Each)
		if fault != nil {
			return
		}
		all = items
	}
	if len(all) != int(f.fan.total) {
		return
	}
	for i := range list {
		if it := &list[i]; !it.HasItem {
			it.Value, it.Cut = shorten(all[it.Index], MaxItemValue)
			it.HasItem = true
		}
	}
}

// waitsOf adds what items in flight wait for.
func (s *State) waitsOf(live map[int32]*frame, list []ListedItem) {
	at := map[FrameID]*ListedItem{}
	for i := range list {
		if f := live[int32(list[i].Index)]; f != nil {
			at[f.id] = &list[i]
		}
	}
	for _, f := range s.frames { // sorted: a frame comes after those around it
		it := at[f.id]
		if it == nil {
			if it = at[f.parent]; it == nil || f.kind == kindRoot {
				continue
			}
			at[f.id] = it
		}
		it.Attempt = max(it.Attempt, int(f.attempt))
		for _, w := range f.waits {
			if len(it.Tickets) < maxItemTickets {
				it.Tickets = append(it.Tickets, ticket(f.id, w.n))
			}
		}
	}
}
