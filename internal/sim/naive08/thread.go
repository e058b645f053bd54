package naive08

import (
	"container/heap"
	"iter"
	"slices"
	"time"
)

// Threads let the interpreter be written as plain recursion: waiting is blocking. Only one runs at a
// time, in the order in which they became ready, and time moves only when none is ready. A
// cancelled thread unwinds from where it waits.

type thread struct {
	w        *world
	parent   *thread
	children []*thread
	branch   *thread // the thread that stands for its branch
	next     func() (struct{}, bool)
	stop     func()
	yield    func(struct{}) bool
	dead     bool // finished, or stopped
	parked   *box
	depth    int     // of threads above it
	ran      instant // when it, or a thread below it, last went on
	late     instant // when it, or one below it, last learned something late, see later
	// seen are the correlation attributes of events that the active state consumed
	seen map[string]any
}

type stopped struct{}

// instant is a point in time that may not have come yet.
type instant struct {
	at  time.Duration
	was bool
}

func (i instant) isNow(w *world) bool { return i.was && i.at == w.now }

// goOn lets a thread run until it waits or ends.
func (t *thread) goOn() {
	for x := t; x != nil; x = x.parent {
		x.ran = instant{t.w.now, true}
	}
	t.next()
}

// later notes that the thread learns something that a runtime learns of only after what else goes on at
// this instant: that a child began, or what it gave.
func (t *thread) later() {
	for x := t; x != nil; x = x.parent {
		x.late = instant{t.w.now, true}
	}
}

// create makes a thread that does not run yet.
func (w *world) create(parent *thread, body func(*thread)) *thread {
	t := &thread{w: w, parent: parent}
	t.branch = t
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
	if parent != nil {
		t.depth, t.seen = parent.depth+1, parent.seen
		parent.children = append(parent.children, t)
	} else {
		w.roots = append(w.roots, t)
	}
	return t
}

// spawn makes a thread that runs after everything that is ready now.
func (w *world) spawn(parent *thread, body func(*thread)) *thread {
	t := w.create(parent, body)
	w.ready = append(w.ready, t)
	return t
}

// cancel stops a thread and everything below it, newest first.
func (t *thread) cancel() {
	t.cancelChildren()
	if !t.dead {
		t.dead = true
		if !t.w.over {
			t.w.saw("a cancelled branch")
		}
		t.stop()
	}
}

func (t *thread) cancelChildren() {
	for _, c := range slices.Backward(t.children) {
		c.cancel()
	}
	t.children = nil
}

// above reports whether a thread is another one, or one that it is part of.
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

func (b *box) close() { b.closed = true }

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
// the very deadline is late, and an inner one before those around it; events from outside come last.
const (
	atDeadline = iota
	atWake
	atArrival
)

type timer struct {
	at    time.Duration
	order int
	by    *thread // who waits for it, if anybody
	seq   int
	alive func() bool
	fire  func()
}

func (x timer) depth() int {
	if x.by == nil {
		return 0
	}
	return x.by.depth
}

// tied reports whether nothing says which of two timers comes first.
func (x timer) tied(y timer) bool {
	if x.at != y.at || x.order != y.order {
		return false
	}
	related := x.by != nil && y.by != nil && (x.by.above(y.by) || y.by.above(x.by))
	return x.order != atDeadline || !related
}

type timers []timer

func (h timers) Len() int { return len(h) }

func (h timers) Less(i, j int) bool {
	a, b := h[i], h[j]
	switch {
	case a.at != b.at:
		return a.at < b.at
	case a.order != b.order:
		return a.order < b.order
	case a.order == atDeadline && a.depth() != b.depth():
		return a.depth() > b.depth()
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

// after posts a message at a later time, unless the box is closed by then.
func (b *box) after(d time.Duration, order int, m any) {
	b.t.w.push(timer{at: b.t.w.now + d, order: order, by: b.t, alive: b.alive, fire: func() { b.post(m) }})
}

func (w *world) push(x timer) {
	w.seq++
	x.seq = w.seq
	heap.Push(&w.timers, x)
}

func (t *thread) sleep(d time.Duration) {
	if d <= 0 {
		return
	}
	b := t.box()
	b.after(d, atWake, nil)
	b.receive()
}

// never is the time of what has no limit.
const never = time.Duration(1<<63 - 1)

// until runs a body that must be over before a point in time. What it was doing is
// interrupted otherwise, and late is true.
func (t *thread) until(deadline time.Duration, body func(*thread)) (late bool) {
	if deadline == never {
		body(t)
		return false
	}
	b := t.box()
	c := t.w.create(t, func(c *thread) {
		c.branch = t.branch
		body(c)
		b.tell(true)
	})
	b.after(deadline-t.w.now, atDeadline, false)
	c.goOn()
	done := b.receive().(bool)
	b.close()
	t.seen = c.seen
	c.cancel()
	t.children = slices.DeleteFunc(t.children, func(x *thread) bool { return x == c })
	return !done
}

func (w *world) dropDead() {
	for len(w.timers) > 0 && !w.timers[0].alive() {
		heap.Pop(&w.timers)
	}
}

// run runs until nothing more can happen, or the case is open.
func (w *world) run() {
	for w.out.Open == "" {
		if len(w.ready) > 0 {
			t := w.ready[0]
			w.ready = w.ready[1:]
			if !t.dead {
				t.goOn()
			}
			continue
		}
		w.dropDead()
		if len(w.timers) == 0 {
			return
		}
		e := heap.Pop(&w.timers).(timer)
		w.dropDead()
		if len(w.timers) > 0 && w.timers[0].tied(e) {
			w.isOpen(openTie)
		}
		w.now = e.at
		e.fire()
	}
}

// halt ends a thread of a case that is open.
func (w *world) halt(t *thread, why string) {
	w.isOpen(why)
	for {
		t.block()
	}
}
