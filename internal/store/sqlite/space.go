package sqlite

import (
	"container/list"
	"math"

	"github.com/lockstep-workflows/lockstep/internal/core"
	"github.com/lockstep-workflows/lockstep/internal/store"
	"github.com/lockstep-workflows/lockstep/internal/store/codec"
)

// space is what is known about a namespace without a query: which instances have work to do, which lists are
// empty, and where the open subscriptions are. Only the writer changes it, after commits and under the database's
// lock; readers only note that a list was found empty.
type space struct {
	ns     int64
	name   string
	stored bool // it has its row

	ready list.List // of *work, in the order of their turns
	work  map[int64]*work
	byID  map[string]*work
	due   int       // how many of them are ready because of their wake time
	woken core.Time // up to when wake times were looked at

	wakes     core.Time // no sleeping instance wakes before this
	wakeExact bool      // someone is to be woken then
	purgeAt   core.Time // no event's time is up before

	emits, sends, unchecked, again, gatherings maybe

	schedules map[string]store.Schedule
	shapes    map[string][]codec.Shape // by type of events
	waits     map[string]*waits        // likewise: the open subscriptions
	keptFor   bool                     // some event is kept for an instance; only the writer asks
}

// work is an instance that has something to do.
type work struct {
	seq      int64
	id       string
	messages int
	more     bool
	due      bool
	wake     core.Time // where due
	aside    bool      // in quarantine: not now
	turn     *list.Element
}

const never = core.Time(math.MaxInt64)

func newSpace(ns int64, name string) *space {
	return &space{
		ns: ns, name: name, work: map[int64]*work{}, byID: map[string]*work{}, wakes: never, purgeAt: never,
		woken: math.MinInt64, schedules: map[string]store.Schedule{}, shapes: map[string][]codec.Shape{}, waits: map[string]*waits{},
	}
}

// maybe knows that a list is empty, or that it may not be.
type maybe struct {
	some bool
	gen  int // counts how often it was said
}

func (m *maybe) set() {
	m.some = true
	m.gen++
}

// clear notes that the list was found empty, unless something came since.
func (m *maybe) clear(gen int) {
	if m.gen == gen {
		m.some = false
	}
}

// entry finds or makes the work of an instance.
func (sp *space) entry(seq int64, id string) *work {
	w := sp.work[seq]
	if w == nil {
		w = &work{seq: seq, id: id}
		sp.work[seq], sp.byID[id] = w, w
	}
	return w
}

// file puts an instance behind those that are ready, where it is not among them yet, or
// takes it out.
func (sp *space) file(w *work) {
	some := w.messages > 0 || w.more || w.due
	ready := some && !w.aside
	switch {
	case ready && w.turn == nil:
		w.turn = sp.ready.PushBack(w)
	case !ready:
		sp.unready(w)
	}
	if !some {
		delete(sp.work, w.seq)
		if sp.byID[w.id] == w {
			delete(sp.byID, w.id)
		}
	}
}

func (sp *space) unready(w *work) {
	if w.turn != nil {
		sp.ready.Remove(w.turn)
		w.turn = nil
	}
}

func (sp *space) setDue(w *work, due bool) {
	switch {
	case due && !w.due:
		sp.due++
	case !due && w.due:
		sp.due--
	}
	w.due = due
}

// committed notes what a commit did to its instance: what it still has to do, it does
// behind the others.
func (sp *space) committed(seq int64, id string, taken int, more, aside bool, wake any) {
	w := sp.work[seq]
	if w == nil && !more {
		sp.sleeps(wake)
		return
	}
	w = sp.entry(seq, id)
	w.messages -= taken
	w.more, w.aside = more, aside
	sp.setDue(w, false)
	sp.unready(w)
	sp.file(w)
	sp.sleeps(wake)
}

// posted notes a message.
func (sp *space) posted(seq int64, id string, aside bool) {
	w := sp.entry(seq, id)
	w.messages++
	w.aside = aside
	sp.file(w)
}

// mayHaveMessages reports whether messages may be in the inbox of an instance: it may be wrong only if this
// transaction takes them.
func (t *tx) mayHaveMessages(sp *space, h *head) bool {
	t.w.db.mu.Lock()
	defer t.w.db.mu.Unlock()
	w := sp.work[h.seq]
	return t.posted[h.seq] || w != nil && w.messages > 0
}

// deleted forgets an instance.
func (sp *space) deleted(seq int64) {
	if w := sp.work[seq]; w != nil {
		w.messages, w.more = 0, false
		sp.setDue(w, false)
		sp.file(w)
	}
}

// opened notes an open subscription for events of a type.
func (sp *space) opened(typ string, w wait) {
	x := sp.waits[typ]
	if x == nil {
		x = &waits{}
		sp.waits[typ] = x
	}
	x.add(w)
}

// shut notes that a subscription is not open any more.
func (sp *space) shut(typ string, w wait) {
	x := sp.waits[typ]
	if x == nil {
		return
	}
	if x.remove(w); x.n == 0 {
		delete(sp.waits, typ)
	}
}

// sleeps notes that someone is to be woken.
func (sp *space) sleeps(wake any) {
	if at, ok := wake.(int64); ok && core.Time(at) <= sp.wakes {
		sp.wakes, sp.wakeExact = core.Time(at), true
	}
}

// wakeGone notes that an instance is not to be woken at that time any more.
func (sp *space) wakeGone(wake any) {
	if at, ok := wake.(int64); ok && core.Time(at) == sp.wakes {
		sp.wakeExact = false
	}
}

// stepBack puts woken instances back to sleep whose wake time is in the future again after the clock
// stepped back.
func (sp *space) stepBack(now core.Time) {
	if now < sp.woken && sp.due > 0 {
		for e := sp.ready.Front(); e != nil; {
			w := e.Value.(*work)
			e = e.Next()
			if w.due && w.wake > now {
				sp.setDue(w, false)
				sp.sleeps(int64(w.wake))
				sp.file(w)
			}
		}
	}
	sp.woken = now
}
