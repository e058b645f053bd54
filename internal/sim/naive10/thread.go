package naive10

import (
	"container/heap"
	"iter"
	"slices"
	"time"
)

// Threads let the interpreter be written as plain recursion: waiting is blocking. Only one runs
// at a time, and time moves only when none is ready. A cancelled thread unwinds from where it waits.

type thread struct {
	w        *world
	parent   *thread
	children []*thread
	branch   *thread // the thread that stands for its branch
	late     instant // when it, or a thread below it, learned something late
	next     func() (struct{}, bool)
	stop     func()
	yield    func(struct{}) bool
	dead     bool // finished, or stopped
	parked   *box
}

type stopped struct{}

// spawn makes a thread. It runs when somebody calls begin.
func (w *world) spawn(parent *thread, body func(*thread)) *thread {
	t := &thread{w: w, parent: parent}
	t.branch = t
	next, stop := iter.Pull(func(yield func(struct{}) bool) {
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
	t.stop = stop
	t.next = func() (struct{}, bool) {
		defer func(before *thread) { w.current = before }(w.current)
		w.current = t
		return next()
	}
	if parent != nil {
		parent.children = append(parent.children, t)
	} else {
		w.roots = append(w.roots, t)
	}
	return t
}

// begin runs a new thread until it waits or ends, inside of whoever began it.
func (t *thread) begin() { t.next() }

// cancel stops a thread and everything below it, newest first.
func (t *thread) cancel() {
	t.cancelChildren()
	if !t.dead {
		t.dead = true
		t.stop()
	}
}

func (t *thread) cancelChildren() {
	for _, c := range slices.Backward(t.children) {
		c.cancel()
	}
	t.children = nil
}

// above reports whether a thread is another one or one that it is part of: then what they do comes one after the other.
func (t *thread) above(other *thread) bool {
	for ; other != nil; other = other.parent {
		if other == t {
			return true
		}
	}
	return false
}

func (t *thread) block() {
	if !t.yield(struct{}{}) {
		panic(stopped{})
	}
}

// box is where a thread waits for messages.
type box struct {
	t      *thread
	msgs   []any
	closed bool
}

func (t *thread) box() *box { return &box{t: t} }

func (b *box) alive() bool { return !b.closed && !b.t.dead }

// post leaves a message; who waits for it goes on after everything that is ready.
func (b *box) post(m any) {
	if b.put(m) {
		b.t.w.ready = append(b.t.w.ready, b.t)
	}
}

// tell is how a thread that ends tells whoever waits for it, who goes on at once.
func (b *box) tell(m any) {
	if b.put(m) {
		b.t.w.ready = slices.Insert(b.t.w.ready, 0, b.t)
	}
}

func (b *box) put(m any) (wake bool) {
	if !b.alive() {
		return false
	}
	b.msgs = append(b.msgs, m)
	if b.t.parked != b {
		return false
	}
	b.t.parked = nil
	return true
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

// The order of things at one instant: a deadline comes first, so that what comes at
// the very deadline is late; events from outside come last.
const (
	atDeadline = iota
	atWake
	atArrival
)

type timer struct {
	at    time.Duration
	order int
	seq   int
	alive func() bool
	fire  func()
}

type timers []timer

func (h timers) Len() int { return len(h) }

func (h timers) Less(i, j int) bool {
	a, b := h[i], h[j]
	if a.at != b.at {
		return a.at < b.at
	}
	if a.order != b.order {
		return a.order < b.order
	}
	return a.seq < b.seq
}

func (h timers) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *timers) Push(x any)   { *h = append(*h, x.(timer)) }

func (h *timers) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}

func (w *world) at(at time.Duration, order int, alive func() bool, fire func()) {
	w.seq++
	heap.Push(&w.timers, timer{at, order, w.seq, alive, fire})
}

// after posts a message at a later time, unless the box is closed by then.
func (b *box) after(d time.Duration, order int, m any) {
	b.t.w.at(b.t.w.now+d, order, b.alive, func() { b.post(m) })
}

func (t *thread) sleep(d time.Duration) {
	b := t.box()
	b.after(d, atWake, nil)
	b.receive()
}

// within runs a body that must be over before a time. What it was doing is interrupted
// otherwise, and late is true.
func (t *thread) within(d time.Duration, body func(*thread)) (late bool) {
	b := t.box()
	c := t.w.spawn(t, func(c *thread) {
		c.branch = t.branch
		body(c)
		b.tell(true)
	})
	b.after(d, atDeadline, false)
	c.begin()
	done := b.receive().(bool)
	b.closed = true
	c.cancel()
	t.children = slices.DeleteFunc(t.children, func(x *thread) bool { return x == c })
	return !done
}

func (w *world) dropDead() {
	for len(w.timers) > 0 && !w.timers[0].alive() {
		heap.Pop(&w.timers)
	}
}

// run runs until nothing more can happen, or it takes too long.
func (w *world) run() {
	for w.out.Open != openLong {
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
		if w.c.Until > 0 && w.timers[0].at > w.c.Until {
			return
		}
		e := heap.Pop(&w.timers).(timer)
		w.dropDead()
		if len(w.timers) > 0 && w.timers[0].at == e.at && w.timers[0].order == e.order && e.order != atArrival {
			w.isOpen(openTie)
		}
		w.now = e.at
		e.fire()
	}
}

// halt ends a thread of a case that takes too long.
func (w *world) halt(t *thread) {
	w.out.Open = openLong
	for {
		t.block()
	}
}
