package sim

import (
	"container/heap"
	"iter"
	"slices"
	"time"

	"github.com/lockstep-workflows/lockstep/expr"
)

// Threads let the interpreter be written as plain recursion: waiting is blocking. Only one runs at a
// time, in the order in which they became ready, and time moves only when none is ready. A
// cancelled thread unwinds from where it waits.

type thread struct {
	w        *world
	parent   *thread
	root     *thread // the outermost one
	children []*thread
	next     func() (struct{}, bool)
	stop     func()
	yield    func(struct{}) bool
	dead     bool // finished, or stopped
	parked   *box
	depth    int        // of instances around it
	seen     expr.Value // correlation attributes of events that the active state consumed
}

type stopped struct{}

// spawn creates a thread that runs after everything that is ready now.
func (w *world) spawn(parent *thread, body func(*thread)) *thread {
	t := &thread{w: w, parent: parent}
	t.next, t.stop = iter.Pull(func(yield func(struct{}) bool) {
		t.yield = yield
		defer func() {
			t.dead = true
			if r := recover(); r != nil {
				if _, ok := r.(stopped); !ok {
					panic(r)
				}
			}
		}()
		body(t)
	})
	t.root = t
	if parent != nil {
		t.root = parent.root
		t.depth, t.seen = parent.depth, parent.seen
		parent.children = append(parent.children, t)
	} else {
		w.roots = append(w.roots, t)
	}
	w.ready = append(w.ready, t)
	return t
}

// cancel stops a thread and everything below it, newest first.
func (t *thread) cancel() {
	for i := len(t.children) - 1; i >= 0; i-- {
		t.children[i].cancel()
	}
	t.children = nil
	if !t.dead {
		t.dead = true
		if !t.w.over {
			t.w.saw("a cancelled branch")
		}
		t.stop()
	}
}

// cancelChildren stops everything below a thread, but not the thread itself.
func (t *thread) cancelChildren() {
	for i := len(t.children) - 1; i >= 0; i-- {
		t.children[i].cancel()
	}
	t.children = nil
}

// busy reports whether something below a thread could go on at this instant.
func (t *thread) busy() bool {
	return slices.ContainsFunc(t.children, func(c *thread) bool { return !c.dead && c.parked == nil || c.busy() })
}

func (t *thread) block() {
	if !t.yield(struct{}{}) {
		panic(stopped{})
	}
}

// turn lets everything else that is ready go first.
func (t *thread) turn() {
	t.w.ready = append(t.w.ready, t)
	t.block()
}

// box is where a thread waits for messages.
type box struct {
	t      *thread
	msgs   []any
	closed bool
}

func (t *thread) box() *box { return &box{t: t} }

func (b *box) alive() bool { return !b.closed && !b.t.dead }

func (b *box) post(m any) {
	if !b.alive() {
		return
	}
	b.msgs = append(b.msgs, m)
	if b.t.parked == b {
		b.t.parked = nil
		b.t.w.ready = append(b.t.w.ready, b.t)
	}
}

func (b *box) receive() any {
	for len(b.msgs) == 0 {
		b.t.parked = b
		b.t.block()
	}
	m := b.msgs[0]
	b.msgs = b.msgs[1:]
	return m
}

// after posts a message at a later time, unless the box is closed by then.
func (b *box) after(d time.Duration, m any) {
	w := b.t.w
	w.at(w.now+d, b.alive, func() { b.post(m) })
}

func (t *thread) sleep(d time.Duration) {
	b := t.box()
	b.after(d, nil)
	b.receive()
}

type timer struct {
	at    time.Duration
	seq   int
	alive func() bool
	fire  func()
}

type timers []timer

func (h timers) Len() int { return len(h) }
func (h timers) Less(i, j int) bool {
	return h[i].at < h[j].at || h[i].at == h[j].at && h[i].seq < h[j].seq
}
func (h timers) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *timers) Push(x any)   { *h = append(*h, x.(timer)) }
func (h *timers) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

func (w *world) at(at time.Duration, alive func() bool, fire func()) {
	w.seq++
	heap.Push(&w.timers, timer{at, w.seq, alive, fire})
}

// dropDead removes timers from the front that are no longer waited for.
func (w *world) dropDead() {
	for len(w.timers) > 0 && !w.timers[0].alive() {
		heap.Pop(&w.timers)
	}
}

// run runs until nothing more can happen, or the specification does not decide the case.
func (w *world) run() {
	for w.open == "" {
		if len(w.ready) > 0 {
			t := w.ready[0]
			w.ready = w.ready[1:]
			if !t.dead {
				t.next()
			}
			continue
		}
		w.dropDead()
		if len(w.timers) == 0 {
			return
		}
		e := heap.Pop(&w.timers).(timer)
		w.dropDead()
		if len(w.timers) > 0 && w.timers[0].at == e.at {
			w.isOpen(openTie)
		}
		w.now = e.at
		e.fire()
	}
}
